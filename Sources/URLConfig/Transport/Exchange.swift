/// One request and its response: a task of a session, and the delegate of that task.
///
/// **The lock.** On Linux, Foundation crashes if a redirect is refused after its task was cancelled. So a redirect is
/// refused while the lock is held, and only if the exchange is not over. `finish` takes the same lock to end the
/// exchange. Then it cancels the task on another queue, because cancelling blocks. Refusing a redirect does not block:
/// it adds to a queue. Making an alarm under the lock does not block either.
///
/// Foundation never follows a redirect: the redirect is the response, and the call follows it.
final class Exchange: NSObject, URLSessionDataDelegate {
    private struct State {
        var task: URLSessionTask?
        var head: URLResponse?
        var body: BodyBuffer
        var isFromCache = false
        /// Whether the task was suspended, because its bytes are read slowly.
        var isPaused = false
        /// Whether the task is being suspended or resumed at this moment.
        var isChangingPause = false
        /// The result; `nil` until the exchange is over.
        var result: Result<Void, any Error>?
        /// The readers that wait for the head or for bytes.
        var readers: [OneShot<Void>] = []
        /// The time since bytes were last sent or received; `nil` if silence has no limit.
        var silence: (@Sendable () -> Duration)?
        var silenceAlarm: Alarm?
        var limitAlarm: Alarm?
    }

    let request: Transport.Request
    let shadow: ShadowSession
    private let state: Locked<State>
    private let end = OneShot<Void>()
    private let canPause: Bool

    init(_ request: Transport.Request, canPause: Bool = ShadowSession.canPause) {
        self.request = request
        self.canPause = canPause && !request.isWhole
        shadow = ShadowSession.of(request.session)
        let memory = request.isWhole || canPause ? Int.max : ShadowSession.bufferSize
        state = Locked(State(body: BodyBuffer(limit: request.conditions.responseLimit, memory: memory)))
    }

    /// Starts a task, unless the exchange is over.
    ///
    /// - Returns: Whether there is a task. The session's delegate will be told when the task ends.
    @discardableResult
    func begin(_ makeTask: () -> URLSessionTask) -> Bool {
        guard !isOver else { return false }
        let task = makeTask()
        state.set(\.task, task)
        // A session never releases a task that was neither resumed nor cancelled.
        if isOver { task.cancel() } else { task.resume() }
        return true
    }

    private var isOver: Bool { state.withLock { $0.result != nil } }
    var task: URLSessionTask? { state.withLock { $0.task } }
    var head: HTTPURLResponse? { state.withLock { ($0.head ?? $0.task?.response) as? HTTPURLResponse } }
    var isFromCache: Bool { state.withLock { $0.isFromCache } }

    /// Waits until the exchange is over, for one caller only; cancelling the caller's task ends the exchange.
    func waitForEnd() async {
        try? await end.value { self.finish(throwing: CancellationError()) }
    }

    /// Waits until the head of the response has arrived, or the exchange is over.
    func waitForHead() async throws {
        _ = try await arrival { $0.head }
    }

    /// The next bytes of the body; `nil` at its end.
    ///
    /// - Throws: `CancellationError` as soon as the caller's task is cancelled, and the error that ended the exchange.
    func piece() async throws -> Data? {
        let piece = try await arrival { try $0.body.take() }
        pauseIfFull()
        return piece
    }

    /// Suspends the task if the buffer is full, and resumes it when there is room again.
    ///
    /// This is done outside of the lock, because instrumentation may run then. One thread at a time does it, and looks
    /// again afterwards, so that the last change fits the buffer.
    private func pauseIfFull() {
        guard canPause else { return }
        while let (task, pauses) = state.withLock({ state -> (URLSessionTask, Bool)? in
            let isFull = state.result == nil && state.body.data.count >= ShadowSession.bufferSize
            guard let task = state.task, state.isPaused != isFull, !state.isChangingPause else { return nil }
            (state.isPaused, state.isChangingPause) = (isFull, true)
            return (task, isFull)
        }) {
            if pauses { task.suspend() } else { task.resume() }
            state.set(\.isChangingPause, false)
        }
    }

    private func arrival<Arrival: Sendable>(
        _ take: @Sendable (inout State) throws -> Arrival?
    ) async throws -> Arrival? {
        while true {
            let reader = OneShot<Void>()
            let (arrival, result) = try state.withLock { state in
                let arrival = try take(&state)
                if arrival == nil, state.result == nil { state.readers.append(reader) }
                return (arrival, state.result)
            }
            if let arrival { return arrival }
            if let result {
                try result.get()
                return nil
            }
            try await reader.value { self.finish(throwing: CancellationError()) }
        }
    }

