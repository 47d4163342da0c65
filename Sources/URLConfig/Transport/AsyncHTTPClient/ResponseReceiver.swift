#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// Writes the response to a request without a body to its ``ReceivedBody``, on an event loop.
///
/// Half of what a small call costs is that threads wake each other. AsyncHTTPClient's `async` functions do this for the
/// time limit, for cancellation, for the head and for each part of the body. Here a small response wakes the caller's
/// task once.
final class ResponseReceiver: HTTPClientResponseDelegate {
    private struct State {
        var task: HTTPClient.Task<Void>?
        var head: HTTPResponseHead?
        /// Completed when enough was read; until then, nothing more is received.
        var room: EventLoopPromise<Void>?
        var isOver = false
        /// The parts of one turn of the event loop, which a stream receives together.
        var parts = Data()
    }

    private let body: ReceivedBody
    private let eventLoop: any EventLoop
    private let delivery: Delivery?
    private let isWhole: Bool
    private let onEnd: @Sendable () -> Void
    private let state = Locked(State())
    private let head = OneShot<HTTPResponseHead>()

    /// - Parameters:
    ///   - isWhole: Whether the head of the response is not needed before its body.
    ///   - onEnd: Called once, when the response is complete or has failed.
    init(
        _ body: ReceivedBody, on eventLoop: any EventLoop, _ delivery: Delivery?, isWhole: Bool,
        onEnd: @escaping @Sendable () -> Void
    ) {
        self.body = body
        self.eventLoop = eventLoop
        self.delivery = delivery
        self.isWhole = isWhole
        self.onEnd = onEnd
    }

    /// The head of the response.
    ///
    /// If the whole response is wanted, the body has arrived, too, or as many bytes as may be in memory.
    func head(of task: HTTPClient.Task<Void>) async throws -> HTTPResponseHead {
        state.set(\.task, task)
        body.onSignal { [weak self] in self?.follow($0) }
        // It may have ended before somebody listened.
        if body.isOver { follow(.cancel) }
        return try await head.value { self.body.cancel() }
    }

    private func follow(_ signal: ReceivedBody.Signal) {
        switch signal {
        case .pause:
            let head = state.withLock { state in
                if !state.isOver { state.room = eventLoop.makePromise() }
                return state.head
            }
            body.didPassHead()
            if let head { self.head.resolve(.success(head)) }
        case .resume: state.withLock { $0.room.take() }?.succeed(())
        case .cancel: end(.success(()), cancels: true)
        }
    }

    /// - Parameter cancels: Whether nobody wants the rest.
    func end(_ result: Result<Void, any Error>, cancels: Bool = false) {
        if !cancels { flush() }
        let before = state.withLock { state in
            defer { (state.isOver, state.room) = (true, nil) }
            return state
        }
        guard !before.isOver else { return }
        onEnd()
        before.room?.succeed(())
        if cancels { before.task?.cancel() }
        switch (before.head, result) {
        case (let head?, _):
            body.finish(result.mapError { $0.asURLError(delivery?.url) })
            self.head.resolve(.success(head))
        // The body has not failed, because another connection may be tried.
        case (nil, .failure(let error)): head.resolve(.failure(error))
        case (nil, .success):
            head.resolve(Result { try body.checkResult() }.flatMap { .failure(URLError(.badServerResponse)) })
        }
    }

    func didVisitURL(task: HTTPClient.Task<Void>, _ request: HTTPClient.Request, _ head: HTTPResponseHead) {
        let isSecond = state.withLock { state in
            defer { state.head = head }
            return state.head != nil
        }
        guard isSecond else { return }
        self.head.resolve(.failure(RequestError.hasFollowedRedirect))
        body.cancel()
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        body.touch()
        if !isWhole {
            body.didPassHead()
            self.head.resolve(.success(head))
        }
        return eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        if part.readableBytes > 0 {
            if isWhole {
                body.receive(Data(buffer: part))
            } else {
                let isFirst = state.withLock { state in
                    defer { state.parts.append(contentsOf: part.readableBytesView) }
                    return state.parts.isEmpty
                }
                if isFirst { eventLoop.execute { self.flush() } }
            }
        }
        return state.withLock { $0.room?.futureResult } ?? eventLoop.makeSucceededVoidFuture()
    }

    /// A stream's reader is another thread, and waking it costs more than the part of a body that it then reads.
    private func flush() {
        let parts = state.withLock { state in
            defer { state.parts = Data() }
            return state.parts
        }
        if !parts.isEmpty { body.receive(parts) }
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { end(.failure(error)) }

    func didFinishRequest(task: HTTPClient.Task<Void>) {
        end(delivery?.failure.map { .failure($0) } ?? .success(()))
    }
}

#endif
