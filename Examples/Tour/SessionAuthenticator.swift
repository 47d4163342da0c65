import URLConfig

/// Puts a token on each request, and fetches another one when it is refused.
actor SessionAuthenticator: Authenticator {
    private var token: String
    private let refreshToken: String

    init(token: String, refreshToken: String) {
        self.token = token
        self.refreshToken = refreshToken
    }

    func authorize(_ request: inout URLRequest) {
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    }

    func reauthorize(after response: DataResponse) async throws -> Bool {
        let request = URLRequest.with(.api) {
            $0.method = .post
            $0.path = "/token"
            $0.body["refresh_token"] = refreshToken
        }
        let answer: Answer = try await URLSession.shared.response(for: request).validated().decode(decoder: .custom)
        token = answer.accessToken
        return true
    }

    private struct Answer: Decodable {
        let accessToken: String
    }
}
