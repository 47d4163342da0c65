#if AsyncHTTPClient

import NIOCore

@testable import URLConfig

/// A server with TLS that closes each connection after 100 kB.
struct TLSCutter: TestServer {
    let host: String
    let session = URLSession(configuration: .ofTests)

    static func serving(_ body: (TLSCutter, Locked<Int>) async throws -> Void) async throws {
        let count = Locked(0)
        try await TLSListener.serving(
            ["http/1.1"], handler: { Cutter(count) }, { host in try await body(TLSCutter(host: host), count) })
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
