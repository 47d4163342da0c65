import FlyingFox
import FlyingSocks
import URLConfig

/// A real HTTP server on a free loopback port and its session, one for each test.
struct Loopback: TestServer {
    typealias Request = FlyingFox.HTTPRequest
    typealias Response = FlyingFox.HTTPResponse

    /// Stops the server when nothing uses it anymore.
    private final class Lifetime: Sendable {
        let running: Task<Void, any Error>
        let session: URLSession

        init(_ running: Task<Void, any Error>, _ session: URLSession) {
            (self.running, self.session) = (running, session)
        }

        deinit {
            running.cancel()
            session.finishTasksAndInvalidate()
        }
    }

    let host: String
    let session: URLSession
    private let seen = Recorder<Request>()
    private let lifetime: Lifetime

    /// The requests that arrived, without their bodies.
    var requests: [Request] { seen.entries }

    /// Serves requests with `handler` as long as this value is kept, for example by a suite.
    init(_ handler: @escaping @Sendable (Request) async throws -> Response) async throws {
        TransportOfTests.use
        // All tests begin together, so everything can be slow on a busy machine.
        let server = try HTTPServer(
            address: .inet(ip4: "127.0.0.1", port: 0), timeout: 300, pool: PromptPool(), logger: .disabled,
            handler: ClosureHTTPHandler { [seen] request in
                var head = request
                head.setBodyData(Data())
                seen.note(head)
                return try await handler(request)
            })
        session = URLSession(configuration: .ofTests)
        lifetime = Lifetime(Task { try await server.run() }, session)
        try await server.waitUntilListening(timeout: 300)
        guard case .ip4(_, let port) = await server.listeningAddress else { throw SocketError.unsupportedAddress }
        host = "http://127.0.0.1:\(port)"
    }

    /// Serves requests with `handler` while `body` runs.
    @discardableResult
    static func serving<Value>(
        _ handler: @escaping @Sendable (Request) async throws -> Response,
        _ body: (Loopback) async throws -> Value
    ) async throws -> Value {
        let server = try await Loopback(handler)
        defer { withExtendedLifetime(server) {} }
        return try await body(server)
    }

    /// Responds in the same way to all requests while `body` runs.
    @discardableResult
    static func serving<Value>(
        _ response: Response, _ body: (Loopback) async throws -> Value
    ) async throws -> Value {
        try await serving({ _ in response }, body)
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

    /// A response with these fields besides its own.
    func with(_ fields: [String: String]) -> Self {
        var response = self
        for (name, value) in fields { response.headers[HTTPHeader(name)] = value }
        return response
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
