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
        /// How it ended; `nil` until it is over.
        var result: Result<Void, any Error>?
        /// Who waits for a head or for bytes.
        var readers: [OneShot<Void>] = []
        /// The time since bytes moved last, if somebody measures silence.
        var silence: (@Sendable () -> Duration)?
        var silenceAlarm: Alarm?
        var limitAlarm: Alarm?
    }

    let request: Transport.Request
    let shadow: ShadowSession
    private let state: Locked<State>
    private let end = OneShot<Result<Void, any Error>>()

    /// - Parameter limit: The most bytes of the response's body; `nil` for as many as come.
    init(_ request: Transport.Request, limit: Int? = nil) {
        self.request = request
        shadow = ShadowSession.of(request.session)
        state = Locked(State(body: BodyBuffer(limit: limit)))
    }

    /// Begins with a task whose callbacks arrive here, unless the exchange is over.
    ///
    /// - Returns: Whether there is a task, which will end.
    @discardableResult
    func begin(_ makeTask: () -> URLSessionTask) -> Bool {
        guard !isOver else { return false }
        let task = makeTask()
        state.set(\.task, task)
        // A session keeps a task that has neither begun nor been cancelled for ever.
        if isOver { task.cancel() } else { task.resume() }
        return true
    }

    private var isOver: Bool { state.withLock { $0.result != nil } }

    /// Waits until the response is complete, for one caller.
    ///
    /// - Throws: `CancellationError` as soon as the running task is cancelled, ``BodyTooLong``, and other errors.
    func complete() async throws {
        try check(await end.value { self.finish(throwing: CancellationError()) })
    }

    private func check(_ result: Result<Void, any Error>) throws {
        do {
            try result.get()
        } catch is LostConnection {
            // Only here: the exchange cannot keep an error that keeps the exchange.
            throw URLError(lostConnectionOf: self)
        }
    }

    /// Waits until the head of the response has arrived, or all of it.
    func waitForHead() async throws {
        _ = try await arrival { $0.head }
    }

    /// The next bytes of the body; `nil` at its end.
    func piece() async throws -> Data? {
        try await arrival { $0.body.take() }
    }

    private func arrival<Arrival: Sendable>(_ take: @Sendable (inout State) -> Arrival?) async throws -> Arrival? {
        while true {
            let reader = OneShot<Void>()
            let (arrival, result) = state.withLock { state in
                let arrival = take(&state)
                if arrival == nil, state.result == nil { state.readers.append(reader) }
                return (arrival, state.result)
            }
            if let arrival { return arrival }
            if let result {
                try check(result)
                return nil
            }
            try await reader.value { self.finish(throwing: CancellationError()) }
        }
    }

    var task: URLSessionTask? { state.withLock { $0.task } }
    var head: HTTPURLResponse? { state.withLock { ($0.head ?? $0.task?.response) as? HTTPURLResponse } }
    var body: Data { state.withLock { $0.body.data } }
    /// What the response ended with, for credentials in place of a response that is of use.
    var challenge: URLAuthenticationChallenge? { state.withLock { $0.challenge } }

    func finish(throwing error: any Error) {
        finish(.failure(error))
    }

    /// Ends the exchange with what has arrived, because the task asks for credentials.
    func finish(_ challenge: URLAuthenticationChallenge) {
        state.set(\.challenge, challenge)
        finish(.success(()))
    }

    func finish(after limit: Duration) {
        keep(\.limitAlarm, after: limit) { $0.finish(throwing: $0.timedOut(after: limit)) }
    }

    /// Ends the exchange when nothing has been sent or received for so long.
    func finish(afterSilenceOf limit: Duration) {
        let silence = state.withLock { $0.silence } ?? request.config.clock.stopwatch()
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
        state.set(alarm, Alarm(after: delay, request.config.clock) { [weak self] in self.map(fire) })
        if isOver { state.set(alarm, nil) }
    }

    private func finish(_ result: Result<Void, any Error>, cancels: Bool = true) {
        // What it had goes when the lock is free again.
        let before = state.withLock { state in
            defer {
                state.result = state.result ?? result
                (state.readers, state.silenceAlarm, state.limitAlarm) = ([], nil, nil)
            }
            return state
        }
        guard before.result == nil else { return }
        end.resolve(.success(result))
        for reader in before.readers { reader.resolve(.success(())) }
        if cancels, let task = before.task { ShadowSession.cancel(task, of: self) }
    }

    private func receive<Failure: Error>(_ change: (inout State) throws(Failure) -> Void) throws(Failure) {
        move()
        let readers = try state.withLock { state throws(Failure) in
            if state.result == nil { try change(&state) }
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers { reader.resolve(.success(())) }
    }

    /// Begins the measurement of silence anew: bytes have moved.
    func move() {
        guard state.withLock({ $0.silence != nil }) else { return }
        state.set(\.silence, request.config.clock.stopwatch())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        state.withLock { state in
            if state.result == nil { completionHandler(nil) }
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
        finish(error.map { .failure($0.transportFailure(hasHead: hasHead)) } ?? .success(()), cancels: false)
    }

    #if !canImport(FoundationNetworking)
    // On Apple platforms the caller's delegate receives everything else, such as challenges and metrics, as if it were
    // the task's.
    override func responds(to selector: Selector!) -> Bool {
        super.responds(to: selector) || request.callerDelegate?.responds(to: selector) == true
    }

    override func forwardingTarget(for selector: Selector!) -> Any? { request.callerDelegate }
    #endif
}
