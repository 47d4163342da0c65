// The two platforms side by side: all that differs between them, but for the engine, which is for Linux only.

#if canImport(FoundationNetworking)

extension Wire {
    /// Who hears of what happens to a task.
    var caller: (any URLSessionTaskDelegate)? { delegate }

    /// A task of the session's engine.
    func task(for request: URLRequest, _ credential: URLCredential?, _ exchange: Exchange) -> URLSessionTask {
        var request = request
        let limit = request.timeoutInterval.forFoundation ?? 60
        if limit != request.timeoutInterval { request.timeoutInterval = limit }
        // Of data Foundation cannot go back to the beginning, of a stream it can.
        if let body = request.httpBody, !body.isEmpty {
            request.httpBodyStream = InputStream(data: body)
            request.setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
        }
        // It sends a stream in chunks, even if its length is given, and so two framings (RFC 9112 §6.3). A field that is blank
        // is what tells libcurl to leave it out.
        if request.value(forHTTPHeaderField: "Content-Length") != nil {
            request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        }
        let engine = Engine.of(session)
        engine.cookies.add(to: &request)
        if let credential {
            let text = "\(credential.user ?? ""):\(credential.password ?? "")"
            request.setValue("Basic \(Data(text.utf8).base64EncodedString())", forHTTPHeaderField: "Authorization")
        }
        return engine.task(for: request, of: session, exchange)
    }

    /// An answer has come.
    func received(_ response: HTTPURLResponse, to request: URLRequest) {
        Engine.of(session).cookies.store(response, to: request)
    }

    /// The time for one sending, by our own clock.
    func timeLimit(of request: URLRequest) -> Duration? {
        let limit = request.ownTimeLimit
        guard let whole = Engine.of(session).resourceLimit else { return limit }
        return min(whole, limit ?? whole)
    }

    /// The credential that a refused task is to be tried again with, from the caller's delegate or the session's storage.
    ///
    /// - Parameter refusals: How many there were before.
    /// - Throws: `URLError` with code `.cancelled` if the delegate wants no answer.
    func credential(for exchange: Exchange, after refusals: Int) async throws -> URLCredential? {
        guard let (challenge, task) = exchange.challenge, let sender = challenge.sender,
            challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
        else { return nil }
        let stored = session.configuration.urlCredentialStorage?.credential(for: challenge.protectionSpace)
        let proposed = refusals == 0 ? challenge.proposedCredential ?? stored : nil
        guard let delegate else { return proposed }
        let asked = URLAuthenticationChallenge(
            protectionSpace: challenge.protectionSpace, proposedCredential: proposed, previousFailureCount: refusals,
            failureResponse: challenge.failureResponse, error: nil, sender: sender)
        let decision = Promise<(URLSession.AuthChallengeDisposition, URLCredential?)>()
        session.delegateQueue.addOperation {
            delegate.urlSession(session, task: task, didReceive: asked) { decision.keep(.success(($0, $1))) }
        }
        switch try await decision.value() {
        case (.useCredential, let credential): return credential
        case (.performDefaultHandling, _): return proposed
        case (.cancelAuthenticationChallenge, _): throw URLError(.cancelled)
        default: return nil
        }
    }
}

extension URLCredentialStorage {
    /// The credential for a protection space, by what it says: Foundation looks for the very object, which is in no challenge.
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
    /// A time limit as Foundation may have it: `nil` for one that limits nothing.
    ///
    /// It cuts them to whole seconds, so that one of half a second is over at once, and ends the process for one without sense,
    /// such as infinity. Our own clock is the exact one, so the room that rounding gives does no harm.
    var forFoundation: TimeInterval? {
        Duration(timeoutInterval: self)?.timeoutInterval?.rounded(.up)
    }
}

#else

extension Wire {
    // What the task's delegate does not hear, the session's hears by itself.
    var caller: (any URLSessionTaskDelegate)? { taskDelegate }

    func task(for request: URLRequest, _ credential: URLCredential?, _ exchange: Exchange) -> URLSessionTask {
        let task = session.dataTask(with: request)
        task.delegate = exchange
        return task
    }

    func timeLimit(of request: URLRequest) -> Duration? { request.ownTimeLimit }

    func received(_ response: HTTPURLResponse, to request: URLRequest) {}

    // Foundation asks for credentials itself.
    func credential(for exchange: Exchange, after refusals: Int) async throws -> URLCredential? { nil }
}

extension Error {
    func transportFailure(hasHead: Bool) -> any Error { self }
}

#endif

extension Wire {
    /// Who is asked about redirects and body streams.
    var delegate: (any URLSessionTaskDelegate)? {
        taskDelegate ?? session.delegate as? any URLSessionTaskDelegate
    }

    /// What the caller's delegate says to a redirect.
    ///
    /// - Parameters:
    ///   - answer: The redirect.
    ///   - next: The request that would follow it.
    /// - Returns: The request to send; `nil` if the redirect is the answer.
    func redirection(_ answer: Answer, to next: URLRequest) async throws -> URLRequest? {
        guard let delegate else { return next }
        let decision = Promise<URLRequest?>()
        session.delegateQueue.addOperation {
            delegate.redirected(session, answer, next) { decision.keep(.success($0)) }
        }
        return try await decision.value()
    }

    /// A request that can be sent once more: one with a stream needs another stream, from the caller's delegate.
    ///
    /// - Returns: `nil` if there is none.
    func repeatable(_ request: URLRequest, after answer: Answer) async throws -> URLRequest? {
        guard request.httpBodyStream != nil else { return request }
        guard let delegate else { return nil }
        let decision = Promise<URLRequest?>()
        session.delegateQueue.addOperation {
            delegate.needsStream(session, answer) { stream in
                var again = request
                again.httpBodyStream = stream
                decision.keep(.success(stream.map { _ in again }))
            }
        }
        return try await decision.value()
    }
}

extension URLSessionTaskDelegate {
    #if canImport(FoundationNetworking)
    fileprivate func redirected(
        _ session: URLSession, _ answer: Wire.Answer, _ next: URLRequest,
        decide: @escaping @Sendable (URLRequest?) -> Void
    ) {
        urlSession(
            session, task: answer.task, willPerformHTTPRedirection: answer.head, newRequest: next,
            completionHandler: decide)
    }

    fileprivate func needsStream(
        _ session: URLSession, _ answer: Wire.Answer, give: @escaping @Sendable (InputStream?) -> Void
    ) {
        urlSession(session, task: answer.task, needNewBodyStream: give)
    }
    #else
    // Both are optional: nil means that the delegate does not have it.
    fileprivate func redirected(
        _ session: URLSession, _ answer: Wire.Answer, _ next: URLRequest,
        decide: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let asked: Void? = urlSession?(
            session, task: answer.task, willPerformHTTPRedirection: answer.head, newRequest: next,
            completionHandler: decide)
        if asked == nil { decide(next) }
    }

    fileprivate func needsStream(
        _ session: URLSession, _ answer: Wire.Answer, give: @escaping @Sendable (InputStream?) -> Void
    ) {
        let asked: Void? = urlSession?(session, task: answer.task, needNewBodyStream: give)
        if asked == nil { give(nil) }
    }
    #endif
}

extension URLRequest {
    /// The time for one attempt, if somebody has chosen one: Foundation's own minute is one without a byte, and its own to
    /// measure.
    fileprivate var ownTimeLimit: Duration? {
        timeoutInterval == 60 ? nil : Duration(timeoutInterval: timeoutInterval)
    }
}
