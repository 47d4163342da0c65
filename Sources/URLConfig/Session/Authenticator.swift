/// Puts credentials on requests, and gets new ones when a server refuses them.
///
/// ``TokenAuthenticator`` is the usual one. An app can write its own:
///
/// ```swift
/// struct SignedRequests: Authenticator {
///     func authorize(_ request: inout URLRequest) async throws {
///         request.setValue(try await signature(of: request), forHTTPHeaderField: "X-Signature")
///     }
/// }
/// ```
///
/// If it is a class or an actor, calls of `response(for:)` that it makes itself leave without its credentials, as with
/// `authorize = false`. A structure must set that itself.
public protocol Authenticator: Sendable {
    /// Puts credentials on a request, before each time it is sent.
    ///
    /// - Parameter request: The request as the caller made it.
    /// - Throws: Any error; the call of `response(for:)` throws the same.
    func authorize(_ request: inout URLRequest) async throws

    /// Gets new credentials after a server refused those that the request had.
    ///
    /// - Parameter response: The refusal, with the request as it was sent.
    /// - Returns: Whether there are new credentials: the request is then authorized and sent once more.
    /// - Throws: Any error; the call of `response(for:)` throws the same, and does not call
    ///   ``Foundation/URLSession/Config/onUnauthorized``. Return `false` if there are no credentials any more.
    func reauthorize(after response: DataResponse) async throws -> Bool
}

extension Authenticator {
    /// There are no new credentials.
    public func reauthorize(after response: DataResponse) async throws -> Bool { false }
}
