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

    /// Renews the credentials after a server refused a request because of its credentials.
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

    /// The authenticator itself; `nil` for value types.
    var object: AnyObject? { type(of: self) is AnyClass ? self as AnyObject : nil }
}

extension URLSession.Config {
    /// The authenticator if it is one for tokens, which knows more of its user than the protocol says.
    var tokens: TokenAuthenticator? { authenticator as? TokenAuthenticator }
}
