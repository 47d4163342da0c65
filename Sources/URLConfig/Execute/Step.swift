/// A step of a call: the request that it sends next, and what it has done so far.
struct Step: Sendable {
    /// The work before the request is sent.
    enum Kind: Sendable {
        case send
        /// The request is checked, because a response redirects to it.
        case redirect(from: DataResponse)
        /// The authenticator has other credentials, or the call fails.
        case renew(Received)
        /// A delay, if the budget allows it.
        case wait(Duration)
        /// Nothing is sent: the call ends with the outcome of the last attempt.
        case end
    }

    var kind = Kind.send
    /// Why this step follows the one before, for the log.
    var note: String?
    /// The request before it is authorized.
    var request: URLRequest
    /// The body that the request itself cannot contain; `nil` for none.
    var body: Transport.Body?
    /// The host of the first request, whose budget limits the retries.
    let host: String
    /// Whether a redirect or a link to the next page has left the origin; from then on, no credentials are sent.
    var isForeign: Bool
    /// The last request to the first URL, or of an earlier call of the same loop, as it was sent.
    var firstSent: URLRequest?
    var redirects = 0
    /// How often the request was sent again at once.
    var repetitions = 0
    /// Whether a connection broke off while the body was sent.
    var brokeOff = false
    var attempts = 1
    var hasNewCredentials = false

    init(_ request: URLRequest, isForeign: Bool = false) {
        self.request = request
        self.isForeign = isForeign
        host = request.url?.host()?.lowercased() ?? ""
    }

    /// Whether the body can be opened again: not a stream that the caller has opened once, and no pieces that were
    /// sent.
    var canBeSentAgain: Bool {
        if case .sequence(let pieces, _) = body, !pieces.canBeRead { return false }
        return request.httpBodyStream == nil
    }

    /// The step after this one: the first rule that applies.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the attempt.
    ///   - sent: The request after it was authorized: an authenticator may have changed its method and its URL.
    ///   - config: The settings of the call.
    ///   - remaining: The rest of the deadline; `nil` without one.
    ///   - jitter: A random number from zero to one.
    /// - Throws: ``RequestError`` if a redirect is refused, `URLError` if the body cannot be sent again, and the errors
    ///   of the redirect policy.
    func next(
        after outcome: Result<Received, any Error>, of sent: URLRequest, _ config: URLSession.Config,
        remaining: @autoclosure () -> Duration?, jitter: @autoclosure () -> Double = .random(in: 0...1)
    ) throws -> Self {
        switch outcome {
        case .failure(let error):
            if let error = error as? URLError, let step = repetition(of: sent, after: error) { return step }
        case .success(let received):
            // The cache has made it, so nothing was sent that could have another response.
            if received.response.cacheStatus?.isOfMiss == true { return following(.end) }
            if let step = try redirect(after: received.response, from: sent.url, config) { return step }
            if config.throwsUnauthorized, !isForeign, config.isUnauthorized(received.response) {
                return following(.renew(received), "credentials refreshed")
            }
        }
        return retry(after: outcome, of: sent, config, remaining: remaining(), jitter: jitter())
    }

    private func following(_ kind: Kind, _ note: String? = nil) -> Self {
        var next = self
        (next.kind, next.note) = (kind, note)
        return next
    }

    /// The most repetitions after lost connections: as many as a session keeps for a host by default.
    static let mostRepetitions = 6

    /// Only a request with an idempotent method is sent again after a lost connection (RFC 9112 §9.3.1).
    ///
    /// Only the loss of a connection that was kept counts, and the next one may be another kept one, which the server
    /// has also closed. So the request is sent until it has had a new connection, whose loss is final. One that broke
    /// off while the body was sent may have been new, so that counts once.
    ///
    /// The request is also sent again after a stored response that was damaged, once. The response was removed when its
    /// body was read.
    private func repetition(of sent: URLRequest, after error: URLError) -> Self? {
        guard error.isLostConnection || error.isDamagedResponse, sent.hasIdempotentMethod, canBeSentAgain
        else { return nil }
        // After a refused expectation, libcurl begins again just as after a loss.
        let isSurelyLost = error.isLostConnection && sent.value(forHTTPHeaderField: "Expect") == nil
        let most = isSurelyLost && !(error.brokeOff && brokeOff) ? Self.mostRepetitions : 1
        guard repetitions < most else { return nil }
        let note = error.isLostConnection ? "again on another connection" : "the stored response was damaged"
        var next = following(.send, note)
        next.repetitions += 1
        next.brokeOff = brokeOff || error.brokeOff
        return next
    }

    /// - Parameter url: Where the request was sent: an authenticator may have changed its URL.
    private func redirect(after response: DataResponse, from url: URL?, _ config: URLSession.Config) throws -> Self? {
        guard response.status.isRedirect else { return nil }
        var redirected = request
        redirected.url = url
        // So that the policy sees that there is a body, and can remove it.
        if body != nil { redirected.httpBodyStream = InputStream(data: Data()) }
        guard var target = try config.redirects.next(after: response, to: redirected, config.redaction)
        else { return nil }
        guard redirects < RedirectPolicy.maximum else {
            throw RequestError.refusedRedirect("a call follows at most \(RedirectPolicy.maximum)", response)
        }
        let keepsBody = body != nil && target.httpBodyStream != nil && target.httpBody == nil
        if keepsBody { target.httpBodyStream = nil }
        var next = following(.redirect(from: response), "to ")
        next.request = target
        if !keepsBody { next.body = nil }
        guard next.canBeSentAgain else {
            if next.body == nil { throw URLError(.requestBodyStreamExhausted) }
            throw RequestError.refusedRedirect("its body can be sent once, and was sent; send data or a file", response)
        }
        next.isForeign = isForeign || Origin(target.url) != Origin(url)
        next.redirects += 1
        next.repetitions = 0
        return next
    }

    /// Another attempt after a transient failure, or the end.
    ///
    /// See ``next(after:of:_:remaining:jitter:)`` for the parameters.
    func retry(
        after outcome: Result<Received, any Error>, of sent: URLRequest, _ config: URLSession.Config,
        remaining: @autoclosure () -> Duration?, jitter: @autoclosure () -> Double = .random(in: 0...1)
    ) -> Self {
        // Most calls end here.
        guard attempts < config.retry.attempts, !config.retry.accepts(outcome.map(\.response.status))
        else { return following(.end) }
        guard canBeSentAgain else {
            return following(.end, "not retried: the body can be sent once, and was sent")
        }
        guard sent.isRepeatable, request.isRepeatable else {
            return following(.end, "not retried: \((sent.httpMethod ?? "GET").onOneLine) without idempotencyKey")
        }
        let (delay, note) = config.retry.delay(
            after: attempts, try? outcome.get().response, now: Date(), remaining: remaining(),
            jitter: jitter())
        var next = following(delay.map { .wait($0) } ?? .end, note)
        next.attempts += 1
        return next
    }
}
