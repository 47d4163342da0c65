import Testing

@testable import URLConfig

/// A sign-in service that cannot be reached.
struct Unreachable: Error {}

/// Calls an authenticator without a server.
extension TokenAuthenticator {
    private static let apiHosts: Set<String> = ["api.example.com", "api.test", "127.0.0.1"]

    /// Longer than any test: a renewal that is not about its limit may have to wait for a thread.
    private static let noLimit = Duration.seconds(86_400)

    /// An authenticator with a clock of the test, whose renewals may take 30 s of it; real time has no limit.
    init(
        hosts: Set<String> = apiHosts, leeway: Duration = .seconds(30), renewalLimit: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date,
        load: @escaping @Sendable () async throws -> Token?, refresh: @escaping @Sendable (Token) async throws -> Token?
    ) async {
        let limit = renewalLimit ?? (clock is ContinuousClock ? Self.noLimit : .seconds(30))
        self.init(hosts: hosts, leeway: leeway, renewalLimit: limit, load: load, refresh: refresh)
        self.clock = clock
        self.now = now
    }

    /// An authenticator whose `load` always returns the same.
    init(
        _ loaded: Token?, hosts: Set<String> = apiHosts,
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) },
        refresh: @escaping @Sendable (Token) async throws -> Token?
    ) {
        self.init(
            hosts: hosts, renewalLimit: Self.noLimit, authorization: authorization, load: { loaded }, refresh: refresh)
    }

    private static let request = URLRequest.with(.init(host: "https://api.example.com")) { _ in }

    /// The `Authorization` of a request that it authorized.
    nonisolated func sent(host: String = "https://api.example.com") async throws -> String? {
        var request = URLRequest(url: try #require(URL(string: host)))
        try await authorize(&request)
        return request.value(forHTTPHeaderField: "Authorization")
    }

    /// Replaces the time.
    func set(now: @escaping @Sendable () -> Date) { self.now = now }

    /// Refuses a request with or without a token; `true` if it is to be sent again.
    nonisolated func refuse(_ token: String?) async throws -> Bool {
        var request = Self.request
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return try await reauthorize(after: DataResponse(request: request, status: .unauthorized))
    }

    /// Waits until this number of requests waits for the renewal; otherwise the test fails.
    nonisolated func waitForWaiters(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
        try? await waitUntil("\(count) waiters", sourceLocation: sourceLocation) { await waiting == count }
    }
}

extension TokenAuthenticator.Token: Equatable, ExpressibleByStringLiteral {
    /// Tokens with the same value and expiry are equal.
    public static func == (one: Self, other: Self) -> Bool { one.value == other.value && one.expiry == other.expiry }

    /// A token without an expiry.
    public init(stringLiteral value: String) { self.init(value) }
}

extension TestServer {
    /// Sends a request, expects that it is refused, and notes the refusals that sign the user out.
    @discardableResult
    func refusal(
        _ authenticator: TokenAuthenticator?, _ signOuts: Recorder<String> = Recorder(),
        _ configure: (inout URLRequest.Config) -> Void = { _ in }
    ) async -> RequestError? {
        let request = request(nil, configure)
        return await expectError(.unauthorized) {
            try await response(for: request) {
                $0.authenticator = authenticator
                $0.onUnauthorized = { signOuts.note($0.request.field("Authorization") ?? "none") }
            }
        }
    }
}
