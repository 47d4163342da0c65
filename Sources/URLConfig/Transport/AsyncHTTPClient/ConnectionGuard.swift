#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Stands between AsyncHTTPClient and a connection, or a stream of HTTP/2.
///
/// - It tells the request on a reused connection when the connection is lost before a response.
/// - It tells a write that failed from a request that was never sent, whose error is `ioOnClosedChannel`.
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
        guard let promise else { return context.write(data, promise: nil) }
        // A write may fail before an error is caught, and then AsyncHTTPClient fails the request with its error.
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { promise.completeWith($0.mapError(self.asLost)) }
        context.write(data, promise: written)
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
        context.fireErrorCaught(asLost(error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isWaiting, requests > 1 { context.fireErrorCaught(Transport.LostConnection()) }
        context.fireChannelInactive()
    }

    private func asLost(_ error: any Error) -> any Error {
        guard error is IOError || error is ChannelError else { return error }
        if isWaiting, requests > 1 { return Transport.LostConnection(underlyingError: error) }
        return error is ChannelError ? HTTPClientError.remoteConnectionClosed : error
    }
}

#endif
