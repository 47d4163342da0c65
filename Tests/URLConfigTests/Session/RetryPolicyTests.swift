import Foundation
import Testing

@testable import URLConfig

/// Whether and when there is another attempt, without a network.
@Suite struct RetryPolicyTests {
    private func request(_ method: String = "GET", key: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://a.example")))
        request.httpMethod = method
        request.setValue(key, forHTTPHeaderField: "Idempotency-Key")
        return request
    }

    private func delay(
        _ policy: RetryPolicy = .standard, after attempt: Int = 1, of request: URLRequest? = nil,
        _ outcome: Result<DataResponse, any Error>? = nil, remaining: Duration? = nil, seed: UInt64 = 1
    ) throws -> Duration? {
        var generator = SeededGenerator(seed: seed)
        let request = try request ?? self.request()
        return policy.delay(
            after: attempt, of: request, outcome ?? .success(request.answered(503)), now: Date(), remaining: remaining,
            jitter: .random(in: 0...1, using: &generator))?.delay
    }

    @Test(arguments: [(1, 0.5), (2, 1), (3, 2), (5, 8), (6, 16), (7, 20), (8, 20), (1000, 20)])
    func `a wait is anything from nothing to a limit that doubles up to a cap`(attempt: Int, limit: Double) throws {
        let policy = RetryPolicy(attempts: .max)
        let delays = try (0..<2000).map { seed in
            try #require(try delay(policy, after: attempt, seed: seed)) / .seconds(1)
        }
        #expect(delays.allSatisfy { 0...limit ~= $0 })
        #expect(delays.contains { $0 < limit * 0.01 })
        #expect(delays.contains { $0 > limit * 0.99 })
        #expect(abs(delays.reduce(0, +) / 2000 - limit / 2) < limit * 0.03)
    }

    static let extremes: [Duration] = [
        .zero, .nanoseconds(1), .seconds(-1), .seconds(3), .seconds(Int64.max), .seconds(Int64.min),
        Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
    ]

    @Test(arguments: extremes, extremes)
    func `no length of time traps, nor is a wait ever negative`(first: Duration, longest: Duration) throws {
        var policy = RetryPolicy(attempts: .max)
        policy.firstDelay = first
        policy.longestDelay = longest
        for attempt in [1, 2, 64, 1100, .max - 1] {
            let delay = try #require(try delay(policy, after: attempt))
            #expect(delay >= .zero)
            #expect(delay <= max(.zero, min(longest, .seconds(1_000_000_000))))
        }
        for remaining in Self.extremes {
            let delay = try delay(policy, after: 1, remaining: remaining)
            #expect(delay.map { $0 < remaining } ?? true)
        }
    }

    @Test(arguments: [(1, true), (2, true), (3, false), (4, false), (.max, false)])
    func `the standard is three attempts`(attempt: Int, hasNext: Bool) throws {
        #expect(try (delay(after: attempt) != nil) == hasNext)
    }

    @Test(arguments: [1, 0, -1, .min])
    func `without attempts there is no second one`(attempts: Int) throws {
        #expect(try delay(RetryPolicy(attempts: attempts)) == nil)
        #expect(try delay(.none) == nil)
    }

    @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"])
    func `idempotent methods are sent again`(method: String) throws {
        #expect(try delay(of: request(method)) != nil)
    }

    @Test(arguments: ["POST", "PATCH", "CONNECT", "OTHER"])
    func `other methods need an Idempotency-Key`(method: String) throws {
        #expect(try delay(of: request(method)) == nil)
        #expect(try delay(of: request(method, key: "")) == nil)
        #expect(try delay(of: request(method, key: "k")) != nil)
        let lost = Result<DataResponse, any Error>.failure(URLError(.networkConnectionLost))
        #expect(try delay(of: request(method), lost) == nil)
        #expect(try delay(of: request(method, key: "k"), lost) != nil)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504])
    func `answers that may be better the next time`(status: Int) throws {
        #expect(try delay(.standard, .success(request().answered(status))) != nil)
    }

    @Test(arguments: [200, 204, 301, 400, 401, 403, 404, 409, 410, 422, 501, 505, 599])
    func `answers that stay as they are`(status: Int) throws {
        #expect(try delay(.standard, .success(request().answered(status))) == nil)
    }

    @Test(
        arguments: [
            .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
            .notConnectedToInternet, .badServerResponse,
        ] as [URLError.Code])
    func `failures that may pass`(code: URLError.Code) throws {
        #expect(try delay(.standard, .failure(URLError(code))) != nil)
    }

    @Test(
        arguments: [
            URLError(.cancelled), URLError(.badURL), URLError(.unsupportedURL), URLError(.secureConnectionFailed),
            URLError(.serverCertificateUntrusted), URLError(.userAuthenticationRequired),
            URLError(.requestBodyStreamExhausted), URLError(.cannotParseResponse), CancellationError(),
            RequestError(.responseTooLarge, reason: "too long"),
        ] as [any Error])
    func `failures that do not`(error: any Error) throws {
        #expect(try delay(.standard, .failure(error)) == nil)
    }

    @Test func `what counts is the caller's to change`() throws {
        var policy = RetryPolicy.standard
        policy.statuses = [404]
        policy.errors = [.badURL]
        #expect(try delay(policy, .success(request().answered(404))) != nil)
        #expect(try delay(policy, .success(request().answered(503))) == nil)
        #expect(try delay(policy, .failure(URLError(.badURL))) != nil)
        #expect(try delay(policy, .failure(URLError(.timedOut))) == nil)
    }
}
