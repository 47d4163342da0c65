/// One call of `response(for:)` or of another function that sends requests.
///
/// It authorizes and sends a request, and then does what the next ``Step`` says, until the end.
///
/// An `async` function keeps all its values in memory while it waits. This includes the values of each function that
/// the compiler inlines into it. So what makes large values in each call is `@inline(never)`. What few calls need is an
/// `async` function of its own. The benchmark "Memory of a call that waits" shows the effect.
final class Call: Sendable {
    let config: URLSession.Config
    let session: URLSession
    /// The settings that transports need.
    let conditions: Transport.Conditions
    /// Whether the caller connects again after a transient failure.
    ///
    /// Then the caller reports failures, and the deadline is only for the head of the response.
    let reconnects: Bool
    let history: CallHistory
    /// The body of the request, if the request does not contain it.
    private let upload: UploadSource?
    /// Whether the call returns when the head of the response has arrived.
    private let isStream: Bool
    private let isForeign: Bool
    /// The last request of the calls of one loop, such as over pages, as it was authorized; `nil` if the call is alone.
    ///
    /// Its user must not have signed out.
    private let sentByLoop: Locked<URLRequest?>?
    private let known: KnownSecrets
    /// The last request; `nil` if the call has no cache and shares no transfers.
    let lastRequest: Locked<LastRequest?>?
    /// How many requests the call has sent; `nil` if there is no observer.
    let sends: Locked<Int>?

    var transport: Transport { config.transport }
    var deadline: Deadline { conditions.deadline }
    var redaction: Redaction { conditions.redaction }
    var progress: ProgressMeter? { conditions.progress }

    /// - Parameters:
    ///   - isForeign: Whether a server's link left the origin; then no credentials are sent, as after such a
    ///   redirect.
    ///   - sentByLoop: The last request of the calls of one loop, as it was authorized.
    init(
        session: URLSession, config: consuming URLSession.Config, fileID: String, line: UInt,
        upload: UploadSource? = nil, isStream: Bool = false, reconnects: Bool = false, isForeign: Bool = false,
        sentByLoop: Locked<URLRequest?>? = nil
    ) {
        config.takeDefaults()
        known = KnownSecrets(session: session, after: config.customRedaction?.known)
        let redaction = (config.customRedaction ?? .standard).knowing(known)
        config.redaction = redaction
        if WorkScope.contains(config.authenticator?.object) { config.authorize = false }
        CallScope.enter(&config, fileID, line)
        self.session = session
        self.upload = upload
        self.isStream = isStream
        self.reconnects = reconnects
        self.isForeign = isForeign
        self.sentByLoop = sentByLoop
        let elapsed = config.clock.stopwatch()
        let log = RequestLog(
            logger: config.logger, redaction: redaction, bodyLimit: config.logBody.bytes, fileID: fileID, line: line)
        let history = CallHistory(log, config, elapsed)
        self.history = history
        let deadline = Deadline(config.deadline, config.clock, elapsed) { limit, arrived in
            history.error(after: limit, arrived: arrived)
        }
        conditions = Transport.Conditions(config, deadline, isTransfer: isStream || upload != nil)
        sends = config.observer.map { _ in Locked(0) }
        lastRequest = config.cache == nil && !config.coalesces ? nil : Locked(nil)
        self.config = config
    }

    func elapsed() -> Duration { deadline.elapsed() }

    func response(for request: URLRequest) async throws -> DataResponse { try await received(for: request).response }

    /// The response to a request; without its body if this call is a stream.
    func received(for request: URLRequest) async throws -> Received {
        let outcome = await Result { try await validOrOther(request) }
        history.add(.ended(outcome.map(\.response.status)), request)
        return try outcome.get()
    }

    /// The valid response of the server, or else a stale one or the one of the fallback.
    private func validOrOther(_ request: URLRequest) async throws -> Received {
        do {
            return try await validResponse(to: request)
        } catch {
            return try await LastResort(call: self).response(after: error, request)
        }
    }

    private func validResponse(to request: URLRequest) async throws -> Received {
        try check(request)
        let upload = try await preparedUpload(for: request)
        defer { upload?.remove() }
        var received = try await lastResponse(of: firstStep(for: upload?.request ?? request, upload?.body)).received
        // If its body cannot be read, the failure is the response.
        if CachePolicy.isFailure(received.response.status), let stale = try? await LastResort(call: self).stale() {
            received.endBody()
            received = stale
        }
        let valid = try await validated(received)
        if !isStream, let progress { try await deadline.run { try await progress.finish() } }
        try deadline.check()
        // The time between two events has no limit.
        if reconnects { deadline.end() }
        return valid
    }

