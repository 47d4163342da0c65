// The differences between the platforms, except the shadow sessions of Linux.

#if canImport(FoundationNetworking)

extension URLSessionTransport {
    static func check(_ request: URLRequest) throws(RequestError) {
        guard request.url?.host(percentEncoded: true)?.utf8.contains(UInt8(ascii: ":")) == true else { return }
        let reason = "the URL has an IPv6 address, which Foundation on Linux does not request; use a name or an IPv4 "
        throw RequestError(.invalidURL, reason: reason + "address, or Transport.asyncHTTPClient", request: request)
    }
}

extension Transport.Request {
    /// The delegate that receives the callbacks of a task.
    var callerDelegate: (any URLSessionTaskDelegate)? {
        call.config.taskDelegate ?? session.delegate as? any URLSessionTaskDelegate
    }
}

extension Exchange {
    /// The credential for the server's challenge, from the caller's delegate or the session's storage.
    ///
    /// - Parameter refusals: The number of credentials that were refused before.
    /// - Throws: `URLError` with code `.cancelled` if the delegate cancels the challenge.
    func credential(after refusals: Int) async throws -> URLCredential? {
        guard let task, let challenge, let sender = challenge.sender,
            challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
        else { return nil }
        let stored = request.session.configuration.urlCredentialStorage?
            .credential(for: challenge.protectionSpace)
        let proposed = refusals == 0 ? challenge.proposedCredential ?? stored : nil
        guard let delegate = request.callerDelegate else { return proposed }
        let challenged = URLAuthenticationChallenge(
            protectionSpace: challenge.protectionSpace, proposedCredential: proposed, previousFailureCount: refusals,
            failureResponse: challenge.failureResponse, error: nil, sender: sender)
        let decision: (URLSession.AuthChallengeDisposition, URLCredential?) =
            try await asked(for: request.urlRequest) { [request] decide in
                delegate.urlSession(request.session, task: task, didReceive: challenged) { decide(($0, $1)) }
            }
        switch decision {
        case (.useCredential, let credential): return credential
        case (.performDefaultHandling, _): return proposed
        case (.cancelAuthenticationChallenge, _): throw URLError(.cancelled)
        default: return nil
        }
    }

    /// Waits until Foundation reports a challenge; before that, it reads the whole body of the refusal.
    func waitForChallenge(_ head: HTTPURLResponse) async {
        guard head.statusCode == 401, let field = head.value(forHTTPHeaderField: "WWW-Authenticate"),
            field.lowercased().contains("basic"),
            request.callerDelegate != nil || request.session.configuration.urlCredentialStorage != nil
        else { return }
        let limit = Duration.seconds(10)
        await withTimeLimit(limit, request.call.config.clock) {
            self.finish(throwing: URLError(timedOut: head.url, after: limit))
        } operation: {
            await waitForEnd()
        }
    }

    func redirected(
        by head: HTTPURLResponse, to next: URLRequest, decide: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let task, let delegate = request.callerDelegate else { return decide(next) }
        delegate.urlSession(
            request.session, task: task, willPerformHTTPRedirection: head, newRequest: next, completionHandler: decide)
    }

    func newBodyStream(_ give: @escaping @Sendable (InputStream?) -> Void) {
        guard let task, let delegate = request.callerDelegate else { return give(nil) }
        delegate.urlSession(request.session, task: task, needNewBodyStream: give)
    }
}

extension URLCredentialStorage {
    /// Compares the properties of protection spaces: Foundation compares identities, and each challenge has a new one.
    fileprivate func credential(for space: URLProtectionSpace) -> URLCredential? {
        let scheme = space.protocol == "https" ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP
        let methods = [space.authenticationMethod, NSURLAuthenticationMethodDefault]
        let stored = allCredentials.keys.first { stored in
            (stored.host.lowercased(), stored.port, stored.realm) == (space.host.lowercased(), space.port, space.realm)
                && [space.protocol, scheme].contains(stored.protocol) && !stored.isProxy()
                && methods.contains(stored.authenticationMethod)
        }
        return stored.flatMap { defaultCredential(for: $0) }
    }
}

