/// The end of an attempt: a response, or an error.
struct Outcome: Sendable {
    let result: Result<Received, any Error>
    /// Whether a reused connection was closed before a response.
    var isLost = false
}

/// What follows an attempt of a call.
enum Step {
    /// Nothing: the outcome is that of the call.
    case done
    /// The same request on a new connection.
    case `repeat`(Hop)
    /// The request to which a response redirects.
    case redirect(Hop, from: DataResponse)
    /// The same request with other credentials, if the authenticator has them.
    case renew(Received)
    /// The same request after a delay, if the budget allows it.
    case retry(after: Duration, reason: String)

    /// The first rule that applies.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the attempt.
    ///   - sent: The request after it was authorized: an authenticator may have changed its method.
    ///   - hop: The request before it was authorized, and what the call has done until now.
    ///   - config: The settings of the call.
    ///   - remaining: The rest of the deadline; `nil` without one.
    /// - Throws: ``RequestError`` if a redirect is refused, `URLError` if the body cannot be sent again, and the errors
    ///   of the redirect policy.
    static func next(
        after outcome: Outcome, of sent: URLRequest, _ hop: Hop, _ config: URLSession.Config,
        remaining: @autoclosure () -> Duration?
    ) throws -> Self {
        if let step = repetition(after: outcome, of: sent, hop) { return step }
        if case .success(let received) = outcome.result {
            if let step = try redirect(after: received.response, hop, config) { return step }
            let asksForCredentials = config.throwsUnauthorized && !hop.isForeign
            if asksForCredentials, config.isUnauthorized(received.response) { return .renew(received) }
        }
        return retry(after: outcome, of: sent, hop, config, remaining: remaining()) ?? .done
    }

    /// Only a request with an idempotent method is sent again after a lost connection, once (RFC 9112 §9.3.1).
    private static func repetition(after outcome: Outcome, of sent: URLRequest, _ hop: Hop) -> Self? {
        guard outcome.isLost, !hop.isRepeated, sent.hasIdempotentMethod, hop.canBeSentAgain else { return nil }
        var next = hop
        next.isRepeated = true
        return .repeat(next)
    }

    private static func redirect(
        after response: DataResponse, _ hop: Hop, _ config: URLSession.Config
    ) throws -> Self? {
        var redirected = hop.request
        // So that the policy sees that there is a body, and can remove it.
        if hop.body != nil { redirected.httpBodyStream = InputStream(data: Data()) }
        guard var request = try config.redirects.next(after: response, to: redirected, config.redaction)
        else { return nil }
        guard hop.redirects < RedirectPolicy.most else {
            throw RequestError.refusedRedirect("a call follows at most \(RedirectPolicy.most)", response)
        }
        let keepsBody = hop.body != nil && request.httpBodyStream != nil && request.httpBody == nil
        if keepsBody { request.httpBodyStream = nil }
        var next = hop
        next.request = request
        if !keepsBody { next.body = nil }
        guard next.canBeSentAgain else {
            if next.body == nil { throw URLError(.requestBodyStreamExhausted) }
            throw RequestError.refusedRedirect("its body can be sent once, and was sent; send data or a file", response)
        }
        next.isForeign = hop.isForeign || Origin(request.url) != Origin(hop.request.url)
        next.redirects += 1
        next.isRepeated = false
        return .redirect(next, from: response)
    }

    /// Another attempt after a transient failure; `nil` for none.
    ///
    /// The parameters are those of `next`.
    static func retry(
        after outcome: Outcome, of sent: URLRequest, _ hop: Hop, _ config: URLSession.Config,
        remaining: @autoclosure () -> Duration?
    ) -> Self? {
        // Most calls end here.
        guard hop.attempts < config.retry.attempts, hop.canBeSentAgain, sent.isRepeatable else { return nil }
        let delay = config.retry.delay(
            after: hop.attempts, of: hop.request, outcome.result.map(\.response), now: Date(), remaining: remaining(),
            jitter: .random(in: 0...1))
        return delay.map { .retry(after: $0.delay, reason: $0.reason) }
    }
}
