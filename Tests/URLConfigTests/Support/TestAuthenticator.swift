import URLConfig

/// An authenticator made of functions; without the second one, a refusal is final.
struct TestAuthenticator: Authenticator {
    private let credentials: @Sendable (inout URLRequest) async throws -> Void
    private let renewal: @Sendable (DataResponse) async throws -> Bool

    init(
        _ authorize: @escaping @Sendable (inout URLRequest) async throws -> Void = { _ in },
        reauthorize: @escaping @Sendable (DataResponse) async throws -> Bool = { _ in false }
    ) {
        (credentials, renewal) = (authorize, reauthorize)
    }

    func authorize(_ request: inout URLRequest) async throws { try await credentials(&request) }
    func reauthorize(after response: DataResponse) async throws -> Bool { try await renewal(response) }
}
