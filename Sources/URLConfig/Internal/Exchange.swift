/// One request on the wire and its answer: one task of a session, and that task's delegate.
///
/// **The lock.** Foundation on Linux ends the process if a redirect is answered on a task that has been cancelled meanwhile. So
/// it is answered with the lock held, and only while the exchange is not over; `finish` takes the same lock to make it over, and
/// cancels the task after that, from another queue (cancelling waits for the task's queue). Answering does no more than add to
/// that queue: this is the one exception to the rule that nothing is called while a lock is held.
///
/// Redirects are never followed here: they come back as the answer, whole, and the send loop decides.
final class Exchange: NSObject, URLSessionDataDelegate {
    private struct State {
        var task: URLSessionTask?
        var head: URLResponse?
        var sink: MemorySink
        var challenge: URLAuthenticationChallenge?
        var isOver = false
    }

    private static let cancellations = DispatchQueue(label: "URLConfig.cancellations")

    /// The caller's own delegate, which hears all but redirects and data from here.
    let caller: (any URLSessionTaskDelegate)?
    /// The body of the request, if it is data, in case it is needed again.
    let body: Data?
    private let state: LockBox<State>
    private let end = Promise<Void>()

    init(sink: MemorySink, caller: (any URLSessionTaskDelegate)?, body: Data?) {
        self.body = body
        state = LockBox(State(sink: sink))
        self.caller = caller
    }

    /// Takes a task, not begun yet, whose callbacks arrive here.
    func take(_ task: URLSessionTask) {
        state.set(\.task, task)
    }

    /// Runs the task until its answer is complete.
    ///
    /// - Throws: `URLError`, or what the sink throws, or what ``finish(throwing:)`` is given; `CancellationError` as soon as
    ///   the running task is cancelled.
    func run() async throws {
        state.withLock { $0.task }?.resume()
        try await end.value { self.finish(throwing: CancellationError()) }
    }

    /// What has arrived: the head of the answer, and its body up to now.
    var answer: (head: URLResponse?, body: Data) {
        state.withLock { ($0.head ?? $0.task?.response, $0.sink.data) }
    }

    /// The challenge that the answer ended with, and the task that got it.
    var challenge: (URLAuthenticationChallenge, URLSessionTask)? {
        state.withLock { state in
            guard let challenge = state.challenge, let task = state.task else { return nil }
            return (challenge, task)
        }
    }

    /// Ends the exchange before its time, and the task with it.
    func finish(throwing error: any Error) {
        finish(.failure(error))
    }

    /// Ends the exchange with what has arrived, because the task asks for credentials.
    func finish(_ challenge: URLAuthenticationChallenge) {
        state.set(\.challenge, challenge)
        finish(.success(()))
    }

    private func finish(_ result: Result<Void, any Error>) {
        guard let task = close() else { return }
        end.keep(result)
        Self.cancellations.async { task.cancel() }
    }

    /// Makes the exchange over; the task, if it was not over yet.
    private func close() -> URLSessionTask? {
        state.withLock { state in
            guard !state.isOver else { return nil }
            state.isOver = true
            return state.task
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        state.withLock { state in
            if !state.isOver { completionHandler(nil) }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.head = response
            state.sink.begin(length: response.expectedContentLength)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
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
        guard close() != nil else { return }
        end.keep(error.map { .failure($0.transportFailure(hasHead: hasHead)) } ?? .success(()))
    }

    #if !canImport(FoundationNetworking)
    // On Apple platforms the caller's delegate hears all else, such as challenges and metrics, as if it were the task's.
    override func responds(to selector: Selector!) -> Bool {
        super.responds(to: selector) || caller?.responds(to: selector) == true
    }

    override func forwardingTarget(for selector: Selector!) -> Any? { caller }
    #endif
}
