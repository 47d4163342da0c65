#if canImport(FoundationNetworking)

/// Runs callbacks immediately, on the session's own serial queue.
///
/// A callback waits only when 4 MB wait to be written (``Overflow``). A real queue would need a change of threads for
/// each callback. It also has no size limit: a fast server would fill it with a gigabyte of data before a cancelled
/// transfer stops. `@unchecked` only repeats the declaration of `OperationQueue`.
final class ImmediateQueue: OperationQueue, @unchecked Sendable {
    static let shared = ImmediateQueue()

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        block()
    }
}

/// The delegate of a shadow session, which passes each callback to the exchange of the task.
final class SessionDelegate: NSObject, URLSessionDataDelegate {
    /// The exchanges by task; each one keeps the caller's session alive.
    private let exchanges = Locked<[Int: Exchange]>([:])
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: Called when a task has ended.
    init(onEnd: @escaping @Sendable () -> Void = {}) {
        self.onEnd = onEnd
    }

    func connect(_ task: URLSessionTask, to exchange: Exchange) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?
            .urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        exchange(of: task)?.refuseRedirect(completionHandler)
    }

    /// libcurl calls this before it sends a request again because a reused connection was closed.
    ///
    /// The server may have processed the first request, so the call decides. libcurl receives a stream that fails:
    /// without any stream it would send the head only and wait for a response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // Foundation also calls this for every task without a body.
        guard let exchange = exchange(of: task), exchange.request.urlRequest.bodyLength != nil else {
            return completionHandler(nil)
        }
        exchange.body.fail(URLError(Transport.LostConnection(), of: exchange.request.urlRequest))
        completionHandler(BodyStream(InputStream(data: Data()), length: 1) { _ in })
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        exchange.urlSession(session, task: task, didCompleteWithError: error)
        onEnd()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let exchange = exchange(of: task) else { return }
        exchange.body.touch()
        let request = exchange.request
        // Foundation does not know the length of a stream.
        let length = request.urlRequest.bodyLength ?? totalBytesExpectedToSend
        request.conditions.progress?.sent(totalBytesSent, of: length)
        guard let delegate = request.conditions.taskDelegate ?? request.session.delegate as? any URLSessionTaskDelegate
        else { return }
        request.session.delegateQueue.addOperation {
            delegate.urlSession(
                request.session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: length)
        }
    }

    // The 401 and its body have arrived and are the response. Foundation would wait for credentials without a limit,
    // and it crashes on credentials that it cannot use.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        exchange(of: task)?.finish()
    }
}

extension Transport.Request {
    fileprivate var isSentAgain: Bool { urlRequest.hasIdempotentMethod && body != nil }
}

extension Error {
    /// Parts of libcurl's texts about a body that is not encoded as its fields say.
    ///
    /// The delegate never fails to write. So libcurl fails to do so only if it has decoded all, and more bytes arrive.
    private static var decoding: [String] {
        ["content unencoding", "content encoding type", "bad HTTP Content", "Failed writing received data"]
    }

    /// How libcurl's texts begin about a connection that breaks off.
    private static var breaks: [String] { ["Send failure", "Recv failure", "transfer closed"] }

    /// Parts of OpenSSL's texts about the same, also in a handshake; the others are not transient.
    ///
    /// The last one is the text of OpenSSL 1.1.1 for an end without a cause.
    private static var breaksOfTLS: [String] {
        ["unexpected eof", "Connection reset", "Broken pipe", "SSL_ERROR_SYSCALL"]
    }

    /// The same failure with the code that Apple platforms have for it.
    ///
    /// Foundation on Linux has one code for most errors of libcurl, and wrong codes for some. Only libcurl's text
    /// distinguishes them. An error of a custom `URLProtocol` has no such text and is not changed.
    ///
    /// - Parameters:
    ///   - request: What was sent. libcurl does not tell of a connection that broke off while the body was sent, and
    ///     had been kept. A redirect may have been on its way.
    ///   - hasHead: Whether the head of a response had arrived.
    func transportFailure(of request: Transport.Request, hasHead: Bool) -> any Error {
        guard let error = self as? URLError,
            let words = (error.errorUserInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription
        else { return self }
        let tlsBrokeOff = words.contains("SSL_") && Self.breaksOfTLS.contains(where: words.contains)
        let couldNotSend = words.hasPrefix("Send failure") || tlsBrokeOff && words.contains("SSL_write")
        let code: URLError.Code
        switch error.code {
        case .badServerResponse where words.hasPrefix("Empty reply"): code = .networkConnectionLost
        // The response is not HTTP, or has an unknown version of HTTP. The scheme of the URL was supported.
        case .unsupportedURL: code = .cannotParseResponse
        case .unknown where words.hasPrefix("Failed to connect"): code = .cannotConnectToHost
        case .unknown where !hasHead && couldNotSend && request.isSentAgain:
            return URLError(Transport.LostConnection(underlyingError: error, brokeOff: true), of: request.urlRequest)
        // A redirect whose body breaks off has no head: Foundation tells of it when its body has ended.
        case .unknown where Self.breaks.contains(where: words.hasPrefix): code = .networkConnectionLost
        case .unknown where tlsBrokeOff: code = .networkConnectionLost
        case .unknown where words.contains("certificate"): code = .serverCertificateUntrusted
        case .unknown where words.contains("SSL"): code = .secureConnectionFailed
        case .unknown where Self.decoding.contains(where: words.contains): code = .cannotDecodeContentData
        case .unknown: code = hasHead ? .networkConnectionLost : .cannotParseResponse
        default: return self
        }
        return URLError(code, userInfo: error.errorUserInfo)
    }
}

#endif
