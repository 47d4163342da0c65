/// One call of `response(for:)` or of another function that sends requests.
final class SendLoop: Sendable {
    typealias Outcome = Result<Received, any Error>

    /// The time for a fallback when the deadline has passed.
    private static let fallbackLimit = Duration.seconds(1)

    /// Marks what a fallback, a validator or `onUnauthorized` does.
    static let closures = Locked(())

    let call: Call
    let session: URLSession
    let transport: Transport
    /// The body of the request, if the request does not contain it.
    private let upload: UploadSource?
    /// Whether the call returns when the head of the response has arrived.
    private let isStream: Bool
    /// Whether the caller connects again after a transient failure.
    ///
    /// Then the caller logs failures, and the deadline is only for the head of the response.
    let reconnects: Bool
    let log: RequestLog
    let timeline: Timeline
    let known: KnownSecrets
    private let isForeign: Bool

    /// - Parameter isForeign: Whether a server's link left the origin; then no credentials are sent, as after such a
    ///   redirect.
    init(
        session: URLSession, config: URLSession.Config, fileID: String, line: UInt, upload: UploadSource? = nil,
        isStream: Bool = false, reconnects: Bool = false, isForeign: Bool = false
    ) {
        self.isForeign = isForeign
        known = KnownSecrets(session: session)
        var config = config
        config.redaction = config.redaction.knowing(known)
        if WorkScope.contains(config.authenticator?.object) { config.authorize = false }
        call = Call(config, isTransfer: isStream || upload != nil)
        self.session = session
        self.upload = upload
        self.isStream = isStream
        self.reconnects = reconnects
        transport = config.transport.forThisTask
        timeline = Timeline(redaction: config.redaction)
        log = RequestLog(
            logger: config.logger, redaction: config.redaction, bodyLimit: config.logBody.bytes, fileID: fileID,
            line: line)
    }

    func response(for request: URLRequest) async throws -> DataResponse {
        try await received(for: request).response
    }

