import FlyingFox
import FlyingSocks
import URLConfig

/// A real HTTP server on a free loopback port and its session, one for each test.
struct Loopback: TestServer {
    typealias Request = FlyingFox.HTTPRequest
    typealias Response = FlyingFox.HTTPResponse

    let host: String
    let session: URLSession

    /// Serves requests with `handler` while `body` runs.
    static func serving(
        _ handler: @escaping @Sendable (Request) async throws -> Response,
        _ body: (Loopback) async throws -> Void
    ) async throws {
        TransportOfTests.use
        // All tests begin together, so everything can be slow on a busy machine.
        let server = try HTTPServer(
            address: .inet(ip4: "127.0.0.1", port: 0), timeout: 300, pool: PromptPool(), logger: .disabled,
            handler: ClosureHTTPHandler(handler))
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await server.waitUntilListening(timeout: 300)
        guard case .ip4(_, let port) = await server.listeningAddress else { throw SocketError.unsupportedAddress }
        let session = URLSession(configuration: .ofTests)
        defer { session.finishTasksAndInvalidate() }
        try await body(Loopback(host: "http://127.0.0.1:\(port)", session: session))
    }
}

/// Waits for the sockets of all servers, and sends a body immediately, without waiting 40 ms until the client has
/// acknowledged the head.
///
/// All servers share one thread: each of them would otherwise block one of the 255 threads of Dispatch, and with so
/// many servers Foundation has none left.
private struct PromptPool: AsyncSocketPool {
    private static let shared = Task<any AsyncSocketPool, any Error> {
        let pool = HTTPServer.defaultPool()
        try await pool.prepare()
        Task.detached { try await pool.run() }
        return pool
    }

    func prepare() async throws { _ = try await Self.shared.value }

    /// Returns when the server is stopped.
    func run() async throws { try await Task.sleep(for: .seconds(1_000_000)) }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try socket.setValue(true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await Self.shared.value.suspendSocket(socket, untilReadyFor: events)
    }
}

extension FlyingFox.HTTPResponse {
    static func json(_ text: String, status: HTTPStatusCode = .ok) -> Self {
        Self(statusCode: status, headers: HTTPHeaders([.contentType: "application/json"]), body: Data(text.utf8))
    }

    static func status(_ status: HTTPStatusCode, _ text: String = "") -> Self {
        Self(statusCode: status, headers: HTTPHeaders([.contentType: "text/plain"]), body: Data(text.utf8))
    }

    static func redirect(_ status: HTTPStatusCode = .found, to location: String) -> Self {
        Self(statusCode: status, headers: HTTPHeaders([.location: location]))
    }

    /// A 401 that asks for credentials.
    static func challenge(_ challenge: String = "Basic realm=\"r\"", text: String = "") -> Self {
        Self(
            statusCode: .unauthorized, headers: HTTPHeaders([.init("WWW-Authenticate"): challenge]),
            body: Data(text.utf8))
    }
}

/// Counts and records what happens in closures that run anywhere.
actor Journal {
    private(set) var entries: [String] = []

    func note(_ entry: String) {
        entries.append(entry)
    }
}
