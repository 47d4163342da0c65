/// Puts credentials on requests, and gets new ones when a server refuses them.
///
/// ```swift
/// actor SessionAuthenticator: Authenticator {
///     func authorize(_ request: inout URLRequest) async throws {
///         request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
///     }
///     func reauthorize(after response: DataResponse) async throws -> Bool {
///         token = try await refresh()
///         return true
///     }
/// }
/// ```
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
    /// - Throws: Whatever it likes; the call of `response(for:)` throws the same.
    func reauthorize(after response: DataResponse) async throws -> Bool
}

extension Authenticator {
    /// There are no new credentials to be had.
    public func reauthorize(after response: DataResponse) async throws -> Bool { false }
}
