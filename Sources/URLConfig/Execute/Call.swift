/// One call of `response(for:)` or of another function that sends requests.
///
/// It authorizes and sends a request, and then does what the next ``Step`` says, until there is none.
final class Call: Sendable {
    /// The time for a fallback when the deadline has passed.
    private static let fallbackLimit = Duration.seconds(1)

    /// Marks what a fallback, a validator or `onUnauthorized` does.
    static let closures = Locked(())

    let config: URLSession.Config
    let session: URLSession
    let transport: Transport
    /// What transports need to know.
    let conditions: Transport.Conditions
    /// Whether the caller connects again after a transient failure.
    ///
    /// Then the caller logs failures, and the deadline is only for the head of the response.
    let reconnects: Bool
    let log: RequestLog
    let attempts: Attempts
    let deadline: Deadline
    /// The time since the call began.
    var elapsed: @Sendable () -> Duration { deadline.elapsed }
    /// The body of the request, if the request does not contain it.
    private let upload: UploadSource?
    /// Whether the call returns when the head of the response has arrived.
    private let isStream: Bool
    private let isForeign: Bool
    private let known: KnownSecrets

    /// - Parameter isForeign: Whether a server's link left the origin; then no credentials are sent, as after such a
    ///   redirect.
    init(
        session: URLSession, config: URLSession.Config, fileID: String, line: UInt, upload: UploadSource? = nil,
        isStream: Bool = false, reconnects: Bool = false, isForeign: Bool = false
    ) {
        known = KnownSecrets(session: session, after: config.redaction.known)
        var config = config
        config.redaction = config.redaction.knowing(known)
        if WorkScope.contains(config.authenticator?.object) { config.authorize = false }
        self.config = config
        self.session = session
        self.upload = upload
        self.isStream = isStream
        self.reconnects = reconnects
        self.isForeign = isForeign
        transport = config.transport.forThisTask
        attempts = Attempts(redaction: config.redaction)
        deadline = Deadline(config.deadline, config.clock, attempts)
        conditions = Transport.Conditions(config, deadline, isTransfer: isStream || upload != nil)
        log = RequestLog(
            logger: config.logger, redaction: config.redaction, bodyLimit: config.logBody.bytes, fileID: fileID,
            line: line)
    }

    /// Reports the progress, if the caller wants it.
    var progress: ProgressMeter? { conditions.progress }

    func response(for request: URLRequest) async throws -> DataResponse {
        try await received(for: request).response
    }

    /// The response to a request; without its body if this call is a stream.
    func received(for request: URLRequest) async throws -> Received {
        do {
            try check(request)
            let received = try await validated(receivedWithUpload(request))
            if !isStream, let progress { try await deadline.run { try await progress.finish() } }
            try deadline.check()
            // The time between two events has no limit.
            if reconnects { deadline.end() }
            return received
        } catch {
            let error = failure(error, of: request)
            guard let fallback = config.fallback, !Task.isCancelled, (error as? RequestError)?.isUnsendable != true
            else { throw error }
            do {
                let operation = { @Sendable in
                    try await WorkScope.of(Self.closures) { try await fallback(error, request) }
                }
                guard let limit = config.deadline else { return Received(response: configured(try await operation())) }
                let rest = max(deadline.remaining ?? .zero, Self.fallbackLimit)
                deadline.end()
                let response = try await withDeadline(limit <= .zero ? .zero : rest, config.clock) { [attempts] in
                    Deadline.error(limit, request, attempts, after: error)
                } operation: {
                    try await operation()
                }
                return Received(response: configured(response))
            } catch {
                throw final(error)
            }
        }
    }

    /// Checks the request of the caller before anything is done.
    func check(_ request: URLRequest) throws {
        known.add(request)
        try Task.checkCancellation()
        try transport.check(request)
        try deadline.begin(request)
    }

    private func receivedWithUpload(_ request: URLRequest) async throws -> Received {
        guard let upload else { return try await lastResponse(of: firstHop(for: request)).received }
        let prepared = try await deadline.run { try await upload.prepared(for: request) }
        defer { prepared.remove() }
        progress?.sent(0, of: prepared.length)
        var hop = firstHop(for: prepared.request)
        hop.body = prepared.body
        return try await lastResponse(of: hop).received
    }

