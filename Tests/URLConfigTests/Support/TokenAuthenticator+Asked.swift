import Testing

@testable import URLConfig

/// Asks an authenticator without a server.
extension TokenAuthenticator {
    private static let request = URLRequest.with(.init(host: "https://api.example.com")) { _ in }

    /// The `Authorization` field of a request that it has authorized.
    nonisolated func sent(host: String = "https://api.example.com") async throws -> String? {
        var request = URLRequest(url: try #require(URL(string: host)))
        try await authorize(&request)
        return request.value(forHTTPHeaderField: "Authorization")
    }

    /// The refusal of a request that carried a token, or none.
    static func refusal(of token: String?) -> DataResponse {
        var request = request
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return DataResponse(request: request, status: .unauthorized)
    }
}
