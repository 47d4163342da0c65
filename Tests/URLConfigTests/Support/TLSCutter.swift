#if AsyncHTTPClient

import Foundation
import NIOCore
import NIOPosix
import NIOSSL

@testable import URLConfig

/// A server with TLS that closes each connection after 100 kB.
struct TLSCutter: TestServer {
    let host: String
    let session = URLSession(configuration: .ofTests)

    static func serving(_ body: (TLSCutter, Locked<Int>) async throws -> Void) async throws {
        let context = try NIOSSLContext(configuration: try TestCertificate.localhost.forServer(["http/1.1"]))
        let count = Locked(0)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Cutter(count))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(TLSCutter(host: "https://127.0.0.1:\(listener.localAddress?.port ?? 0)"), count)
        } catch {
            try await listener.close()
            throw error
        }
        try await listener.close()
    }

    private final class Cutter: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let count: Locked<Int>
        private var read = 0

        init(_ count: Locked<Int>) { self.count = count }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if read == 0 { count.withLock { $0 += 1 } }
            read += unwrapInboundIn(data).readableBytes
            if read > 100_000 { context.channel.close(mode: .all, promise: nil) }
        }
    }
}

#endif