    /// Checks the request of the caller before anything is done.
    func check(_ request: URLRequest) throws {
        known.add(request)
        history.add(.began, request, at: .zero)
        try Task.checkCancellation()
        try transport.check(request)
        if reconnects, !request.isRepeatable || request.httpBodyStream != nil {
            let reason = "events(for:) sends the request for each connection, which its method or body does not allow"
            throw RequestError(
                .invalidRequest, reason: reason + "; set idempotencyKey, or use stream(for:)", request: request)
        }
        try deadline.check()
    }

    private func preparedUpload(for request: URLRequest) async throws -> PreparedUpload? {
        guard let upload else { return nil }
        let prepared = try await deadline.run { try await upload.prepared(for: request) }
        progress?.beginUpload(of: prepared.length)
        if let text = prepared.text {
            var request = prepared.request
            request.httpBody = text
            known.add(request)
        }
        return prepared
    }

    /// The beginning of a call.
    @inline(never)
    func firstStep(for request: URLRequest, _ body: Transport.Body? = nil) -> Shared<Step> {
        var step = Step(request, isForeign: isForeign)
        (step.body, step.firstSent) = (body, sentByLoop?.withLock(\.self))
        if config.retry.isBudgeted, config.retry.attempts > 1 { config.retry.budget.earn(step.host) }
        return Shared(wrappedValue: step)
    }

    /// Sends the request of a step and all that follow it, and returns the last response and the last step.
    func lastResponse(of first: consuming Shared<Step>) async throws -> (received: Received, step: Shared<Step>) {
        var step = first
        while true {
            var request = step.request
            if let authenticator = config.authenticator, config.authorize, !step.isForeign {
                request = try await authorized(step, by: authenticator)
                sentByLoop?.set(\.self, request)
            }
            if step.redirects == 0 { step.firstSent = request }
            let outcome = try await sent(request, step)
            let next =
                config.asksCaller
                ? try await askedNext(step, after: outcome, of: request) : try next(step, after: outcome, of: request)
            if try await prepares(next, of: step.request, after: outcome) {
                step = next
                if case .renew = next.kind { step.hasNewCredentials = true }
                continue
            }
            // Consumed, so that the response is changed where it is.
            var received = try (consume outcome).get()
            received.response.attempts = attempts
            return (received, step)
        }
    }

    @inline(never)
    private func next(
        _ step: Shared<Step>, after outcome: Result<Received, any Error>, of request: URLRequest
    ) throws -> Shared<Step> {
        try Shared(
            wrappedValue: step.wrappedValue.next(
                after: outcome, of: request, config, remaining: deadline.remaining, jitter: jitter))
    }

    /// Whether nothing follows a stored response: no redirect and no request with other credentials.
    func ends(with stored: Received, to last: LastRequest) async throws -> Bool {
        var step = Step(last.sending.urlRequest, isForeign: last.isForeign)
        // It is in place of the last attempt.
        step.attempts = config.retry.attempts
        let next = try await askedNext(Shared(wrappedValue: step), after: .success(stored), of: last.sending.urlRequest)
        if case .end = next.kind { return true }
        return false
    }

    /// The next step if a closure of the caller, which may block, is part of the decision.
    private func askedNext(
        _ step: Shared<Step>, after outcome: Result<Received, any Error>, of request: URLRequest
    ) async throws -> Shared<Step> {
        try await deadline.run { [self] in try next(step, after: outcome, of: request) }
    }

    private func authorized(_ step: Shared<Step>, by authenticator: any Authenticator) async throws -> URLRequest {
        let request: URLRequest
        do {
            request = try await deadline.run { [tokens = config.tokens] in
                try await WorkScope.of(authenticator.object) {
                    var request = step.request
                    if let sent = step.firstSent, let tokens {
                        try await tokens.authorize(&request, after: sent)
                    } else {
                        try await authenticator.authorize(&request)
                    }
                    return request
                }
            }
        } catch {
            noteUnsent(step.request, step, isAuthorized: false)
            throw error
        }
        known.add(request)
        try Task.checkCancellation()
        try transport.check(request)
        return request
    }

    /// Notes the first request, for a stale response in its place.
    private func noteUnsent(_ request: URLRequest, _ step: Shared<Step>, isAuthorized: Bool) {
        // Otherwise a request was sent before.
        guard let lastRequest, attempts.isEmpty else { return }
        let sending = sending(request, step)
        lastRequest.set(\.self, LastRequest(sending: sending, isForeign: step.isForeign, isAuthorized: isAuthorized))
    }