    func finish(throwing error: any Error) {
        finish(.failure(error))
    }

    /// Ends the exchange with what has arrived.
    func finish() {
        finish(.success(()))
    }

    func finish(after limit: Duration) {
        keep(\.limitAlarm, after: limit) { $0.finish(throwing: $0.timedOut(after: limit)) }
    }

    /// Ends the exchange when nothing was sent or received for this time.
    func finish(afterSilenceOf limit: Duration) {
        let silence = state.withLock { $0.silence } ?? request.conditions.clock.stopwatch()
        let elapsed = silence()
        guard elapsed < limit else { return finish(throwing: timedOut(after: limit)) }
        state.withLock { if $0.silence == nil { $0.silence = silence } }
        keep(\.silenceAlarm, after: limit - elapsed) { $0.finish(afterSilenceOf: limit) }
    }

    private func timedOut(after limit: Duration) -> URLError {
        URLError(timedOut: request.urlRequest.url, after: limit)
    }

    private func keep(
        _ alarm: WritableKeyPath<State, Alarm?>, after delay: Duration, _ fire: @escaping @Sendable (Exchange) -> Void
    ) {
        let clock = request.conditions.clock
        // The alarm is made while the lock is held: if it fired before it is kept, it would release its own successor.
        // The old alarm is returned, so that it is released afterwards.
        _ = state.withLock { state in
            let before = state[keyPath: alarm]
            if state.result == nil {
                state[keyPath: alarm] = Alarm(after: delay, clock) { [weak self] in self.map(fire) }
            }
            return before
        }
    }

    private func finish(_ result: Result<Void, any Error>, cancels: Bool = true) {
        // The old state is returned, so that nothing is released while the lock is held.
        let before = state.withLock { state in
            defer {
                state.result = state.result ?? result
                (state.readers, state.silenceAlarm, state.limitAlarm) = ([], nil, nil)
            }
            return state
        }
        guard before.result == nil else { return }
        for reader in before.readers + [end] { reader.resolve(.success(())) }
        if cancels, let task = before.task { ShadowSession.cancel(task, of: self) }
    }

    private func receive(_ change: (inout State) throws -> Void) rethrows {
        move()
        let readers = try state.withLock { state in
            if state.result == nil { try change(&state) }
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.resolve(.success(())) }
    }

    /// Restarts the time of silence, because bytes were sent or received.
    func move() {
        guard state.withLock({ $0.silence != nil }) else { return }
        state.set(\.silence, request.conditions.clock.stopwatch())
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        // On Linux, the heads of interim responses arrive, too (RFC 9110 §15.2).
        if let status = (response as? HTTPURLResponse)?.statusCode, 100...199 ~= status, status != 101 {
            move()
            return completionHandler(.allow)
        }
        receive { state in
            state.head = response
            // A new response discards the previous one, such as a redirect.
            state.body.removeAll()
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if request.isWhole, let progress = request.conditions.progress, 200...299 ~= head?.statusCode ?? 0 {
            progress.received(data.count)
        }
        do {
            try receive { try $0.body.receive(data) }
            pauseIfFull()
        } catch {
            finish(throwing: error)
        }
    }

    /// Opens the body again; a stream that the caller has opened cannot be opened again.
    ///
    /// Apple platforms call this after a challenge or a lost connection. On Linux the call decides.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        do {
            guard let (stream, length) = try request.replacement?.opened() else { return completionHandler(nil) }
            guard length == request.urlRequest.declaredLength else {
                throw RequestError(.invalidRequest, reason: "body: its length has changed since it was sent")
            }
            completionHandler(stream)
        } catch {
            finish(throwing: error)
            completionHandler(nil)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let hasHead = task.response != nil
        finish(error.map { .failure($0.transportFailure(hasHead: hasHead)) } ?? .success(()), cancels: false)
    }

    #if canImport(FoundationNetworking)
    func refuseRedirect(_ completionHandler: (URLRequest?) -> Void) {
        state.withLock { state in
            if state.result == nil { completionHandler(nil) }
        }
    }
    #else
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        state.set(\.isFromCache, metrics.transactionMetrics.last?.resourceFetchType == .localCache)
        _ = isAsked { $0.urlSession?(session, task: $1, didFinishCollecting: metrics) }
    }

    // The session without credentials has ended, not the caller's.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}

    // The caller's delegates receive everything else, such as challenges.
    override func responds(to selector: Selector!) -> Bool {
        super.responds(to: selector) || forwardingTarget(for: selector) != nil
    }

    override func forwardingTarget(for selector: Selector!) -> Any? {
        callerDelegates.first { $0.responds(to: selector) }
    }
    #endif
}
