#if AsyncHTTPClient

import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// Refuses a `:status` for which swift-nio or AsyncHTTPClient crashes: a negative one, and 101 (RFC 9113 §8.6).
final class StatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private var isRefused = false

    /// Adds a guard to a new stream.
    static func add(to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let codec = try pipeline.context(handlerType: HTTP2FramePayloadToHTTP1ClientCodec.self)
        try pipeline.addHandler(StatusGuard(), position: .before(codec.handler))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .headers(let headers) = unwrapInboundIn(data), !isRefused,
            let status = headers.headers.first(name: ":status"),
            status.utf8.count != 3 || !status.utf8.allSatisfy(\.isDigit) || status == "101"
        {
            isRefused = true
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            context.close(promise: nil)
        }
        if !isRefused { context.fireChannelRead(data) }
    }
}

#endif
