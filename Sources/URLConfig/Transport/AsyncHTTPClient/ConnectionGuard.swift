#if AsyncHTTPClient

import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Stands between AsyncHTTPClient and a connection, or a stream of HTTP/2.
///
/// - It tells the request on a reused connection when the connection is lost before a response.
/// - It refuses a status below 100, with whose body AsyncHTTPClient crashes.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private var requests = 0
    private var isWaiting = false
    private var isRefused = false

    /// Adds a guard to a new connection after the handler that decodes HTTP.
    static func add<Decoder: ChannelHandler & SendableMetatype>(
        after _: Decoder.Type
    ) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
        { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let context = try pipeline.context(handlerType: Decoder.self)
                try pipeline.addHandler(ConnectionGuard(), position: .after(context.handler))
            }
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head = unwrapOutboundIn(data) {
            requests += 1
            isWaiting = true
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isWaiting = false
        if case .head(let head) = unwrapInboundIn(data), head.status.code < 100 {
            isRefused = true
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            context.close(promise: nil)
        }
        if !isRefused { context.fireChannelRead(data) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isLost = isWaiting && requests > 1 && error is IOError
        context.fireErrorCaught(isLost ? Transport.LostConnection(underlyingError: error) : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isWaiting, requests > 1 { context.fireErrorCaught(Transport.LostConnection()) }
        context.fireChannelInactive()
    }
}

#endif
