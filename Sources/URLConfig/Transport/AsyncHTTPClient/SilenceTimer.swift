#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Fails a request after too long a time without a byte from the server.
///
/// AsyncHTTPClient's own limit also counts the time in which it reads nothing because the caller reads slowly.
final class SilenceTimer: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let limit: TimeAmount
    /// Whether the request was sent, and its response is not complete.
    private var isWaiting = false
    private var isComplete = false
    /// Whether bytes are wanted from the server; a new channel reads before it has this handler.
    private var isReading = true
    private var last = NIODeadline.now()
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
        case .head: isComplete = false
        case .body: break
        case .end:
            let sent = promise ?? context.eventLoop.makePromise()
            sent.futureResult.assumeIsolated().whenSuccess {
                self.isWaiting = !self.isComplete
                self.watch(context)
            }
            return context.write(data, promise: sent)
        }
        context.write(data, promise: promise)
    }

    func read(context: ChannelHandlerContext) {
        if !isReading {
            isReading = true
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

    /// Begins a time of silence.
    ///
    /// A timer that is already running looks at the last one when it fires.
    private func watch(_ context: ChannelHandlerContext) {
        last = .now()
        if isWaiting, isReading, timer == nil { schedule(context) }
    }

    private func schedule(_ context: ChannelHandlerContext) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: last + limit) { self.check(context) }
    }

    private func check(_ context: ChannelHandlerContext) {
        timer = nil
        guard isWaiting, isReading else { return }
        guard NIODeadline.now() >= last + limit else { return schedule(context) }
        isWaiting = false
        context.fireErrorCaught(HTTPClientError.readTimeout)
    }
}

#endif
