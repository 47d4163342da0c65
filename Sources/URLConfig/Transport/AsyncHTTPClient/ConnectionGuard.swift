#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Stands between AsyncHTTPClient and a connection, or a stream of HTTP/2.
///
/// - It tells the request that it is sent, how much of its body was written, and whether its response is cut.
/// - It tells the request on a reused connection when the connection is lost before a response.
/// - It tells a write that failed from a request that was never sent, whose error is `ioOnClosedChannel`.
/// - It closes a connection on which bytes arrive after a response, because nobody asked for them (RFC 9112 §9.2).
/// - It refuses a status below 100, with whose body AsyncHTTPClient crashes.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Longer parts of a body are written in pieces, because each that was sent is a sign of life.
    private static let maximumAtOnce = 1 << 16

    private let isStream: Bool
    private var requests = 0
    private var delivery: Delivery?
    private var isWaiting = false
    /// Whether no response is awaited.
    private var isIdle = false
    /// Whether the response has begun and is not complete.
    private var isReceiving = false
    /// The end of the response, until everything that was read with it is known.
    private var end: NIOAny?
    /// Whether nothing more is received.
    private var isOver = false

    private init(isStream: Bool) {
        self.isStream = isStream
    }

    /// Adds a guard to a new connection after the handler that decodes HTTP.
    static func add<Decoder: ChannelHandler & SendableMetatype>(
        after _: Decoder.Type
    ) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
        { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let context = try pipeline.context(handlerType: Decoder.self)
                let isStream = Decoder.self == HTTP2FramePayloadToHTTP1ClientCodec.self
                try pipeline.addHandler(ConnectionGuard(isStream: isStream), position: .after(context.handler))
            }
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            requests += 1
            (isWaiting, isIdle) = (true, false)
            delivery = head.headers.first(name: Delivery.field).flatMap { Delivery.announced($0) }
            delivery?.begin()
            head.headers.remove(name: Delivery.field)
            write(.head(head), context, promise)
        case .body(.byteBuffer(var rest)):
            while rest.readableBytes > Self.maximumAtOnce, let piece = rest.readSlice(length: Self.maximumAtOnce) {
                write(.body(.byteBuffer(piece)), context, nil)
            }
            write(.body(.byteBuffer(rest)), context, promise)
        case let part: write(part, context, promise)
        }
    }

    private func write(_ part: OutboundOut, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        var count: Int?
        if case .body(let bytes) = part { count = bytes.readableBytes }
        guard promise != nil || count != nil else { return context.write(wrapOutboundOut(part), promise: nil) }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [delivery] result in
            // After a failure, too: the bytes are not in memory anymore, and the upload may wait for that.
            if let count { delivery?.move(written: count) }
            // A write may fail before an error is caught, and then AsyncHTTPClient fails the request with its error.
            promise?.completeWith(result.mapError(self.asLost))
        }
        context.write(wrapOutboundOut(part), promise: written)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        isWaiting = false
        switch unwrapInboundIn(data) {
        case .head(let head) where head.status.code < 100:
            isOver = true
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            return context.close(promise: nil)
        case .head(let head): isReceiving = head.status.code >= 200 || head.status == .switchingProtocols
        case .body: break
        case .end:
            (isReceiving, isIdle) = (false, true)
            if !isStream {
                end = data
                return
            }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A part of a head is a sign of life, too.
        if isWaiting { delivery?.move() }
        // A part of a head was read, which would be taken for the beginning of the next response.
        let isStray = !isStream && isIdle && end == nil && !isOver
        if let end = end.take() { context.fireChannelRead(end) }
        context.fireChannelReadComplete()
        if isStray {
            isOver = true
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isOver else { return }
        guard !finish(context, because: error) else { return context.close(promise: nil) }
        context.fireErrorCaught(asLost(error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isOver, !finish(context, because: HTTPClientError.remoteConnectionClosed), isWaiting, requests > 1 {
            context.fireErrorCaught(Transport.LostConnection())
        }
        context.fireChannelInactive()
    }

    /// Ends a response, complete or not, on a connection that is not used again.
    ///
    /// - Returns: `false` if there is no such response.
    private func finish(_ context: ChannelHandlerContext, because error: any Error) -> Bool {
        if isReceiving, let delivery {
            delivery.fail(error)
            end = wrapInboundOut(.end(nil))
        }
        guard let end = end.take() else { return false }
        (isOver, isReceiving) = (true, false)
        // In this order, AsyncHTTPClient passes on all bytes that it has, and does not use the connection again.
        context.fireChannelReadComplete()
        context.fireChannelRead(end)
        return true
    }

    private func asLost(_ error: any Error) -> any Error {
        guard error is IOError || error is ChannelError else { return error }
        if isWaiting, requests > 1 { return Transport.LostConnection(underlyingError: error) }
        return error is ChannelError ? HTTPClientError.remoteConnectionClosed : error
    }
}

#endif