    /// The response to a request; without its body if this call is a stream.
    func received(for request: URLRequest) async throws -> Received {
        do {
            try check(request)
            return try await inTime(request) {
                let received = try await self.validated(self.receivedWithUpload(request))
                if !self.isStream { try await self.call.progress?.finish() }
                return received
            }
        } catch {
            let error = failure(error, of: request)
            guard let fallback = call.config.fallback, !Task.isCancelled, (error as? RequestError)?.isUnsendable != true
            else { throw error }
            do {
                return try await inTime(request, after: error) {
                    let response = try await WorkScope.of(Self.closures) { try await fallback(error, request) }
                    return Received(self.configured(response))
                }
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
    }

    /// Runs the call, its fallback after an error, or the reading of its body, within the deadline.
    func inTime<Value: Sendable>(
        _ request: URLRequest, after cause: (any Error)? = nil,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let deadline = call.config.deadline else { return try await operation() }
        let rest = deadline.clamped - call.elapsed()
        let limit = cause == nil ? rest : max(rest, Self.fallbackLimit)
        return try await withDeadline(deadline <= .zero ? .zero : limit, call.config.clock) {
            self.expired(deadline, request, after: cause)
        } operation: {
            try await operation()
        }
    }

    /// The error for a deadline that has passed.
    func expired(_ deadline: Duration, _ request: URLRequest, after cause: (any Error)? = nil) -> RequestError {
        var reason = "there was no complete response within \(deadline.shown)"
        if deadline <= .zero { reason = "the deadline, \(deadline.shown), passed before anything was sent" }
        if cause != nil { reason += "; the fallback did not return in time either" }
        var error = RequestError(.deadlineExceeded, reason: reason, request: request, underlyingError: cause)
        // Copied now, because the attempt that is still running will be cancelled.
        error.attempts = timeline.all
        return error
    }

    private func receivedWithUpload(_ request: URLRequest) async throws -> Received {
        guard let upload else { return try await lastResponse(of: firstHop(for: request)).received }
        let prepared = try await upload.prepared(for: request)
        defer { prepared.remove() }
        call.progress?.sent(0, of: prepared.length)
        var hop = firstHop(for: prepared.request)
        hop.body = prepared.body
        return try await lastResponse(of: hop).received
    }

    /// The beginning of a call.
    func firstHop(for request: URLRequest) -> Hop {
        let hop = Hop(
            request: request, host: request.url?.host()?.lowercased() ?? "", isForeign: isForeign)
        let retry = call.config.retry
        if retry.isBudgeted, retry.attempts > 1 { retry.budget.earn(hop.host) }
        return hop
    }

    /// Sends the request of a hop and all that follow it, and returns the last response and its hop.
    func lastResponse(of first: Hop) async throws -> (received: Received, hop: Hop) {
        var hop = first
        while true {
            let request = try await authorized(hop)
            if hop.redirects == 0 { hop.sent = (request, hop.credential?.0) }
            let (outcome, lost) = await sent(request, hop)
            if try await repeated(&hop, request, after: lost) { continue }
            if try await challenged(&hop, outcome) { continue }
            if try await redirected(&hop, outcome) { continue }
            if try await reauthorized(&hop, outcome) { continue }
            if try await retried(&hop, request, outcome) { continue }
            let received = try outcome.get()
            var response = received.response
            response.attempts = timeline.all
            return (Received(response, body: received.body, received.exchange), hop)
        }
    }

    private func authorized(_ hop: Hop) async throws -> URLRequest {
        guard let authenticator = call.config.authenticator, call.config.authorize, !hop.isForeign
        else { return hop.request }
        let request = try await WorkScope.of(authenticator.object) {
            var request = hop.request
            try await authenticator.authorize(&request)
            return request
        }
        known.add(request)
        try Task.checkCancellation()
        try transport.check(request)
        return request
    }

    /// Sends a request; the second result is set if a reused connection was lost.
    private func sent(_ request: URLRequest, _ hop: Hop) async -> (Outcome, Transport.LostConnection?) {
        log.sent(request)
        timeline.begin(call.config.clock.stopwatch())
        var lost: Transport.LostConnection?
        let outcome: Outcome
        do {
            var sending = Transport.Request(
                urlRequest: request, session: session, allowsSessionCredentials: !hop.isForeign, call: call,
                credential: hop.credential)
            if let body = hop.body {
                sending.body = body
                known.add(sending.urlRequest)
            }
            call.progress?.begin()
            outcome = .success(try await received(sending))
        } catch let error as URLError where error.lostConnection != nil {
            lost = error.lostConnection
            outcome = .failure(error.withoutConnection.hiding(call.config.redaction))
        } catch {
            outcome = .failure(error.hiding(call.config.redaction))
        }
        timeline.end(outcome.map(\.response.status))
        return (outcome, lost)
    }

    private func received(_ request: Transport.Request) async throws -> Received {
        guard isStream else { return try await transport.collected(request) }
        return try await transport.opened(request).opened(request)
    }

    /// Adds to the log and to the last attempt why another attempt follows, or why not.
    ///
    /// - Parameter url: A URL after the reason.
    func note(_ hop: Hop, _ reason: String, _ url: URL? = nil) {
        log.again(hop.request, timeline.changeLast { $0.note = .init(text: reason, url: url?.absoluteString) })
    }

    func validated(_ received: Received) async throws -> Received {
        // It is over for the caller, and its content may take long.
        if reconnects, isTransient(.success(received.response.status)) { return try checked(received) }
        let received = try await received.withContentOfFailure(call.config.clock)
        guard !call.config.validators.isEmpty else { return try checked(received) }
        var response = received.response
        for validator in call.config.validators {
            try Task.checkCancellation()
            response = try await WorkScope.of(Self.closures) {
                var validated = response
                try await validator.validate(&validated)
                return configured(validated)
            }
        }
        return try checked(Received(response, body: received.body, received.exchange))
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
        (response.redaction, response.decoder) = (call.config.redaction, call.config.customDecoder)
        return response
    }

    /// Whether another attempt may have another outcome.
    func isTransient(_ outcome: Result<HTTPResponse.Status, any Error>) -> Bool { !call.config.retry.accepts(outcome) }

    /// Logs an error, and returns the error that the caller receives.
    func failure(_ error: any Error, of request: URLRequest) -> any Error {
        let error = final(error)
        if !reconnects { log.failed(request, error, after: call.elapsed()) }
        return error
    }

    /// The error that the caller receives, without secrets and with all attempts.
    ///
    /// If the task is cancelled, it is always `CancellationError`.
    func final(_ error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        switch error.hiding(call.config.redaction) {
        // An error that has attempts comes from another call, for example one that a fallback made.
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

extension Authenticator {
    /// The authenticator itself; `nil` for value types.
    var object: AnyObject? { type(of: self) is AnyClass ? self as AnyObject : nil }
}
