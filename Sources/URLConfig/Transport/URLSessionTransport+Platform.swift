// The two platforms side by side: all that differs between them, but for the shadow of Linux.

#if canImport(FoundationNetworking)

extension URLSessionTransport {
    /// Who is asked and told about a task.
    var caller: (any URLSessionTaskDelegate)? { taskDelegate ?? session.delegate as? any URLSessionTaskDelegate }

    /// The credential that a refused request is to be tried again with, from the caller's delegate or the session's
    /// storage.
    ///
    /// - Parameter refusals: How many there were before.
    /// - Throws: `URLError` with code `.cancelled` if the delegate wants no response.
    func credential(for answer: Answer, after refusals: Int) async throws -> URLCredential? {
        guard let challenge = answer.challenge, let sender = challenge.sender,
            challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
        else { return nil }
        let stored = session.configuration.urlCredentialStorage?.credential(for: challenge.protectionSpace)
        let proposed = refusals == 0 ? challenge.proposedCredential ?? stored : nil
        guard let caller else { return proposed }
        let challenged = URLAuthenticationChallenge(
            protectionSpace: challenge.protectionSpace, proposedCredential: proposed, previousFailureCount: refusals,
            failureResponse: challenge.failureResponse, error: nil, sender: sender)
        let decision: (URLSession.AuthChallengeDisposition, URLCredential?) =
            try await asked(for: answer.response.request) { [session] decide in
                caller.urlSession(session, task: answer.task, didReceive: challenged) { decide(($0, $1)) }
            }
        switch decision {
        case (.useCredential, let credential): return credential
        case (.performDefaultHandling, _): return proposed
        case (.cancelAuthenticationChallenge, _): throw URLError(.cancelled)
        default: return nil
        }
    }

    private func redirected(
        _ answer: Answer, _ next: URLRequest, decide: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let caller else { return decide(next) }
        caller.urlSession(
            session, task: answer.task, willPerformHTTPRedirection: answer.head, newRequest: next,
            completionHandler: decide)
    }

    private func needsStream(_ task: URLSessionTask, give: @escaping @Sendable (InputStream?) -> Void) {
        guard let caller else { return give(nil) }
        caller.urlSession(session, task: task, needNewBodyStream: give)
    }
}

extension URLCredentialStorage {
    /// The credential for a protection space, by what it says: Foundation looks for the very object, which is in no
    /// challenge.
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
    /// It cuts them to whole seconds, so that one of half a second is over at once, and crashes for an invalid one,
    /// such as infinity. Our own clock is the exact one, so the room that rounding gives does no harm.
    var forFoundation: TimeInterval? {
        Duration(timeoutInterval: self)?.timeoutInterval?.rounded(.up)
    }
}

#else

/// The caller's own session, which needs none of ours.
struct ShadowSession: Sendable {
    static func of(_ session: URLSession) -> Self { Self() }
    static func cancel(_ task: URLSessionTask, of exchange: Exchange) { task.cancel() }

    func timeLimit(of request: URLRequest) -> Duration? { request.ownTimeLimit }

    func begin(
        _ exchange: Exchange, for request: URLRequest, _ credential: URLCredential?, of session: URLSession,
        _ redaction: Redaction?
    ) {
        // Foundation raises an exception for a task's own delegate there.
        guard session.configuration.identifier == nil else {
            let reason = "a background session cannot be used here; use another session"
            return exchange.finish(
                throwing: RequestError(.unsupportedSession, stage: .executing, reason: reason, request: request))
        }
        var request = request
        // An infinite time would become a date that has passed.
        let limit = Duration(timeoutInterval: request.timeoutInterval)?.timeoutInterval ?? 60
        if limit != request.timeoutInterval { request.timeoutInterval = limit }
        if let redaction { request.blankCredentials(of: session.configuration, redaction) }
        exchange.begin {
            // An invalidated session raises an exception here, which Swift cannot catch and no property foretells.
            let task = session.dataTask(with: request)
            task.delegate = exchange
            return task
        }
    }

    func received(_ response: HTTPURLResponse, to request: URLRequest) {}
}

extension URLSessionTransport {
    // What the task's delegate does not implement goes to the session's by itself.
    var caller: (any URLSessionTaskDelegate)? { taskDelegate }

    // Foundation asks for credentials itself.
    func credential(for answer: Answer, after refusals: Int) async throws -> URLCredential? { nil }

    private var sessionDelegate: (any URLSessionTaskDelegate)? { session.delegate as? any URLSessionTaskDelegate }

    // Each method is optional, and nil means that the delegate does not have it: then it is the other one's.
    private func redirected(
        _ answer: Answer, _ next: URLRequest, decide: @escaping @Sendable (URLRequest?) -> Void
    ) {
        taskDelegate?.urlSession?(
            session, task: answer.task, willPerformHTTPRedirection: answer.head, newRequest: next,
            completionHandler: decide)
            ?? sessionDelegate?.urlSession?(
                session, task: answer.task, willPerformHTTPRedirection: answer.head, newRequest: next,
                completionHandler: decide)
            ?? decide(next)
    }

    private func needsStream(_ task: URLSessionTask, give: @escaping @Sendable (InputStream?) -> Void) {
        taskDelegate?.urlSession?(session, task: task, needNewBodyStream: give)
            ?? sessionDelegate?.urlSession?(session, task: task, needNewBodyStream: give)
            ?? give(nil)
    }
}

extension URLRequest {
    /// Blanks the credentials that a session's configuration would put on this request.
    ///
    /// A field of the request comes before one of the configuration. That a blank one does, too, follows from the
    /// documentation of `httpAdditionalHeaders`, and has not been tried.
    fileprivate mutating func blankCredentials(of configuration: URLSessionConfiguration, _ redaction: Redaction) {
        for case let name as String in (configuration.httpAdditionalHeaders ?? [:]).keys
        where redaction.isCredential(name) && value(forHTTPHeaderField: name) == nil {
            setValue("", forHTTPHeaderField: name)
        }
    }
}

extension Error {
    func transportFailure(hasHead: Bool) -> any Error { self }
}

#endif

extension URLSessionTransport {
    /// What the caller's delegate says to a redirect.
    ///
    /// - Parameters:
    ///   - answer: The redirect.
    ///   - next: The request that would follow it.
    /// - Returns: The request to send; `nil` if the redirect is the response.
    func redirection(_ answer: Answer, to next: URLRequest) async throws -> URLRequest? {
        guard taskDelegate != nil || session.delegate != nil else { return next }
        return try await asked(for: next) { redirected(answer, next, decide: $0) }
    }

    /// A request that can be sent once more: one with a stream needs another stream, from the caller's delegate.
    ///
    /// - Parameter task: The task that sent it.
    /// - Returns: `nil` if there is none.
    func repeatable(_ request: URLRequest, after task: URLSessionTask) async throws -> URLRequest? {
        guard request.httpBodyStream != nil else { return request }
        return try await asked(for: request) { decide in
            needsStream(task) { stream in
                var again = request
                again.httpBodyStream = stream
                decide(stream.map { _ in again })
            }
        }
    }
}
