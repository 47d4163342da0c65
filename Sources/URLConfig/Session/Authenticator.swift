/// Puts credentials on requests, and gets new ones when a server refuses them.
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
/// Calls of `response(for:)` that a class or an actor makes itself are sent without its credentials, as with
/// `authorize = false`. A structure must set that itself.
public protocol Authenticator: Sendable {
    /// Puts credentials on a request, before each time it is sent.
    ///
    /// - Parameter request: The request as the caller made it.
    /// - Throws: Any error; the call of `response(for:)` rethrows it.
    func authorize(_ request: inout URLRequest) async throws

    /// Gets new credentials after a server refused those of the request.
    ///
    /// - Parameter response: The refusal, with the request as it was sent.
    /// - Returns: Whether there are new credentials: the request is then authorized and sent once more.
    /// - Throws: Any error; the call of `response(for:)` rethrows it and does not call
    ///   ``Foundation/URLSession/Config/onUnauthorized``. Return `false` if the user must sign in again.
    func reauthorize(after response: DataResponse) async throws -> Bool
}

extension Authenticator {
    /// There are no new credentials.
    public func reauthorize(after response: DataResponse) async throws -> Bool { false }
}
