/// Adds credentials to requests, and renews them when a server refuses them.
///
/// ``TokenAuthenticator`` is for tokens. An app can write its own:
///
/// ```swift
/// struct SignedRequests: Authenticator {
///     func authorize(_ request: inout URLRequest) async throws {
///         request.setValue(try await signature(of: request), forHTTPHeaderField: "X-Signature")
///     }
/// }
/// ```
///
/// It receives every request of a call until a redirect leaves the origin, so it must check the host before it adds a
/// secret, as ``TokenAuthenticator`` does.
///
/// If an authenticator that is a class or an actor calls `response(for:)`, that request is sent without its
/// credentials. A structure must set `authorize = false` for such a call.
public protocol Authenticator: Sendable {
    /// Adds credentials to a request. It is called before each attempt.
    ///
    /// - Parameter request: The request as the caller made it.
    /// - Throws: Any error; the call of `response(for:)` rethrows it.
    func authorize(_ request: inout URLRequest) async throws

    /// Renews the credentials after a server refused those of a request.
    ///
    /// - Parameter response: The response that refuses them, with the request as it was sent.
    /// - Returns: `true` if there are new credentials. Then the request is authorized and sent once more.
    /// - Throws: Any error; the call of `response(for:)` rethrows it and does not call
    ///   ``Foundation/URLSession/Config/onUnauthorized``. Return `false` if the user must sign in again.
    func reauthorize(after response: DataResponse) async throws -> Bool
}

extension Authenticator {
    /// Returns `false`: there are no new credentials.
    public func reauthorize(after response: DataResponse) async throws -> Bool { false }
}

extension Authenticator {
    /// The authenticator itself; `nil` for value types.
    var object: AnyObject? { type(of: self) is AnyClass ? self as AnyObject : nil }
}

extension Call {
    /// Asks the authenticator for other credentials.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unauthorized`` if there are none, or if the request
    ///   cannot be sent again.
    func renew(_ step: Step, after received: Received) async throws {
        var response = received.response
        response.requestAsMade = step.request
        var reason = "the server refused the credentials" + (step.hasNewCredentials ? ", and the new ones too" : "")
        var hasOthers = false
        if let authenticator = config.authenticator, !step.hasNewCredentials {
            // A renewal may need the connection, and the body of a stream may not end.
            received.endBody()
            hasOthers = try await deadline.run { [response] in
                try await WorkScope.of(authenticator.object) { try await authenticator.reauthorize(after: response) }
            }
        }
        try Task.checkCancellation()
        if hasOthers {
            if step.canBeSentAgain { return }
            // The next call uses the new credentials, so the user must not be signed out.
            reason += "; there are new credentials, but the body stream cannot be sent again"
        } else {
            response.data = try await received.withContent(config.clock).response.data
            let refusal = await (config.authenticator as? TokenAuthenticator)?.explanation(of: response)
            let hasNone = config.authenticator == nil && step.request.value(forHTTPHeaderField: "Authorization") == nil
            let none = "the request has no Authorization, and the call has no authenticator; \(RequestError.leftOut)"
            let ownReason = hasNone ? none : reason
            if !session.addsAuthorization { reason = refusal?.reason ?? ownReason }
            if refusal?.isFirstRefusal ?? true, let onUnauthorized = config.onUnauthorized {
                try await deadline.run { [response] in await onUnauthorized(response) }
            }
        }
        throw RequestError(.unauthorized, reason: reason, response: response)
    }
}
