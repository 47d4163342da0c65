/// One request on the wire and its response: one task of a session, and that task's delegate.
///
/// **The lock.** Foundation on Linux crashes if a redirect is answered on a task that has been cancelled meanwhile. So
/// it is answered with the lock held, and only while the exchange is not over; `finish` takes the same lock to make it
/// over, and cancels the task after that, elsewhere (cancelling waits for the task's queue). Answering does no more
/// than add to that queue: this is the one exception to the rule that nothing is called while a lock is held.
///
/// Redirects are never followed here: they come back as the response, whole, and the send loop decides.
final class Exchange: NSObject, URLSessionDataDelegate {
    private struct State {
        var task: URLSessionTask?
        var head: URLResponse?
        var sink: BodyBuffer
        var challenge: URLAuthenticationChallenge?
        /// The time since bytes moved last, if somebody measures silence.
        var silence: (@Sendable () -> Duration)?
        /// Cancels the end for silence.
        var cancelAlarm: (@Sendable () -> Void)?
        var isOver = false
    }

    /// The caller's own delegate, which is told of everything but redirects and data from here.
    let caller: (any URLSessionTaskDelegate)?
    /// The length of the request's body in bytes; -1 for a stream of unknown length, `nil` for no body.
    let bodyLength: Int64?
    private let clock: any Clock<Duration>
    private let state: Locked<State>
    private let end = OneShot<Void>()

    init(sink: BodyBuffer, caller: (any URLSessionTaskDelegate)?, bodyLength: Int64?, clock: any Clock<Duration>) {
        self.caller = caller
        self.bodyLength = bodyLength
        self.clock = clock
        state = Locked(State(sink: sink))
    }

    /// Begins with a task, unless the exchange is over.
    ///
    /// - Parameter makeTask: Makes the task, not begun yet, whose callbacks arrive here.
    /// - Returns: Whether there is a task, which will end.
    @discardableResult
    func begin(_ makeTask: () -> URLSessionTask) -> Bool {
        guard !state.withLock({ $0.isOver }) else { return false }
        let task = makeTask()
        let isOver = state.withLock { state in
            state.task = task
            return state.isOver
        }
        // A session keeps a task that has neither begun nor been cancelled for ever.
        if isOver { task.cancel() } else { task.resume() }
        return true
    }

    /// Waits until the response is complete.
    ///
    /// - Throws: `URLError`, or what the sink throws, or what ``finish(throwing:)`` is given; `CancellationError` as
    ///   soon as the running task is cancelled.
    func complete() async throws {
        try await end.value { self.finish(throwing: CancellationError()) }
    }

    /// What has arrived: the task, the head of the response, and its body up to now.
    var response: (task: URLSessionTask?, head: URLResponse?, body: Data) {
        state.withLock { ($0.task, $0.head ?? $0.task?.response, $0.sink.data) }
    }

    /// The challenge that the response ended with.
    var challenge: URLAuthenticationChallenge? { state.withLock { $0.challenge } }

    /// Ends the exchange early, and the task with it.
    func finish(throwing error: any Error) {
        finish(.failure(error))
    }

    /// Ends the exchange with what has arrived, because the task asks for credentials.
    func finish(_ challenge: URLAuthenticationChallenge) {
        state.set(\.challenge, challenge)
        finish(.success(()))
    }

    /// Ends the exchange when nothing has been sent or received for so long.
    func finish(afterSilenceOf limit: Duration, throwing error: @escaping @Sendable () -> any Error) {
        let silence = state.withLock { $0.silence } ?? clock.stopwatch()
        let elapsed = silence()
        guard elapsed < limit else { return finish(throwing: error()) }
        let cancel = clock.schedule(after: limit - elapsed) { [weak self] in
            self?.finish(afterSilenceOf: limit, throwing: error)
        }
        let isOver = state.withLock { state in
            if state.silence == nil { state.silence = silence }
            if !state.isOver { state.cancelAlarm = cancel }
            return state.isOver
        }
        if isOver { cancel() }
    }

    private func finish(_ result: Result<Void, any Error>) {
        let (isFirst, task) = close()
        guard isFirst else { return }
        end.resolve(result)
        if let task { ShadowSession.cancel(task, of: self) }
    }

    /// Makes the exchange over; whether it was not over yet, and the task if there is one.
    private func close() -> (isFirst: Bool, task: URLSessionTask?) {
        let (isFirst, task, cancelAlarm) = state.withLock { state in
            defer { (state.isOver, state.cancelAlarm) = (true, nil) }
            return (!state.isOver, state.task, state.cancelAlarm)
        }
        cancelAlarm?()
        return (isFirst, task)
    }

    /// Some bytes have moved.
    func move() {
        guard state.withLock({ $0.silence != nil }) else { return }
        state.set(\.silence, clock.stopwatch())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        state.withLock { state in
            if !state.isOver { completionHandler(nil) }
        }
        #else
        completionHandler(nil)
        #endif
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        move()
        state.withLock { state in
            guard !state.isOver else { return }
            state.head = response
            state.sink.begin(length: response.expectedContentLength)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        move()
        do {
            try state.withLock { state in
                if !state.isOver { try state.sink.receive(data) }
            }
        } catch {
            finish(throwing: error)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let hasHead = task.response != nil
        guard close().isFirst else { return }
        end.resolve(error.map { .failure($0.transportFailure(hasHead: hasHead)) } ?? .success(()))
    }

    #if !canImport(FoundationNetworking)
    // On Apple platforms the caller's delegate receives everything else, such as challenges and metrics, as if it were
    // the task's.
    override func responds(to selector: Selector!) -> Bool {
        super.responds(to: selector) || caller?.responds(to: selector) == true
    }

    override func forwardingTarget(for selector: Selector!) -> Any? { caller }
    #endif
}
