#if AsyncHTTPClient

import NIOCore
import NIOFoundationCompat
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// Stands between AsyncHTTPClient and a connection, or a stream of HTTP/2, and passes the response to its ``Delivery``.
///
/// - AsyncHTTPClient sees only the beginning and the end of a response. It would change the thread for each part, drop
///   bytes that were not read when the connection breaks, follow redirects, and decompress without a limit of memory.
/// - Only it knows whether a request was sent, on which connection, and how much of its body.
/// - It closes a connection on which bytes arrive after a response, because nobody asked for them (RFC 9112 §9.2);
///   ``LastByteGuard`` sees bytes that the decoder would keep.
/// - It refuses a status for which AsyncHTTPClient or SwiftNIO crashes.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let isStream: Bool
    private var requests = 0
    /// The request whose response is not complete.
    private var delivery: Delivery?
    /// Whether the head of the response has arrived.
    private var isReceiving = false
    /// The part of the body that was read in this turn of the event loop.
    ///
    /// The reader of a stream is another thread, and waking it costs more than a part of a body.
    private var parts = Data()
    /// The end of the response, until everything that was read with it is known.
    private var end: NIOAny?
    /// Whether nothing more is sent or received.
    private var isOver = false
    /// Whether the connection has failed or is being closed: then its end is not the end of a body without a length.
    private var isBroken = false
    /// Whether a head was passed on, and whether a request was written completely.
    private var (isOpened, isSent) = (false, false)
    /// Whether the status is 300 or more: then AsyncHTTPClient forgets a body that it still sends.
    private var isRefused = false

    private init(isStream: Bool) {
        self.isStream = isStream
    }

    /// Adds a guard to a new connection.
    @Sendable static func add(toConnection channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self).handler
            let connection = ConnectionGuard(isStream: false)
            try pipeline.addHandler(connection, position: .after(decoder))
            try pipeline.addHandler(LastByteGuard(connection), position: .before(decoder))
        }
    }

    /// Adds guards to a new stream of HTTP/2.
    @Sendable static func add(toStream channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.context(handlerType: HTTP2FramePayloadToHTTP1ClientCodec.self).handler
            try pipeline.addHandler(ConnectionGuard(isStream: true), position: .after(codec))
            try pipeline.addHandler(StatusGuard(), position: .before(codec))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isOver else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            // AsyncHTTPClient is not told of a head that was not written, and would read the body of the request.
            if case .head = unwrapOutboundIn(data) { context.fireErrorCaught(ChannelError.ioOnClosedChannel) }
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            requests += 1
            (isReceiving, isSent, isRefused) = (false, false, false)
            delivery = Delivery.begin(head.headers.first(name: Delivery.field), isReused: requests > 1)
            // Its call has given it up.
            guard delivery != nil else { return close(context) }
            head.headers.remove(name: Delivery.field)
            // RFC 9113 §8.2.2. SwiftNIO would refuse the head, and count its stream for ever.
            if isStream, head.headers["TE"].contains(where: { $0 != "trailers" }) { head.headers.remove(name: "TE") }
            if isStream, let error = HeadLimit.refusal(of: head, on: context.channel) {
                // Nothing was sent, so the connection and its other streams stay.
                delivery.take()?.end(.failure(error))
                return close(context)
            }
            isOpened = true
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let bytes):
            let (count, written) = (bytes.readableBytes, promise ?? context.eventLoop.makePromise())
            // Even after a failure: the bytes are not in memory anymore, and the upload may wait for that.
            written.futureResult.whenComplete { [delivery] _ in delivery?.didWrite(count) }
            context.write(data, promise: written)
        case .end:
            if isStream, let promise {
                // The body may wait for the server's window, and the response may end before.
                promise.futureResult.assumeIsolated().whenSuccess { [self] in isSent = true }
            } else {
                isSent = true
            }
            context.write(data, promise: promise)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if end == nil { isBroken = true }
        context.close(mode: mode, promise: promise)
    }

    func read(context: ChannelHandlerContext) {
        let (handler, eventLoop) = (context.loopBound, context.eventLoop)
        let waits = isReceiving && delivery?.waits { eventLoop.execute { handler.value.read() } } == true
        if !waits { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        // AsyncHTTPClient crashes if it receives what it does not wait for.
        guard let delivery, end == nil else { return close(context) }
        switch unwrapInboundIn(data) {
        case .head(let head) where !(100...999 ~= head.status.code):
            context.fireErrorCaught(HTTPParserError.invalidStatus)
            close(context)
        case .head(let head) where head.status.code >= 200 || head.status == .switchingProtocols:
            (isReceiving, isRefused) = (true, head.status.code >= 300)
            delivery.receive(head)
            // A client of the caller may decompress the body and follow redirects.
            if delivery.client.isOwn, head.status != .switchingProtocols { return context.fireChannelRead(data) }
            let connection = head.isKeepAlive ? "keep-alive" : "close"
            let begin = HTTPResponseHead(
                version: head.version, status: head.status, headers: ["connection": connection])
            context.fireChannelRead(wrapInboundOut(.head(begin)))
        case .head: context.fireChannelRead(data)
        case .body(let bytes) where isReceiving:
            if parts.isEmpty { parts = Data(buffer: bytes) } else { parts.append(contentsOf: bytes.readableBytesView) }
            // A client of the caller may have a time limit for silence.
            if !delivery.client.isOwn { context.fireChannelRead(wrapInboundOut(.body(ByteBuffer()))) }
        case .body: close(context)
        case .end where isStream: finish(context, data)
        case .end: end = data
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passParts()
        // A part of a head was read, which would be taken for the beginning of the next response.
        let isStray = !isStream && requests > 0 && delivery == nil && !isOver
        if let end = end.take() { finish(context, end) } else { delivery?.body.touch() }
        context.fireChannelReadComplete()
        if isStray { close(context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        passParts()
        // A response that was complete stays so, whatever follows it.
        if end.take() != nil { delivery.take()?.end() } else { isBroken = true }
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        passParts()
        if let end = end.take() { finish(context, end) }
        giveBack(context)
        context.fireChannelInactive()
    }

    private func passParts() {
        guard !parts.isEmpty else { return }
        delivery?.body.receive(parts)
        parts = Data()
    }

    private func finish(_ context: ChannelHandlerContext, _ end: NIOAny) {
        passParts()
        let complete = isReceiving && !isBroken ? delivery : nil
        (delivery, isReceiving) = (nil, false)
        // AsyncHTTPClient must not give a connection that is being closed to the next call. Of a response before the
        // end of its request, it would forget the body that it sends, or crash (HTTP/2). An error ends all of it.
        if isOver || !isSent && (isStream || isRefused || complete?.isCut == true) {
            complete?.end()
            return context.fireErrorCaught(ChannelError.eof)
        }
        // First, so that the next call finds a free connection; it may begin at once.
        context.fireChannelRead(end)
        complete?.end()
    }

    /// Closes the connection: nobody asked for the bytes that were read.
    fileprivate func close(_ context: ChannelHandlerContext) {
        isOver = true
        context.close(promise: nil)
    }

    /// Gives back a stream of which nothing was sent.
    ///
    /// SwiftNIO tells only of the end of streams whose head was sent. AsyncHTTPClient would count this one for ever,
    /// and wait for the end of another one when it has counted as many as the server allows.
    private func giveBack(_ context: ChannelHandlerContext) {
        guard isStream, !isOpened, let connection = context.channel.parent else { return }
        connection.eventLoop.execute {
            let http2 = try? connection.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
            http2?.fireUserInboundEventTriggered(
                NIOHTTP2StreamCreatedEvent(
                    streamID: .maxID, localInitialWindowSize: nil, remoteInitialWindowSize: nil))
            http2?.fireUserInboundEventTriggered(StreamClosedEvent(streamID: .maxID, reason: .cancel))
        }
    }

    /// Whether the response is complete, and nothing may follow it.
    fileprivate var isComplete: Bool { end != nil }
}

/// Closes a connection on which the beginning of another head was read together with a response (RFC 9112 §9.2).
///
/// The decoder would keep it silently, and complete it with the bytes of the next response. So the last byte of what
/// was read is decoded alone: if the response was complete without it, it does not belong to it.
private final class LastByteGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionGuard

    init(_ connection: ConnectionGuard) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var last = unwrapInboundIn(data)
        if let before = last.readSlice(length: last.readableBytes - 1), before.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(before))
        }
        if connection.isComplete { return connection.close(context) }
        context.fireChannelRead(wrapInboundOut(last))
    }
}

/// Refuses a `:status` for which SwiftNIO or AsyncHTTPClient crashes: a negative one, and 101 (RFC 9113 §8.6).
private final class StatusGuard: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private var isRefused = false

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
