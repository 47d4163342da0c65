#if canImport(FoundationNetworking)

/// Runs callbacks where they arise, on the session's own queue, which is serial.
///
/// A queue of their own costs a switch of threads for each, and has no bound: a fast server fills it with a gigabyte of
/// data before a transfer that was cancelled stops. So no callback may wait for anything.
///
/// `@unchecked` only restates what `OperationQueue` is already: there is nothing here that could be shared.
private final class ImmediateQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        block()
    }
}

extension OperationQueue {
    /// Runs callbacks where they arise.
    static let immediate: OperationQueue = ImmediateQueue()
}

/// The delegate of a shadow session: hands each callback to the exchange whose task it is.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    private struct Route {
        let exchange: Exchange
        /// Held so that a session lives as long as the tasks that were begun on it.
        let user: URLSession
    }

    private let routes = Locked<[Int: Route]>([:])
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: Called when a task has ended.
    init(onEnd: @escaping @Sendable () -> Void = {}) {
        self.onEnd = onEnd
    }

    func connect(_ task: URLSessionTask, to exchange: Exchange, of user: URLSession) {
        routes.withLock { $0[task.taskIdentifier] = Route(exchange: exchange, user: user) }
    }

    private func route(of task: URLSessionTask) -> Route? {
        routes.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        route(of: dataTask)?.exchange
            .urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        route(of: dataTask)?.exchange.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        route(of: task)?.exchange.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }

    /// libcurl is about to send a request once more, because a connection that it kept turned out to be closed.
    ///
    /// The server may have read all of the first one, so whether it is sent again is for the send loop to say.
    ///
    /// Without any stream libcurl would send the head alone, and wait for a response until the time is up: it gets one
    /// that fails.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // Foundation asks for every task that has no body, too.
        guard let exchange = route(of: task)?.exchange, exchange.bodyLength != nil else {
            return completionHandler(nil)
        }
        exchange.finish(throwing: LostConnection())
        completionHandler(BodyStream(InputStream(data: Data()), length: 1, exchange))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let route = routes.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        guard let route else { return }
        route.exchange.urlSession(session, task: task, didCompleteWithError: error)
        onEnd()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let route = route(of: task) else { return }
        route.exchange.move()
        guard let delegate = route.exchange.callerDelegate else { return }
        route.user.delegateQueue.addOperation {
            delegate.urlSession(
                route.user, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                // Foundation knows of no length of a stream.
                totalBytesExpectedToSend: route.exchange.bodyLength ?? totalBytesExpectedToSend)
        }
    }

    /// The refusal and its body have arrived by now, and are the response: Foundation would wait for credentials, for
    /// ever, and crashes for those that it cannot use.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        route(of: task)?.exchange.finish(challenge)
    }
}

#endif
