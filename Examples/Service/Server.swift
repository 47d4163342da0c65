#if AsyncHTTPClient

import Foundation
import Hummingbird
import Logging
import NIOCore

/// A router on a port of this machine.
struct Server<Context: RequestContext> where Context.Source == ApplicationRequestContextSource {
    private let router: Router<Context>
    private let port: Int
    private let logger: Logger

    /// - Parameter port: 0 for a free one.
    init(_ router: Router<Context>, port: Int = 0, logger: Logger) {
        (self.router, self.port, self.logger) = (router, port, logger)
    }

    /// Serves until SIGINT or SIGTERM, and lets the requests end that are under way.
    func runUntilInterrupted() async throws {
        try await application { print("The service is listening on \($0).") }.runService()
    }

    /// Serves while `body` runs.
    func run<Result: Sendable>(_ body: (_ host: String) async throws -> Result) async throws -> Result {
        let (hosts, continuation) = AsyncStream.makeStream(of: String.self)
        let application = application { continuation.yield($0) }
        // The end of this function cancels the server, which closes its port.
        async let running: Void = {
            defer { continuation.finish() }
            try await application.run()
        }()
        guard let host = await hosts.first(where: { _ in true }) else {
            try await running
            throw CancellationError()
        }
        return try await body(host)
    }

    private func application(
        onRunning: @escaping @Sendable (_ host: String) -> Void
    ) -> some ApplicationProtocol {
        Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { onRunning("http://127.0.0.1:\($0.localAddress?.port ?? 0)") }, logger: logger)
    }
}

#endif
