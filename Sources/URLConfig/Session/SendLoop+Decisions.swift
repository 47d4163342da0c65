/// Whether another request follows a response or a failure. Each function changes the hop and returns `true` if so.
extension SendLoop {
    /// The maximum number of responses to challenges of one URL, because a delegate may have only wrong credentials.
    private static let mostChallenges = 2

    /// Only a request with an idempotent method is sent again after a lost connection, once (RFC 9112 §9.3.1).
    func repeated(_ hop: inout Hop, _ sent: URLRequest, after lost: Transport.LostConnection?) async throws
        -> Bool
    {
        guard let lost, !hop.isRepeated, sent.hasIdempotentMethod, !Task.isCancelled,
            let request = try await lost.exchange.repeatable(hop.request)
        else { return false }
        note(hop, "again on a new connection")
        (hop.request, hop.isRepeated) = (request, true)
        return true
    }

    /// Responds to a challenge, unless the request already has an `Authorization`.
    func challenged(_ hop: inout Hop, _ outcome: Outcome) async throws -> Bool {
        guard case .success(let received) = outcome, hop.challenges < Self.mostChallenges,
            received.response.request.value(forHTTPHeaderField: "Authorization") == nil,
            let credential = try await received.exchange?.credential(after: hop.challenges),
            let request = try await received.exchange.repeatable(hop.request)
        else { return false }
        try Task.checkCancellation()
        note(hop, "with credentials for the server's challenge")
        hop.request = request
        // A transport may have sent the request to another origin.
        hop.credential = (credential, Origin(received.response.url))
        hop.challenges += 1
        return true
    }

    func redirected(_ hop: inout Hop, _ outcome: Outcome) async throws -> Bool {
        var redirected = hop.request
        // So that the policy and the delegates see that there is a body, and can remove it.
        if hop.body != nil { redirected.httpBodyStream = InputStream(data: Data()) }
        guard case .success(let received) = outcome,
            let proposed = try call.config.redirects.next(
                after: received.response, to: redirected, call.config.redaction),
            let next = try await received.exchange.redirection(to: proposed)
        else { return false }
        let response = received.response
        guard hop.redirects < RedirectPolicy.most else {
            throw RequestError.refusedRedirect("a call follows at most \(RedirectPolicy.most)", response)
        }
        var safe = next.keepingCredentials(for: proposed, call.config.redaction)
        let keepsBody = hop.body != nil && safe.httpBodyStream != nil && safe.httpBody == nil
        if keepsBody { safe.httpBodyStream = nil }
        guard let request = try await received.exchange.repeatable(safe)
        else { throw URLError(.requestBodyStreamExhausted) }
        try Task.checkCancellation()
        do {
            try transport.check(request)
        } catch {
            throw RequestError.refusedRedirect(error.reason, response)
        }
        known.add(request)
        note(hop, "to ", request.url)
        hop.isForeign = hop.isForeign || Origin(request.url) != Origin(hop.request.url)
        if !keepsBody { hop.body = nil }
        hop.request = request
        hop.redirects += 1
        (hop.credential, hop.challenges, hop.isRepeated) = (nil, 0, false)
        return true
    }

    func reauthorized(_ hop: inout Hop, _ outcome: Outcome) async throws -> Bool {
        guard case .success(let received) = outcome, call.config.throwsUnauthorized, !hop.isForeign,
            call.config.isUnauthorized(received.response)
        else { return false }
        var response = received.response
        response.requestAsMade = hop.request
        var reason = "the server refused the credentials" + (hop.hasNewCredentials ? ", and the new ones too" : "")
        // A renewal may need the connection, and the body of a stream may not end.
        if !hop.hasNewCredentials, call.config.authenticator != nil { received.endBody() }
        if !hop.hasNewCredentials, let authenticator = call.config.authenticator,
            try await WorkScope.of(authenticator.object, { try await authenticator.reauthorize(after: response) })
        {
            try Task.checkCancellation()
            if let request = try await received.exchange.repeatable(hop.request) {
                note(hop, "credentials refreshed")
                (hop.request, hop.hasNewCredentials) = (request, true)
                return true
            }
            // The next call uses the new credentials, so the user must not be signed out.
            reason += "; there are new credentials, but the body stream cannot be sent again"
        } else {
            try Task.checkCancellation()
            response.data = try await received.withContentOfFailure(call.config.clock).response.data
            let refusal = await (call.config.authenticator as? TokenAuthenticator)?.explanation(of: response)
            if hop.challenges == 0, !session.addsAuthorization {
                if call.config.authenticator == nil, hop.request.value(forHTTPHeaderField: "Authorization") == nil {
                    reason = "the request has no Authorization, and the call has no authenticator"
                }
                reason = refusal?.reason ?? reason
            }
            if refusal?.isFirstRefusal ?? true, let onUnauthorized = call.config.onUnauthorized {
                try await WorkScope.of(Self.closures) { await onUnauthorized(response) }
            }
        }
        throw RequestError(.unauthorized, reason: reason, response: response)
    }

    /// - Parameter sent: The request after it was authorized: an authenticator may have changed its method.
    func retried(_ hop: inout Hop, _ sent: URLRequest, _ outcome: Outcome) async throws -> Bool {
        let retry = call.config.retry
        // Most calls end here.
        guard hop.attempts < retry.attempts else { return false }
        guard !Task.isCancelled, hop.request.httpBodyStream == nil, sent.isRepeatable,
            let (delay, reason) = retry.delay(
                after: hop.attempts, of: hop.request, outcome.map(\.response), now: Date(),
                remaining: call.config.deadline.map { $0.clamped - call.elapsed() }, jitter: .random(in: 0...1))
        else { return false }
        guard !retry.isBudgeted || retry.budget.spend(hop.host) else {
            note(hop, "not retried: the retry budget is spent")
            return false
        }
        note(hop, reason)
        hop.attempts += 1
        if case .success(let received) = outcome { received.endBody() }
        try await call.config.clock.sleep(for: delay)
        return true
    }

    /// Adds to the last attempt the time that its body took, and the error if it has broken off.
    func endBody(after duration: Duration, _ error: (any Error)? = nil) {
        timeline.changeLast { attempt in
            attempt.duration += duration
            attempt.error = error
        }
    }

    /// All attempts of the call until now.
    var attempts: [Attempt] { timeline.all }
}
