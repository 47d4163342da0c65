/// One call of `response(for:)`: the send loop, which everything that is sent goes through.
struct SendLoop: Sendable {
    private typealias Outcome = Result<Answer, any Error>

    /// How often credentials are sent for challenges of one URL: a delegate may have only wrong ones.
    private static let mostChallenges = 2
    /// The time that a fallback has when the deadline has passed.
    private static let fallbackLimit = Duration.seconds(1)

    private var config: URLSession.Config
    private let session: URLSession
    private let transport: Transport
    private let log: RequestLog
    private let elapsed: @Sendable () -> Duration
    private let timeline: Timeline
    private let known: KnownSecrets

    init(session: URLSession, config: URLSession.Config, fileID: String, line: UInt) {
        var config = config
        known = KnownSecrets(session: session)
        config.redaction = config.redaction.knowing(known)
        timeline = Timeline(redaction: config.redaction)
        self.config = config
        self.session = session
        transport = config.transport.forThisTask
        log = RequestLog(
            logger: config.logger, redaction: config.redaction, bodyLimit: config.logBody, fileID: fileID, line: line)
        elapsed = config.clock.stopwatch()
        if let authenticator = config.authenticator, AuthenticatorScope.isPart(of: authenticator) {
            self.config.authorize = false
        }
    }

    func response(for request: URLRequest) async throws -> DataResponse {
        known.add(request)
        do {
            try Task.checkCancellation()
            try request.checkSendable()
            return try await inTime(config.deadline) {
                deadlineExceeded(request)
            } operation: {
                try await validated(answer(to: request))
            }
        } catch {
            let error = final(error)
            log.failed(request, error, after: elapsed())
            guard let fallback = config.fallback, error.isAnswerable else { throw error }
            do {
                return try await inTime(config.deadline.map { max($0.clamped - elapsed(), Self.fallbackLimit) }) {
                    deadlineExceeded(request, error)
                } operation: {
                    var response = try await fallback(error, request)
                    response.redaction = response.redaction ?? config.redaction
                    return response
                }
            } catch {
                throw final(error)
            }
        }
    }

    private func inTime(
        _ limit: Duration?, expired: @escaping @Sendable () -> any Error,
        operation: @escaping @Sendable () async throws -> DataResponse
    ) async throws -> DataResponse {
        guard limit != nil else { return try await operation() }
        return try await withDeadline(limit, config.clock, expired: expired, operation: operation)
    }

    private func deadlineExceeded(_ request: URLRequest, _ cause: (any Error)? = nil) -> RequestError {
        let deadline = config.deadline ?? .zero
        var error = RequestError(
            .deadlineExceeded, stage: .executing,
            reason: deadline > .zero
                ? "there was no response within \(deadline.shown)"
                    + (cause == nil ? "" : ", and none from the fallback")
                : "the deadline, \(deadline.shown), had passed before anything was sent",
            request: request, underlyingError: cause)
        // As they are now: what is under way will end as cancelled.
        error.attempts = timeline.all
        return error
    }

    /// The answer that counts, after all redirects, retries and new credentials.
    private func answer(to request: URLRequest) async throws -> DataResponse {
        var hop = Hop(request: request, host: request.url?.host()?.lowercased() ?? "")
        if config.retry.attempts > 1 { config.retry.budget?.earn(hop.host) }
        while true {
            let request = try await authorized(hop)
            let (outcome, lost) = await sent(request, hop)
            if let lost, let next = try await repeated(hop, after: lost) {
                hop = next
            } else if let next = try await challenged(hop, outcome) {
                hop = next
            } else if let next = try await redirected(hop, outcome) {
                hop = next
            } else if let next = try await reauthorized(hop, outcome) {
                hop = next
            } else if let next = try await retried(hop, outcome) {
                hop = next
            } else {
                var response = try outcome.get().response
                response.attempts = timeline.all
                return response
            }
        }
    }

