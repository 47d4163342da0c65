import URLConfig

/// Puts a token on each request, and gets another one when the server refuses it.
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
        token = try await Grant.refreshed(refreshToken).accessToken
        return true
    }
}

struct Grant: Decodable {
    let accessToken: String

    static func refreshed(_ refreshToken: String) async throws -> Self {
        let request = URLRequest.with(.api) {
            $0.method = .post
            $0.path = "/token"
            $0.body["refresh_token"] = refreshToken
        }
        return try await URLSession.shared.response(for: request).validated().decode()
    }
}
