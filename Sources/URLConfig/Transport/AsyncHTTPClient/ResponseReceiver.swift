#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Receives one response to a request without a body from AsyncHTTPClient, on an event loop.
///
/// Half of what a small call costs is that threads wake each other. AsyncHTTPClient's `async` functions do this for the
/// time limit, for cancellation, for the head and for each part of the body. Here a small response wakes the caller's
/// task once.
final class ResponseReceiver: HTTPClientResponseDelegate {
    private struct State {
        var head: HTTPResponseHead?
        /// The parts of the body that have not been read yet, and how many bytes they have.
        var parts = CircularBuffer<ByteBuffer>()
        var unread = 0
        /// Completed when enough was read; until then, nothing more is received.
        var room: EventLoopPromise<Void>?
        var reader: OneShot<Void>?
        /// The result; `nil` until the response is complete.
        var result: Result<Void, any Error>?

        mutating func add(_ part: ByteBuffer) {
            guard part.readableBytes > 0 else { return }
            unread += part.readableBytes
            if part.readableBytes < ResponseReceiver.leastPart, !parts.isEmpty {
                // With the subscript, all bytes would be copied each time.
                parts.modify(parts.index(before: parts.endIndex)) { _ = $0.writeImmutableBuffer(part) }
            } else {
                parts.append(part)
            }
        }
    }

    /// The number of bytes after which the server must wait.
    static let mostUnread = 1 << 17
    /// Smaller parts are copied into the one before, because even a small part may keep a large buffer.
    private static let leastPart = 1 << 12

    private let state = Locked(State())
    private let head = OneShot<HTTPResponseHead>()
    private let isWhole: Bool
    private let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - isWhole: Whether the head of the response is not needed before its body.
    ///   - onEnd: Called once, when the response is complete or has failed.
    init(isWhole: Bool, onEnd: @escaping @Sendable () -> Void) {
        self.isWhole = isWhole
        self.onEnd = onEnd
    }

    /// The head of the response.
    ///
    /// If the whole response is wanted, the body has arrived, too, or as many bytes as may wait.
    func head(of task: HTTPClient.Task<Void>) async throws -> HTTPResponseHead {
        try await head.value { self.cancel(task) }
    }

    /// The next part of the body; `nil` at its end.
    func part(of task: HTTPClient.Task<Void>) async throws -> ByteBuffer? {
        while true {
            let reader = OneShot<Void>()
            let (part, room, result) = state.withLock { state in
                let part = state.parts.popFirst()
                state.unread -= part?.readableBytes ?? 0
                if part == nil, state.result == nil { state.reader = reader }
                let room = state.unread < Self.mostUnread ? state.room.take() : nil
                return (part, room, state.result)
            }
            room?.succeed(())
            if let part { return part }
            if let result {
                try result.get()
                return nil
            }
            try await reader.value { self.cancel(task) }
        }
    }

    /// Ends the transfer, unless it is over.
    func cancel(_ task: HTTPClient.Task<Void>) {
        if finish(.failure(CancellationError())) { task.cancel() }
    }

    @discardableResult
    func finish(_ result: Result<Void, any Error>) -> Bool {
        let before = state.withLock { state in
            defer {
                state.result = state.result ?? result
                (state.reader, state.room) = (nil, nil)
            }
            return state
        }
        guard before.result == nil else { return false }
        onEnd()
        before.room?.succeed(())
        head.resolve(before.head.map { .success($0) } ?? result.flatMap { .failure(URLError(.badServerResponse)) })
        before.reader?.resolve(.success(()))
        return true
    }

    func didVisitURL(task: HTTPClient.Task<Void>, _ request: HTTPClient.Request, _ head: HTTPResponseHead) {
        let isSecond = state.withLock { state in
            defer { state.head = head }
            return state.head != nil
        }
        guard isSecond else { return }
        self.head.resolve(.failure(RequestError.hasFollowedRedirect))
        cancel(task)
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        if !isWhole { self.head.resolve(.success(head)) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let (head, reader, room) = state.withLock { state in
            if state.result == nil {
                state.add(part)
                if state.unread >= Self.mostUnread { state.room = task.eventLoop.makePromise() }
            }
            return (state.head, state.reader.take(), state.room)
        }
        if room != nil, let head { self.head.resolve(.success(head)) }
        reader?.resolve(.success(()))
        return room?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { finish(.failure(error)) }

    func didFinishRequest(task: HTTPClient.Task<Void>) { finish(.success(())) }
}

/// The body of a response, to read once; the transfer ends when the loop ends or when the body is released.
final class ReceivedBody: AsyncSequence, Sendable {
    fileprivate final class Reader: Sendable {
        let receiver: ResponseReceiver
        let task: HTTPClient.Task<Void>

        init(_ receiver: ResponseReceiver, _ task: HTTPClient.Task<Void>) {
            self.receiver = receiver
            self.task = task
        }

        deinit { receiver.cancel(task) }
    }

    /// `nil` as soon as an iterator has it.
    private let reader: Locked<Reader?>

    init(_ receiver: ResponseReceiver, _ task: HTTPClient.Task<Void>) {
        reader = Locked(Reader(receiver, task))
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader.withLock { $0.take() }) }

    struct AsyncIterator: AsyncIteratorProtocol {
        private let reader: Reader?

        fileprivate init(_ reader: Reader?) {
            self.reader = reader
        }

        func next() async throws -> ByteBuffer? {
            guard let reader else { return nil }
            return try await reader.receiver.part(of: reader.task)
        }
    }
}

#endif