    /// - Throws: The error of the deadline; every other error is an outcome.
    private func sent(_ request: URLRequest, _ step: Shared<Step>) async throws -> Result<Received, any Error> {
        do {
            // The task may have been resumed late.
            try deadline.check()
        } catch {
            noteUnsent(request, step, isAuthorized: true)
            throw error
        }
        let arrival = history.isObserved ? Arrival(deadline.elapsed) : nil
        history.add(.sent, request, arrival)
        let outcome: Result<Received, any Error>
        do {
            outcome = .success(try await attempt(request, step, arrival))
        } catch {
            outcome = .failure(refused(error, after: step).hiding(redaction))
        }
        do {
            try deadline.check()
        } catch {
            history.add(.unfinished(error), request)
            throw error
        }
        note(outcome, request)
        return outcome
    }

    /// The error of an attempt: a URL to which a server has redirected is not the caller's mistake.
    private func refused(_ error: any Error, after step: Shared<Step>) -> any Error {
        guard case .redirect(let response) = step.kind, let error = error as? RequestError, error.code == .invalidURL
        else { return error }
        return RequestError.refusedRedirect(error.reason, response)
    }

    /// Sends a request and receives its response.
    private func attempt(_ request: URLRequest, _ step: Shared<Step>, _ arrival: Arrival?) async throws -> Received {
        let sending = sending(request, step, arrival)
        progress?.begin()
        var response = try await response(to: sending, step)
        response.redaction = redaction
        if let arrival {
            arrival.note(response.connection)
            history.add(.head(response.status), request, at: arrival.values.head)
        }
        let received = try await received(response, to: sending.urlRequest)
        if let arrival, !isStream, received.tooLarge == nil {
            history.addBody(received.response.data.count, request, arrival.values)
        }
        return received
    }

    @inline(never)
    private func note(_ outcome: Result<Received, any Error>, _ request: URLRequest) {
        let response = try? outcome.get().response
        history.add(
            .attempted(outcome.map(\.response.status), response?.cacheStatus), request, at: response?.duration)
    }

    @inline(never)
    private func sending(_ request: URLRequest, _ step: Shared<Step>, _ arrival: Arrival? = nil) -> Transport.Request {
        var sending = Transport.Request(
            request, session, allowsSessionCredentials: !step.isForeign, conditions, buffersBody: !isStream)
        sending.arrival = arrival
        sending.needsNewConnection = step.brokeOff
        if let body = step.body {
            sending.body = body
            known.add(sending.urlRequest)
        }
        return sending
    }

    /// A response with its body, or without it if this call is a stream.
    func received(_ response: Transport.Response, to request: URLRequest) async throws -> Received {
        if isStream { return response.received(to: request, config.customDecoder, elapsed()) }
        return try await response.collected(to: request, config.customDecoder, progress, deadline.elapsed)
    }

    /// Prepares the request of a step, and logs why it follows or why not; returns `false` at the end.
    ///
    /// - Parameter request: The request of the step before.
    func prepares(
        _ step: Shared<Step>, of request: URLRequest, after outcome: Result<Received, any Error>
    ) async throws -> Bool {
        if case .end = step.kind {
            if let note = step.note { decide(.notRetried, request, note) }
            return false
        }
        try Task.checkCancellation()
        switch step.kind {
        case .send, .end: decide(.repeated, request, step.note)
        case .redirect(let response):
            do {
                try transport.check(step.request)
                if step.body != nil { try URLRequest.checkHasPlaceForBody(step.request.httpMethod ?? "GET") }
            } catch {
                throw RequestError.refusedRedirect(error.reason, response)
            }
            known.add(step.request)
            decide(.redirected, request, step.note, step.request.url)
        case .renew(let received):
            try await renew(step, after: received)
            decide(.renewed, request, step.note)
        case .wait(let delay):
            guard mayRetry(step) else {
                decide(.notRetried, request, "not retried: the retry budget is spent")
                return false
            }
            decide(.retried(after: delay), request, step.note)
            if case .success(let received) = outcome { received.endBody() }
            // The sleeper of a clock may wake up too late.
            try await deadline.run { [clock = config.clock] in try await clock.sleep(for: delay) }
        }
        return true
    }

    var attempts: [Attempt] { history.attempts }

    /// Notes why another attempt follows, or why not; a URL is added to the reason.
    func decide(_ decision: CallEvent.Decision, _ request: URLRequest, _ reason: String?, _ url: URL? = nil) {
        history.add(.decided(decision, .init(text: reason ?? "", url: url?.absoluteString)), request)
    }
}
