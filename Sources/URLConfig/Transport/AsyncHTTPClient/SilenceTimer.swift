#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Fails a request after too long a time in which no byte was sent or received.
///
/// AsyncHTTPClient's own limits do not run while a server reads nothing of a request. And they also count the time in
/// which nothing is read because the caller reads slowly.
final class SilenceTimer: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Longer parts of a body are written in pieces, because each that was sent is a sign of life.
    private static let mostAtOnce = 1 << 16

    /// After the limit, the event loop has at least this time to read once more.
    private static let grace = TimeAmount.milliseconds(100)

    private let limit: TimeAmount
    /// The number of parts of the request that were not sent yet.
    private var unsent = 0
    /// Whether the request was sent, and its response is not complete.
    private var isWaiting = false
    private var isComplete = false
    /// Whether bytes are wanted from the server; a new channel reads before it has this handler.
    private var isReading = true
    private var isSilent: Bool { unsent > 0 || isWaiting && isReading }
    /// Whether the time is up.
    private var isOver = false
    private var last = NIODeadline.now()
    /// The value of ``last`` when the time was up for the first time.
    private var doubted: NIODeadline?
    private var timer: Scheduled<Void>?

    private init(_ limit: TimeAmount) {
        self.limit = limit
    }

    /// Adds a timer to a connection or a stream that has a ``ConnectionGuard``.
    static func add(_ limit: TimeAmount, to channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let guarding = try pipeline.context(handlerType: ConnectionGuard.self)
        try pipeline.addHandler(SilenceTimer(limit), position: .after(guarding.handler))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head:
            isComplete = false
            context.write(data, promise: promise)
        case .body(.byteBuffer(var rest)):
            while rest.readableBytes > Self.mostAtOnce, let piece = rest.readSlice(length: Self.mostAtOnce) {
                send(.body(.byteBuffer(piece)), context, nil)
            }
            send(.body(.byteBuffer(rest)), context, promise)
        case .end where promise == nil && unsent == 0:
            // Without a promise, the head and the end of a request without a body are one write to the socket. The time
            // until they are sent is a part of the silence.
            if !isSilent { last = .now() }
            isWaiting = !isComplete
            watch(context)
            context.write(data, promise: nil)
        case let part:
            send(part, context, promise)
        }
    }

    /// Sends a part of a request, and watches how long this takes.
    private func send(_ part: OutboundOut, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        let sent = context.eventLoop.makePromise(of: Void.self)
        var isEnd = false
        if case .end = part { isEnd = true }
        if !isSilent { last = .now() }
        unsent += 1
        watch(context)
        sent.futureResult.assumeIsolated().whenComplete { [isEnd] result in
            self.unsent -= 1
            // The connection is closed before AsyncHTTPClient fails the request with the error that was caught.
            promise?.completeWith(result.mapError { self.isOver ? HTTPClientError.readTimeout : $0 })
            guard case .success = result else { return }
            if isEnd { self.isWaiting = !self.isComplete }
            self.last = .now()
            self.watch(context)
        }
        context.write(wrapOutboundOut(part), promise: sent)
    }

    func read(context: ChannelHandlerContext) {
        if !isReading {
            isReading = true
            last = .now()
            watch(context)
        }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { (isWaiting, isComplete) = (false, true) }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
        isWaiting = false
        timer?.cancel()
        timer = nil
    }

    /// Starts the timer; one that is already running looks at the time of the last byte when it fires.
    private func watch(_ context: ChannelHandlerContext) {
        if isSilent, timer == nil { schedule(context) }
    }

    private func schedule(_ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: last + limit) { self.check(context) }
    }

    private func check(_ context: ChannelHandlerContext) {
        timer = nil
        guard isSilent else { return }
        let late = NIODeadline.now() - (last + limit)
        guard late >= .nanoseconds(0) else { return schedule(context) }
        // An event loop that was held up runs its timers before it reads what has arrived meanwhile. So this waits once
        // more, and for longer the later it was: tasks may still be waiting, and the loop reads only after all of them.
        guard doubted == last else {
            doubted = last
            let rest = min(max(late, Self.grace), limit)
            timer = context.eventLoop.assumeIsolated().scheduleTask(in: rest) { self.check(context) }
            return
        }
        (isWaiting, isOver) = (false, true)
        context.fireErrorCaught(HTTPClientError.readTimeout)
    }
}

#endif