    private func authorized(_ hop: Hop) async throws -> URLRequest {
        var request = hop.request
        if let authenticator = config.authenticator, config.authorize, !hop.isForeign {
            request = try await AuthenticatorScope.of(authenticator) {
                var request = hop.request
                try await authenticator.authorize(&request)
                return request
            }
            try Task.checkCancellation()
            try request.checkSendable()
        }
        return request
    }

    /// What became of a request, and whether it may be sent again because a kept connection was lost.
    private func sent(_ request: URLRequest, _ hop: Hop) async -> (Outcome, LostConnection?) {
        known.add(request)
        log.sent(request)
        let duration = config.clock.stopwatch()
        timeline.begin(duration)
        var lost: LostConnection?
        let outcome: Outcome
        do {
            // An authenticator may have led the request elsewhere, or has a token now.
            let isWanted = request.value(forHTTPHeaderField: "Authorization") == nil
            let credential = hop.credential.flatMap { isWanted && $0.origin == Origin(request.url) ? $0.value : nil }
            let sending = Transport.Request(
                request, session: session, config: config, isForeign: hop.isForeign, credential: credential)
            var answer = try await transport.answer(to: sending)
            answer.response.duration = elapsed()
            answer.response.redaction = config.redaction
            outcome = .success(answer)
        } catch let error as URLError where error.lostConnection != nil {
            lost = error.lostConnection
            outcome = .failure(error.withoutConnection.hiding(config.redaction))
        } catch {
            outcome = .failure(error.hiding(config.redaction))
        }
        timeline.end(outcome.map(\.response), after: duration())
        return (outcome, lost)
    }

    /// RFC 9112 §9.3.1: a request whose method is idempotent is sent once more, and no other one.
    private func repeated(_ hop: Hop, after lost: LostConnection) async throws -> Hop? {
        guard !hop.isRepeated, hop.request.hasIdempotentMethod, !Task.isCancelled,
            let request = try await lost.decisions.repeatable(hop.request)
        else { return nil }
        var again = hop
        (again.request, again.isRepeated) = (request, true)
        note(hop, "again on a new connection")
        return again
    }

    /// A request that has an `Authorization` by itself gets no other one.
    private func challenged(_ hop: Hop, _ outcome: Outcome) async throws -> Hop? {
        guard case .success(let answer) = outcome, let decisions = answer.decisions,
            hop.challenges < Self.mostChallenges,
            answer.response.request.value(forHTTPHeaderField: "Authorization") == nil,
            let credential = try await decisions.credential(after: hop.challenges),
            let request = try await answer.decisions.repeatable(hop.request)
        else { return nil }
        try Task.checkCancellation()
        var again = hop
        again.request = request
        again.credential = (credential, Origin(answer.response.request.url))
        known.add(user: credential.user, password: credential.password)
        again.challenges += 1
        note(hop, "with credentials for the server's challenge")
        return again
    }

    private func redirected(_ hop: Hop, _ outcome: Outcome) async throws -> Hop? {
        guard case .success(let answer) = outcome,
            let proposed = try config.redirects.next(after: answer.response, to: hop.request, config.redaction),
            let next = try await answer.decisions.redirection(to: proposed)
        else { return nil }
        guard hop.redirects < RedirectPolicy.most else {
            throw RequestError(
                .tooManyRedirects, stage: .executing, reason: "more than \(RedirectPolicy.most) redirects",
                response: answer.response)
        }
        let safe = next.keepingCredentials(for: proposed, config.redaction)
        guard let request = try await answer.decisions.repeatable(safe) else {
            throw URLError(.requestBodyStreamExhausted)
        }
        try Task.checkCancellation()
        do {
            try request.checkSendable()
        } catch {
            throw RequestError.refusedRedirect(error.reason, answer.response)
        }
        var following = hop
        following.request = request
        following.redirects += 1
        (following.credential, following.challenges, following.isRepeated) = (nil, 0, false)
        following.isForeign = hop.isForeign || Origin(request.url) != Origin(hop.request.url)
        note(hop, "to \(config.redaction.url(request.url?.absoluteString ?? ""))")
        return following
    }

