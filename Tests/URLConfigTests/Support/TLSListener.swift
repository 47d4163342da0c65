#if AsyncHTTPClient

import NIOCore
import NIOPosix
import NIOSSL

/// Accepts connections with TLS on a free loopback port.
enum TLSListener {
    /// Gives each connection a handler while `body` runs.
    static func serving(
        _ protocols: [String], _ configure: (inout TLSConfiguration) throws -> Void = { _ in },
        handler: @escaping @Sendable () -> any ChannelHandler, _ body: (_ host: String) async throws -> Void
    ) async throws {
        var configuration = try TestCertificate.localhost.forServer(protocols)
        try configure(&configuration)
        let context = try NIOSSLContext(configuration: configuration)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(handler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body("https://127.0.0.1:\(listener.localAddress?.port ?? 0)")
        } catch {
            try await listener.close()
            throw error
        }
        try await listener.close()
    }
}

#endif