    /// The beginning of a call.
    func firstHop(for request: URLRequest) -> Hop {
        let hop = Hop(request: request, isForeign: isForeign)
        if config.retry.isBudgeted, config.retry.attempts > 1 { config.retry.budget.earn(hop.host) }
        return hop
    }

    /// Sends the request of a hop and all that follow it, and returns the last response and its hop.
    func lastResponse(of first: Hop) async throws -> (received: Received, hop: Hop) {
        var hop = first
        while true {
            let request = try await authorized(hop)
            if hop.redirects == 0 { hop.firstSent = request }
            let outcome = try await sent(request, hop)
            let step = try Step.next(after: outcome, of: request, hop, config, remaining: deadline.remaining)
            if try await prepares(step, &hop, outcome) { continue }
            var received = try outcome.result.get()
            received.response.attempts = attempts.all
            return (received, hop)
        }
    }

    private func authorized(_ hop: Hop) async throws -> URLRequest {
        guard let authenticator = config.authenticator, config.authorize, !hop.isForeign else { return hop.request }
        let request = try await deadline.run { [request = hop.request] in
            try await WorkScope.of(authenticator.object) {
                var request = request
                try await authenticator.authorize(&request)
                return request
            }
        }
        known.add(request)
        try Task.checkCancellation()
        try transport.check(request)
        return request
    }

    /// - Throws: The error of the deadline; every other error is an outcome.
    private func sent(_ request: URLRequest, _ hop: Hop) async throws -> Outcome {
        log.sent(request)
        attempts.begin(config.clock.stopwatch())
        var outcome: Outcome
        do {
            var sending = Transport.Request(
                urlRequest: request, session: session, allowsSessionCredentials: !hop.isForeign,
                conditions: conditions)
            if let body = hop.body {
                sending.body = body
                known.add(sending.urlRequest)
            }
            sending.buffersBody = !isStream
            progress?.begin()
            outcome = Outcome(result: .success(try await received(transport.attempt(sending), to: sending)))
        } catch let error as URLError where error.isLostConnection {
            outcome = Outcome(result: .failure(error.withoutMark.hiding(config.redaction)), isLost: true)
        } catch {
            outcome = Outcome(result: .failure(error.hiding(config.redaction)))
        }
        try deadline.check()
        attempts.end(outcome.result.map(\.response.status))
        return outcome
    }

    /// The head of a response with its body, or the whole response.
    private func received(_ response: Transport.Response, to request: Transport.Request) async throws -> Received {
        var head = DataResponse(
            request: request.urlRequest, url: response.url, status: response.status,
            headerFields: response.headerFields)
        (head.redaction, head.decoder) = (config.redaction, config.customDecoder)
        if !isStream { return Received(response: try await response.collected(head, progress, elapsed)) }
        head.duration = elapsed()
        return Received(response: head, body: response.body)
    }

    /// Prepares the next request, and logs why it follows; returns `false` if the outcome is that of the call.
    func prepares(_ step: Step, _ hop: inout Hop, _ outcome: Outcome) async throws -> Bool {
        if case .done = step { return false }
        try Task.checkCancellation()
        switch step {
        case .done: return false
        case .repeat(let next):
            note(hop, "again on a new connection")
            hop = next
        case .redirect(let next, let response):
            do {
                try transport.check(next.request)
            } catch {
                throw RequestError.refusedRedirect(error.reason, response)
            }
            known.add(next.request)
            note(hop, "to ", next.request.url)
            hop = next
        case .renew(let received):
            try await renew(hop, after: received)
            note(hop, "credentials refreshed")
            hop.hasNewCredentials = true
        case .retry(let delay, let reason):
            guard !config.retry.isBudgeted || config.retry.budget.spend(hop.host) else {
                note(hop, "not retried: the retry budget is spent")
                return false
            }
            note(hop, reason)
            hop.attempts += 1
            if case .success(let received) = outcome.result { received.endBody() }
            // The sleeper of a clock may wake up too late.
            try await deadline.run { [clock = config.clock] in try await clock.sleep(for: delay) }
        }
        return true
    }

