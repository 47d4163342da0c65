#if AsyncHTTPClient && Telemetry && os(Linux)

import Foundation
import Hummingbird
import Logging
import NIOCore

/// A router on a free port of this machine.
struct Server<Context: RequestContext> where Context.Source == ApplicationRequestContextSource {
    private let router: Router<Context>
    private let logger: Logger

    init(_ router: Router<Context>, logger: Logger) {
        (self.router, self.logger) = (router, logger)
    }

    /// Serves while `body` runs.
    func run<Result: Sendable>(_ body: (_ host: String) async throws -> Result) async throws -> Result {
        let (hosts, continuation) = AsyncStream.makeStream(of: String.self)
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield("http://127.0.0.1:\($0.localAddress?.port ?? 0)") }, logger: logger)
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
}

#endif
