/// One request on the wire and its response: one task of a session, and that task's delegate.
///
/// **The lock.** Foundation on Linux crashes if a redirect is answered on a task that has been cancelled meanwhile. So
/// it is answered with the lock held, and only while the exchange is not over; `finish` takes the same lock to make it
/// over, and cancels the task after that, elsewhere (cancelling waits for the task's queue). Answering does no more
/// than add to that queue: this is the one exception to the rule that nothing is called while a lock is held.
///
/// Redirects are never followed here: they come back as the response, and the send loop decides.
final class Exchange: NSObject, URLSessionDataDelegate {
    private struct State {
        var task: URLSessionTask?
        var head: URLResponse?
        var body: BodyBuffer
        var challenge: URLAuthenticationChallenge?
        /// Who waits for a head, for bytes or for the end.
        var readers: [OneShot<Void>] = []
        /// The time since bytes moved last, if somebody measures silence.
        var silence: (@Sendable () -> Duration)?
        /// Cancel the ends for silence and for time that is up.
        var cancelAlarm: (@Sendable () -> Void)?
        var cancelLimit: (@Sendable () -> Void)?
        var isOver = false
    }

    /// The caller's own delegate, which is told of everything but redirects and data from here.
    let callerDelegate: (any URLSessionTaskDelegate)?
    /// The length of the request's body in bytes; -1 for a stream of unknown length, `nil` for no body.
    let bodyLength: Int64?
    private let clock: any Clock<Duration>
    private let state: Locked<State>
    private let end = OneShot<Void>()

    /// - Parameter limit: The most bytes of the response's body; `nil` for as many as come.
    init(
        limit: Int? = nil, callerDelegate: (any URLSessionTaskDelegate)?, bodyLength: Int64?,
        clock: any Clock<Duration>
    ) {
        self.callerDelegate = callerDelegate
        self.bodyLength = bodyLength
        self.clock = clock
        state = Locked(State(body: BodyBuffer(limit: limit)))
    }

    /// Begins with a task whose callbacks arrive here, unless the exchange is over.
    ///
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
    /// - Throws: `URLError`, or ``BodyTooLong``, or what ``finish(throwing:)`` is given; `CancellationError` as soon as
    ///   the running task is cancelled.
    func complete() async throws {
        try await end.value { self.finish(throwing: CancellationError()) }
    }

    /// Waits until the head of the response has arrived, or all of it.
    func head() async throws {
        try await arrival { $0.head }
    }

    /// The next bytes of the body; `nil` at its end.
    func piece() async throws -> Data? {
        try await arrival { $0.body.take() }
    }

    @discardableResult
    private func arrival<Arrival: Sendable>(_ take: @Sendable (inout State) -> Arrival?) async throws -> Arrival? {
        while true {
            let reader = OneShot<Void>()
            let (arrival, isOver) = state.withLock { state -> (Arrival?, Bool) in
                let arrival = take(&state)
                if arrival == nil, !state.isOver { state.readers.append(reader) }
                return (arrival, state.isOver)
            }
            if let arrival { return arrival }
            if isOver {
                try await complete()
                return nil
            }
            try await reader.value { self.finish(throwing: CancellationError()) }
        }
    }

    /// What has arrived: the task, the head of the response, its body up to now, and the challenge that it ended with.
    var response: (task: URLSessionTask?, head: URLResponse?, body: Data, challenge: URLAuthenticationChallenge?) {
        state.withLock { ($0.task, $0.head ?? $0.task?.response, $0.body.data, $0.challenge) }
    }

    func finish(throwing error: any Error) {
        finish(.failure(error))
    }

    /// Ends the exchange with what has arrived, because the task asks for credentials.
    func finish(_ challenge: URLAuthenticationChallenge) {
        state.set(\.challenge, challenge)
        finish(.success(()))
    }

    func finish(after limit: Duration, throwing error: @escaping @Sendable () -> any Error) {
        let cancel = clock.schedule(after: limit) { [weak self] in self?.finish(throwing: error()) }
        keep(cancel, \.cancelLimit)
    }

    /// Ends the exchange when nothing has been sent or received for so long.
    func finish(afterSilenceOf limit: Duration, throwing error: @escaping @Sendable () -> any Error) {
        let silence = state.withLock { $0.silence } ?? clock.stopwatch()
        let elapsed = silence()
        guard elapsed < limit else { return finish(throwing: error()) }
        let cancel = clock.schedule(after: limit - elapsed) { [weak self] in
            self?.finish(afterSilenceOf: limit, throwing: error)
        }
        state.withLock { if $0.silence == nil { $0.silence = silence } }
        keep(cancel, \.cancelAlarm)
    }

    private func keep(
        _ cancel: @escaping @Sendable () -> Void, _ timer: WritableKeyPath<State, (@Sendable () -> Void)?>
    ) {
        let isOver = state.withLock { state in
            if !state.isOver { state[keyPath: timer] = cancel }
            return state.isOver
        }
        if isOver { cancel() }
    }

    private func finish(_ result: Result<Void, any Error>) {
        let (isFirst, task) = close(with: result)
        if isFirst, let task { ShadowSession.cancel(task, of: self) }
    }

    /// Makes the exchange over; whether it was not over yet, and the task if there is one.
    @discardableResult
    private func close(with result: Result<Void, any Error>) -> (isFirst: Bool, task: URLSessionTask?) {
        let before = state.withLock { state in
            defer { (state.isOver, state.cancelAlarm, state.cancelLimit, state.readers) = (true, nil, nil, []) }
            return state
        }
        before.cancelAlarm?()
        before.cancelLimit?()
        if !before.isOver { end.resolve(result) }
        for reader in before.readers { reader.resolve(.success(())) }
        return (!before.isOver, before.task)
    }

    /// Changes the state, unless the exchange is over, and wakes who waits for that.
    private func receive<Failure: Error>(_ change: (inout State) throws(Failure) -> Void) throws(Failure) {
        move()
        let readers = try state.withLock { state throws(Failure) in
            if !state.isOver { try change(&state) }
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.resolve(.success(())) }
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
        receive { state in
            state.head = response
            state.body.begin(length: response.expectedContentLength)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        do {
            try receive { state throws(BodyTooLong) in try state.body.receive(data) }
        } catch {
            finish(throwing: error)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let hasHead = task.response != nil
        close(with: error.map { .failure($0.transportFailure(hasHead: hasHead)) } ?? .success(()))
    }

    #if !canImport(FoundationNetworking)
    // On Apple platforms the caller's delegate receives everything else, such as challenges and metrics, as if it were
    // the task's.
    override func responds(to selector: Selector!) -> Bool {
        super.responds(to: selector) || callerDelegate?.responds(to: selector) == true
    }

    override func forwardingTarget(for selector: Selector!) -> Any? { callerDelegate }
    #endif
}