    /// Adds to the log and to the last attempt why another attempt follows, or why not.
    ///
    /// - Parameter url: A URL after the reason.
    func note(_ hop: Hop, _ reason: String, _ url: URL? = nil) {
        log.again(hop.request, attempts.changeLast { $0.note = .init(text: reason, url: url?.absoluteString) })
    }

    /// Asks the authenticator for other credentials.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unauthorized`` if there are none, or if the request
    ///   cannot be sent again.
    private func renew(_ hop: Hop, after received: Received) async throws {
        var response = received.response
        response.requestAsMade = hop.request
        var reason = "the server refused the credentials" + (hop.hasNewCredentials ? ", and the new ones too" : "")
        // A renewal may need the connection, and the body of a stream may not end.
        if !hop.hasNewCredentials, config.authenticator != nil { received.endBody() }
        if !hop.hasNewCredentials, let authenticator = config.authenticator,
            try await deadline.run({ [response] in
                try await WorkScope.of(authenticator.object) { try await authenticator.reauthorize(after: response) }
            })
        {
            try Task.checkCancellation()
            if hop.canBeSentAgain { return }
            // The next call uses the new credentials, so the user must not be signed out.
            reason += "; there are new credentials, but the body stream cannot be sent again"
        } else {
            try Task.checkCancellation()
            response.data = try await received.withContentOfFailure(config.clock).response.data
            let refusal = await (config.authenticator as? TokenAuthenticator)?.explanation(of: response)
            if !session.addsAuthorization {
                if config.authenticator == nil, hop.request.value(forHTTPHeaderField: "Authorization") == nil {
                    reason = "the request has no Authorization, and the call has no authenticator"
                }
                reason = refusal?.reason ?? reason
            }
            if refusal?.isFirstRefusal ?? true, let onUnauthorized = config.onUnauthorized {
                try await deadline.run { [response] in
                    try await WorkScope.of(Self.closures) { await onUnauthorized(response) }
                }
            }
        }
        throw RequestError(.unauthorized, reason: reason, response: response)
    }

    func validated(_ received: Received) async throws -> Received {
        // The caller connects again, so the content is not needed.
        if reconnects, isTransient(.success(received.response.status)) { return try checked(received) }
        let received = try await received.withContentOfFailure(config.clock)
        guard !config.validators.isEmpty else { return try checked(received) }
        var validated = received
        for validator in config.validators {
            try Task.checkCancellation()
            validated.response = try await deadline.run { [response = validated.response] in
                try await WorkScope.of(Self.closures) {
                    var response = response
                    try await validator.validate(&response)
                    return self.configured(response)
                }
            }
        }
        return try checked(validated)
    }

    private func checked(_ received: Received) throws -> Received {
        try Task.checkCancellation()
        log.received(received.response, isStream: isStream)
        return received
    }

    /// The response with the redaction and the decoder of this call, unless it comes from another call.
    private func configured(_ response: DataResponse) -> DataResponse {
        guard response.redaction == nil else { return response }
        var response = response
        (response.redaction, response.decoder) = (config.redaction, config.customDecoder)
        return response
    }

    /// Whether another attempt may have another outcome.
    func isTransient(_ outcome: Result<HTTPResponse.Status, any Error>) -> Bool { !config.retry.accepts(outcome) }

    /// Logs an error, and returns the error that the caller receives.
    func failure(_ error: any Error, of request: URLRequest) -> any Error {
        let error = final(error)
        if !reconnects { log.failed(request, error, after: elapsed()) }
        return error
    }

    /// The error that the caller receives, without secrets and with all attempts.
    ///
    /// If the task is cancelled, it is always `CancellationError`.
    func final(_ error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        switch error.hiding(config.redaction) {
        // An error that has attempts comes from another call, for example one that a fallback made.
        case var error as RequestError:
            let all = error.attempts.isEmpty ? attempts.all : error.attempts
            error.attempts = all
            error.response?.attempts = all
            return error
        case let error as URLError where error.attempts.isEmpty:
            return error.with(attempts.all)
        case let error:
            return error
        }
    }
}

extension Authenticator {
    /// The authenticator itself; `nil` for value types.
    var object: AnyObject? { type(of: self) is AnyClass ? self as AnyObject : nil }
}