extension TimeInterval {
    /// A time limit that is valid for Foundation; `nil` for none.
    ///
    /// Foundation rounds down to whole seconds, so half a second expires immediately. It crashes for invalid limits,
    /// such as infinity. The library's own limits are exact.
    var forFoundation: TimeInterval? {
        Duration(timeoutInterval: self)?.timeoutInterval?.rounded(.up)
    }
}

#else

extension URLSessionTransport {
    static func check(_ request: URLRequest) throws(RequestError) {}
}

/// The caller's session: Apple platforms need no shadow.
struct ShadowSession: Sendable {
    /// The bytes of a body that may arrive before a slow reader reads them; then the task is suspended.
    static let bufferSize = 1 << 20
    static let canPause = true

    let resourceLimit: Duration? = nil

    static func of(_ session: URLSession) -> Self { Self() }
    static func cancel(_ task: URLSessionTask, of exchange: Exchange) { task.cancel() }

    func begin(_ exchange: Exchange) {
        let request = exchange.request
        var urlRequest = request.urlRequest
        // A copy, as the documentation of the property says.
        let configuration = request.session.configuration
        // Setting a task's delegate raises an exception in a background session.
        guard configuration.identifier == nil else {
            let reason = "a background session is not supported; use another session"
            return exchange.finish(throwing: RequestError(.invalidRequest, reason: reason, request: urlRequest))
        }
        // Foundation would turn an infinite time into a date in the past.
        let limit = Duration(timeoutInterval: urlRequest.timeoutInterval)?.timeoutInterval ?? 60
        if limit != urlRequest.timeoutInterval { urlRequest.timeoutInterval = limit }
        request.call.config.redaction.known.add(urlRequest)
        // At another origin, a session without the credentials sends this request and no other.
        guard !request.allowsSessionCredentials, configuration.removeCredentials(request.call.config.redaction) else {
            exchange.begin {
                // An invalidated session raises an exception here. Swift cannot catch it, and no property shows it.
                let task = request.session.dataTask(with: urlRequest)
                task.delegate = exchange
                return task
            }
            return
        }
        let once = URLSession(
            configuration: configuration, delegate: exchange, delegateQueue: request.session.delegateQueue)
        exchange.begin { once.dataTask(with: urlRequest) }
        // The session lives until its task has ended, and keeps its delegate as long.
        once.finishTasksAndInvalidate()
    }

    func received(_ response: HTTPURLResponse, to request: URLRequest) {}
}

extension Exchange {
    /// The caller's delegates, the one for the task first.
    var callerDelegates: [any URLSessionDelegate] {
        let delegates: [(any URLSessionDelegate)?] = [request.call.config.taskDelegate, request.session.delegate]
        return delegates.compactMap { $0 }
    }

    func waitForChallenge(_ head: HTTPURLResponse) async {}

    // Foundation asks for credentials itself.
    func credential(after refusals: Int) async throws -> URLCredential? { nil }

    /// Calls an optional method of the first delegate that implements it; the call returns `nil` if it is missing.
    func isAsked(_ ask: (_ delegate: any URLSessionTaskDelegate, _ task: URLSessionTask) -> Void?) -> Bool {
        guard let task else { return false }
        return callerDelegates.contains { ($0 as? any URLSessionTaskDelegate).flatMap { ask($0, task) } != nil }
    }

    func redirected(
        by head: HTTPURLResponse, to next: URLRequest, decide: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let decides = isAsked {
            $0.urlSession?(
                request.session, task: $1, willPerformHTTPRedirection: head, newRequest: next,
                completionHandler: decide)
        }
        if !decides { decide(next) }
    }

    func newBodyStream(_ give: @escaping @Sendable (InputStream?) -> Void) {
        let gives = isAsked { $0.urlSession?(request.session, task: $1, needNewBodyStream: give) }
        if !gives { give(nil) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        request.call.progress?.sent(totalBytesSent, of: request.urlRequest.bodyLength ?? totalBytesExpectedToSend)
        // Opening the body of an upload again throws if its file has another size now.
        if let length = request.urlRequest.declaredLength, totalBytesSent >= length {
            do { _ = try request.replacement?.opened() } catch { finish(throwing: error) }
        }
        _ = isAsked {
            $0.urlSession?(
                session, task: $1, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }
    }
}

extension Error {
    func transportFailure(hasHead: Bool) -> any Error { self }
}

#endif
