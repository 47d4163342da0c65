@testable import URLConfig

/// A server on a free loopback port with the behavior of a ``Fault``, and a session for it.
///
/// It uses raw TCP, so that it can send what no HTTP library would. Each connection has a thread. All threads have
/// ended when `serving` ends.
struct FaultServer: TestServer {
    /// The behavior for a connection, which is closed afterwards.
    struct Fault: Sendable {
        let run: @Sendable (Connection) throws -> Void

        init(_ run: @escaping @Sendable (Connection) throws -> Void) {
            self.run = run
        }

        /// Reads a request first.
        static func reading(_ run: @escaping @Sendable (Connection) throws -> Void) -> Self {
            Self { connection in
                try connection.read()
                try run(connection)
            }
        }
    }

    private struct State: Sendable {
        var accepted = 0
        var requests: [Request] = []
        var open: [Int: TCPSocket] = [:]
        var threads = 0
        var isStopping = false
        var failure: (any Error)?
        var ended: CheckedContinuation<Void, Never>?
    }

    let port: UInt16
    let isIPv6: Bool
    let session: URLSession
    private let state = Locked(State())

    var host: String { "http://\(isIPv6 ? "[::1]" : "127.0.0.1"):\(port)" }

    /// The number of connections that were accepted.
    var connections: Int { state.withLock { $0.accepted } }

    /// The requests that were read.
    var requests: [Request] { state.withLock { $0.requests } }

    /// Serves every connection with `fault` while `body` runs.
    ///
    /// - Parameter isIPv6: Whether it listens on ::1, which a machine may be without.
    /// - Throws: The errors of `body`, or else of a fault, except for the end of its connection.
    static func serving(
        _ fault: Fault, isIPv6: Bool = false, _ body: (FaultServer) async throws -> Void
    ) async throws {
        TransportOfTests.use
        let listener = try TCPSocket(isIPv6: isIPv6)
        // Created before it is needed, so that the end cannot fail because descriptors are missing.
        let stopper = try TCPSocket(isIPv6: isIPv6)
        let server = FaultServer(
            port: try listener.open(), isIPv6: isIPv6, session: URLSession(configuration: .ofTests))
        defer { server.session.finishTasksAndInvalidate() }
        server.detach { server.accept(from: listener, fault) }
        do {
            try await body(server)
        } catch {
            await server.stop(stopper)
            throw error
        }
        await server.stop(stopper)
        if let failure = server.state.withLock({ $0.failure }) { throw failure }
    }

    private func accept(from listener: TCPSocket, _ fault: Fault) {
        defer { listener.end() }
        while let socket = try? listener.accepted() {
            let index: Int? = state.withLock { state in
                guard !state.isStopping else { return nil }
                defer { state.accepted += 1 }
                state.open[state.accepted] = socket
                return state.accepted
            }
            guard let index else { return }
            detach { serve(socket, index, fault) }
        }
    }

    private func serve(_ socket: TCPSocket, _ index: Int, _ fault: Fault) {
        let connection = Connection(socket, index: index) { request in
            state.withLock { $0.requests.append(request) }
        }
        do {
            try fault.run(connection)
        } catch {
            if !(error is TCPSocket.Failure) { state.set(\.failure, error) }
        }
        socket.end()
        state.set(\.open[index], nil)
    }

    /// Runs `work` on a thread, which `serving` waits for at its end.
    private func detach(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.threads += 1 }
        Thread.detachNewThread {
            work()
            let ended = state.withLock { state in
                state.threads -= 1
                return state.threads == 0 ? state.ended : nil
            }
            ended?.resume()
        }
    }

    private func stop(_ stopper: TCPSocket) async {
        let open = state.withLock { state in
            state.isStopping = true
            return state.open
        }
        for socket in open.values { socket.shutDown() }
        // The only portable way to end another thread's `accept` is to give it a connection.
        try? stopper.reach(port)
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.threads > 0 { state.ended = continuation }
                return state.threads == 0
            }
            if isOver { continuation.resume() }
        }
    }
}
