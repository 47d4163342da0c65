/// One request and its response: a task of a session, and the delegate of that task.
///
/// **The lock.** On Linux, Foundation crashes if a redirect is refused after its task was cancelled. So a redirect is
/// refused while the lock is held, and only if the exchange is not over. The end of the exchange takes the same lock.
/// Then the task is cancelled on another queue, because cancelling blocks. Refusing a redirect does not block: it adds
/// to a queue.
///
/// Foundation never follows a redirect: the redirect is the response, and the call follows it.
final class Exchange: NSObject, URLSessionDataDelegate {
    private struct State {
        var task: URLSessionTask?
        var head: URLResponse?
        var isFromCache = false
        var isOver = false
    }

    let request: Transport.Request
    let body: ReceivedBody
    private let state = Locked(State())
    /// What Foundation tells of the connection: nothing on Linux.
    ///
    /// Events keep it, and not the exchange.
    private let connection = Locked(CallEvent.Connection?.none)
    private let begun = OneShot<Void>()

    /// Sends a request; returns the response when its head has arrived, or its whole body.
    static func response(to request: Transport.Request) async throws -> Transport.Response {
        let exchange = try await request.replacement == nil ? Exchange(opening: request) : opened(request)
        // It ends the exchange when it is released.
        let body = ResponseBody(exchange.body)
        exchange.start()
        try await exchange.waitForHead()
        return try exchange.response(body)
    }

    @inline(never)
    private convenience init(opening request: Transport.Request) throws {
        var request = request
        try request.openBody()
        self.init(request)
    }

    /// The exchange of a request whose body was replaced: opening it may block.
    private static func opened(_ request: Transport.Request) async throws -> Exchange {
        try await request.conditions.deadline.run {
            var request = request
            try await request.writeSequence()
            return try Exchange(opening: request)
        }
    }

    @inline(never)
    private func response(_ body: ResponseBody) throws -> Transport.Response {
        // HTTPTypes traps on a status of more than three digits, which a custom URLProtocol may give.
        guard let head, 0...999 ~= head.statusCode else {
            throw RequestError(.invalidResponse, reason: "the response is not HTTP", request: request.urlRequest)
        }
        storeCookies(of: head)
        var response = Transport.Response(
            status: .init(code: head.statusCode), headerFields: HTTPFields(head), url: head.url, body: body)
        response.isFromCache = { self.isFromCache }
        response.connection = { [connection] in connection.withLock { $0 } }
        response.redaction = request.conditions.redaction
        return response
    }

    init(_ request: Transport.Request, _ excess: ReceivedBody.Excess = Exchange.excess) {
        self.request = request
        body = ReceivedBody(memory: request.isWhole ? .max : Self.bufferSize, excess)
        super.init()
        body.onSignal { [weak self] in self?.follow($0) }
    }

    /// Watches the time limits of the request and its session.
    ///
    /// - Parameters:
    ///   - whole: The session's limit for the whole attempt.
    ///   - silence: The session's limit for silence; `nil` if Foundation watches it.
    func watch(whole: Duration? = nil, silence: Duration? = nil) {
        var limits = request.timeLimits
        limits.whole = [limits.whole, whole].compactMap { $0 }.min()
        limits.silence = limits.silence ?? silence
        body.limit(to: request.conditions.responseLimit)
        body.watch(limits, of: request)
    }

    /// Starts a task, unless the exchange is over.
    ///
    /// - Returns: Whether there is a task. The session's delegate will be told when the task ends.
    @discardableResult
    func begin(_ makeTask: () -> URLSessionTask) -> Bool {
        guard !isOver else { return false }
        let task = makeTask()
        state.withLock { $0.task = task }
        // A session never releases a task that was neither resumed nor cancelled.
        if isOver { task.cancel() } else { task.resume() }
        return true
    }

    private var isOver: Bool { state.withLock { $0.isOver } }
    var task: URLSessionTask? { state.withLock { $0.task } }
    /// The head of the response.
    ///
    /// On Linux, Foundation also sets the task's response for an interim one, which is not the response.
    var head: HTTPURLResponse? {
        let head = state.withLock { $0.head ?? $0.task?.response } as? HTTPURLResponse
        return head?.isInterim == true ? nil : head
    }
    var isFromCache: Bool { state.withLock { $0.isFromCache } }

    /// Waits until the head of the response has arrived, or its whole body if the caller wants that.
    ///
    /// - Throws: The error that has ended the exchange before.
    func waitForHead() async throws {
        try await begun.value { self.body.cancel() }
        if head == nil { try body.checkResult() }
    }

    /// Ends the exchange with what has arrived.
    func finish() {
        body.finish()
        follow(.cancel)
    }

    private func follow(_ signal: ReceivedBody.Signal) {
        switch signal {
        case .pause: task?.suspend()
        case .resume: task?.resume()
        case .cancel:
            let task = state.withLock { state in
                state.isOver = true
                return state.task
            }
            begun.resolve(.success(()))
            if let task { cancel(task) }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if (response as? HTTPURLResponse)?.isInterim == true {
            body.touch()
            return completionHandler(.allow)
        }
        body.restart()
        state.set(\.head, response)
        if !request.isWhole {
            body.didPassHead()
            begun.resolve(.success(()))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { body.receive(data) }

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
            body.fail(error)
            completionHandler(nil)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let failure = error?.transportFailure(of: request, hasHead: head != nil)
        body.finish(failure.map { .failure($0) } ?? .success(()))
        state.withLock { $0.isOver = true }
        begun.resolve(.success(()))
    }

    #if canImport(FoundationNetworking)
    func refuseRedirect(_ completionHandler: (URLRequest?) -> Void) {
        state.withLock { state in
            if !state.isOver { completionHandler(nil) }
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
        connection.set(\.self, metrics.transactionMetrics.last.map { CallEvent.Connection($0) })
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

extension HTTPURLResponse {
    /// Whether the response itself is still to come (RFC 9110 §15.2).
    fileprivate var isInterim: Bool { 100...199 ~= statusCode && statusCode != 101 }
}
