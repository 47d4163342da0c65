import Foundation
import Testing

@testable import URLConfig

/// Calls an authenticator without a server.
extension TokenAuthenticator {
    /// An authenticator with a clock of the test.
    init(
        hosts: Set<String>, leeway: Duration = .seconds(30), renewalLimit: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date,
        load: @escaping @Sendable () async throws -> Token?, refresh: @escaping @Sendable (Token) async throws -> Token?
    ) async {
        self.init(hosts: hosts, leeway: leeway, renewalLimit: renewalLimit, load: load, refresh: refresh)
        self.clock = clock
        self.now = now
    }

    private static let request = URLRequest.with(.init(host: "https://api.example.com")) { _ in }

    /// The `Authorization` of a request that it authorized.
    nonisolated func sent(host: String = "https://api.example.com") async throws -> String? {
        var request = URLRequest(url: try #require(URL(string: host)))
        try await authorize(&request)
        return request.value(forHTTPHeaderField: "Authorization")
    }

    /// The refusal of a request with or without a token.
    static func refusal(of token: String?) -> DataResponse {
        var request = request
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return DataResponse(request: request, status: .unauthorized)
    }
}

extension TokenAuthenticator.Token: Equatable {
    /// Tokens with the same value and expiry are equal.
    public static func == (one: Self, other: Self) -> Bool { one.value == other.value && one.expiry == other.expiry }
}