    private func reauthorized(_ hop: Hop, _ outcome: Outcome) async throws -> Hop? {
        guard case .success(var answer) = outcome, config.throwsUnauthorized, !hop.isForeign,
            config.isUnauthorized(answer.response)
        else { return nil }
        answer.response.requestAsMade = hop.request
        var reason = "the server refused the credentials" + (hop.hasNewCredentials ? ", and the new ones too" : "")
        let hasOtherCredentials = hop.challenges > 0 || session.addsAuthorization
        if config.authenticator == nil, !hasOtherCredentials,
            hop.request.value(forHTTPHeaderField: "Authorization") == nil
        {
            reason = "the server refused the request: it has no Authorization, and the call has no authenticator"
        }
        if !hop.hasNewCredentials, let authenticator = config.authenticator,
            try await AuthenticatorScope.of(
                authenticator, { try await authenticator.reauthorize(after: answer.response) })
        {
            try Task.checkCancellation()
            if let request = try await answer.decisions.repeatable(hop.request) {
                var replay = hop
                (replay.request, replay.hasNewCredentials) = (request, true)
                note(hop, "credentials refreshed")
                return replay
            }
            // The next call has good ones: nobody is to be signed out.
            reason += "; there are new ones, but no other body stream"
        } else {
            try Task.checkCancellation()
            let refusal = await (config.authenticator as? any RefusalExplaining)?.explanation(of: answer.response)
            if !hasOtherCredentials { reason = refusal?.reason ?? reason }
            if refusal?.isFirstRefusal ?? true { await config.onUnauthorized?(answer.response) }
        }
        throw RequestError(.unauthorized, stage: .executing, reason: reason, response: answer.response)
    }

    private func retried(_ hop: Hop, _ outcome: Outcome) async throws -> Hop? {
        guard !Task.isCancelled, hop.request.httpBodyStream == nil,
            let (delay, reason) = config.retry.delay(
                after: hop.attempts, of: hop.request, outcome.map(\.response), now: Date(),
                remaining: config.deadline.map { $0.clamped - elapsed() }, jitter: .random(in: 0...1))
        else { return nil }
        guard config.retry.budget?.spend(hop.host) ?? true else {
            note(hop, "not retried: the retry budget is spent")
            return nil
        }
        var again = hop
        again.attempts += 1
        note(hop, reason)
        try await config.clock.sleep(for: delay)
        return again
    }

    /// Tells the log and the timeline why there will be another attempt, or why not.
    private func note(_ hop: Hop, _ reason: String) {
        if let attempt = timeline.go(on: reason) { log.again(hop.request, attempt) }
    }

    private func validated(_ answer: DataResponse) async throws -> DataResponse {
        var response = answer
        for validator in config.validators {
            try Task.checkCancellation()
            try await validator.validate(&response)
        }
        try Task.checkCancellation()
        log.received(response)
        return response
    }

    /// The error that the caller gets: a cancelled task always ends in `CancellationError`, what this call hides is
    /// hidden in errors too, and they tell what was sent.
    private func final(_ error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        switch error.hiding(config.redaction) {
        // One that has attempts was thrown by another call, such as a fallback's own.
        case var error as RequestError:
            if error.attempts.isEmpty { error.attempts = timeline.all }
            error.response?.attempts = error.attempts
            return error
        case let error as URLError where error.attempts.isEmpty:
            return error.with(timeline.all)
        case let error:
            return error
        }
    }
}

extension Error {
    /// Whether a fallback may answer instead: not for the end of a task, nor for a request that is wrong in itself.
    fileprivate var isAnswerable: Bool {
        !Task.isCancelled && (self as? RequestError)?.stage != .building
    }
}
