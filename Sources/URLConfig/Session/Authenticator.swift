/// Puts credentials on requests, and gets new ones when a server refuses them.
///
/// ``TokenAuthenticator`` is the usual one. One of an app's own:
///
/// ```swift
/// struct SignedRequests: Authenticator {
///     func authorize(_ request: inout URLRequest) async throws {
///         request.setValue(try await signature(of: request), forHTTPHeaderField: "X-Signature")
///     }
/// }
/// ```
///
/// Calls of `response(for:)` that an authenticator makes itself leave without its credentials, as with `authorize =
/// false`, if it is a class or an actor. A structure must see to it itself.
public protocol Authenticator: Sendable {
    /// Puts credentials on a request, before each time it is sent.
    ///
    /// - Parameter request: The request as the caller made it.
    /// - Throws: Whatever it likes; the call of `response(for:)` throws the same.
    func authorize(_ request: inout URLRequest) async throws

    /// Gets new credentials after a server refused those that the request had.
    ///
    /// - Parameter response: The refusal, with the request as it was sent.
    /// - Returns: Whether new credentials are ready: the request is then authorized and sent once more.
    /// - Throws: Whatever it likes; the call of `response(for:)` throws the same, and does not ask
    ///   ``Foundation/URLSession/Config/onUnauthorized``: return `false` for credentials that cannot be had any more.
    func reauthorize(after response: DataResponse) async throws -> Bool
}

extension Authenticator {
    /// There are no new credentials to be had.
    public func reauthorize(after response: DataResponse) async throws -> Bool { false }
}

/// An authenticator that knows more about a refusal than that it has no new credentials.
protocol RefusalExplaining: Authenticator {
    /// What a refusal means for which there are no new credentials.
    func explanation(of refusal: DataResponse) async -> RefusalExplanation
}

/// What an authenticator knows about a refusal.
struct RefusalExplanation: Sendable {
    /// What happened, without secrets; `nil` if the authenticator's credentials were sent.
    var reason: String?
    /// Whether it is the first refusal of these credentials, and the user is to be signed out.
    var isFirstRefusal: Bool
}
