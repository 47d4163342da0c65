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
            after: attempt, of: request, outcome ?? .success(request.response(503)), now: Date(), remaining: remaining,
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

    @Test(arguments: [200, 204, 301, 400, 401, 403, 404, 408, 409, 410, 422, 429, 500, 501, 502, 503, 504, 505, 599])
    func `only transient statuses are retried`(status: Int) throws {
        let isTransient = [408, 429, 500, 502, 503, 504].contains(status)
        #expect(try (delay(.standard, .success(request().response(status))) != nil) == isTransient)
    }

    @Test(
        arguments: [
            .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
            .notConnectedToInternet, .badServerResponse,
        ] as [URLError.Code])
    func `transient failures are retried`(code: URLError.Code) throws {
        #expect(try delay(.standard, .failure(URLError(code))) != nil)
    }

    @Test(
        arguments: [
            URLError(.cancelled), URLError(.badURL), URLError(.unsupportedURL), URLError(.secureConnectionFailed),
            URLError(.serverCertificateUntrusted), URLError(.userAuthenticationRequired),
            URLError(.requestBodyStreamExhausted), URLError(.cannotParseResponse), CancellationError(),
            RequestError(.responseTooLarge, reason: "too long"),
        ] as [any Error])
    func `other failures are not retried`(error: any Error) throws {
        #expect(try delay(.standard, .failure(error)) == nil)
    }

    @Test func `the caller chooses what is retried`() throws {
        var policy = RetryPolicy.standard
        policy.statuses = [404]
        policy.errors = [.badURL]
        #expect(try delay(policy, .success(request().response(404))) != nil)
        #expect(try delay(policy, .success(request().response(503))) == nil)
        #expect(try delay(policy, .failure(URLError(.badURL))) != nil)
        #expect(try delay(policy, .failure(URLError(.timedOut))) == nil)
    }

    // `Retry-After`, in both of its forms (RFC 9110 §10.2.3).

    /// Sun, 06 Nov 1994 08:49:37 GMT, the example of the RFC.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private func response(_ retryAfter: String) throws -> DataResponse {
        var response = try request().response(503)
        response.headerFields[.retryAfter] = retryAfter
        return response
    }

    private func next(
        _ retryAfter: String, _ policy: RetryPolicy = .standard, remaining: Duration? = nil
    ) throws -> (delay: Duration, reason: String)? {
        let response = try response(retryAfter)
        return policy.delay(
            after: 1, of: response.request, .success(response), now: Self.now, remaining: remaining, jitter: 0.5)
    }

    @Test(arguments: [
        ("0", 0), ("3", 3), (" 3\t", 3), ("007", 7), ("120", 120), ("99999999999999999999", 1_000_000_000),
        (String(repeating: "9", count: 400), 1_000_000_000), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60), ("Wed Nov 16 08:49:37 1994", 864_000),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 1_000_000_000),
    ])
    func `seconds or a date`(text: String, seconds: Int) throws {
        #expect(try response(text).retryAfter(at: Self.now) == .seconds(seconds))
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1.5", "1e3", "3s", "3 s", "soon", "3, 5", "0x10", "\u{663}", "Infinity", "nan",
        "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:50:37", "Sun, 06 Nov 1994 08:50:37 PST", "1994-11-06T08:50:37Z",
        "Sun, 99 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 25:50:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT, 3",
        "Son, 06 Nov 1994 08:50:37 GMT",
    ])
    func `anything else is ignored`(text: String) throws {
        #expect(try response(text).retryAfter(at: Self.now) == nil)
        let (delay, reason) = try #require(try next(text))
        #expect(delay > .zero && delay < .milliseconds(500))
        #expect(!reason.contains("Retry-After"))
    }

    @Test(arguments: [
        // The server's clock is an hour fast, slow, right; its Date is invalid.
        ("Sun, 06 Nov 1994 09:49:37 GMT", "Sun, 06 Nov 1994 09:49:47 GMT", 10),
        ("Sun, 06 Nov 1994 07:49:37 GMT", "Sun, 06 Nov 1994 07:49:47 GMT", 10),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:47 GMT", 10),
        ("Sun, 06 Nov 1994 09:49:37 GMT", "Sun, 06 Nov 1994 09:49:30 GMT", 0),
        ("Sun, 06 Nov 1994 09:49:37 GMT", "7", 7), ("now", "Sun, 06 Nov 1994 08:49:47 GMT", 10),
    ])
    func `a date is relative to the clock of the server`(date: String, text: String, seconds: Int) throws {
        var response = try response(text)
        response.headerFields[.date] = date
        #expect(response.retryAfter(at: Self.now) == .seconds(seconds))
    }

    @Test func `a response tells it, relative to now`() throws {
        #expect(try response("3").retryAfter == .seconds(3))
        #expect(try response("Sun, 06 Nov 1994 08:50:37 GMT").retryAfter == .zero)
        let left = try #require(try response(Date(timeIntervalSinceNow: 600).httpDate ?? "").retryAfter)
        #expect(left > .seconds(500) && left <= .seconds(600))
        #expect(try response("soon").retryAfter == nil)
    }

    @Test(arguments: ["3", "Sun, 06 Nov 1994 08:49:40 GMT"])
    func `it replaces the wait, and is the reason`(text: String) throws {
        let (delay, reason) = try #require(try next(text))
        #expect(delay == .seconds(3))
        #expect(reason == "waiting 3.0 s: Retry-After")
    }

    @Test(
        arguments: [
            ("60", nil, true), ("61", nil, false), ("99999999999999999999", nil, false),
            ("Sun, 06 Nov 1994 08:50:38 GMT", nil, false), ("61", .seconds(3600), false), ("60", .seconds(61), true),
            ("60", .seconds(60), false), ("60", .seconds(59), false), ("0", .seconds(1), true),
            ("0", .nanoseconds(1), false), ("0", .zero, false), ("0", .seconds(-1), false),
        ] as [(String, Duration?, Bool)])
    func `if it is longer than the policy allows or than is left, the call ends`(
        text: String, remaining: Duration?, isWaitedFor: Bool
    ) throws {
        #expect(try (next(text, remaining: remaining) != nil) == isWaitedFor)
    }

    @Test func `the policy says how long a wait may be`() throws {
        var policy = RetryPolicy.standard
        policy.longestRetryAfter = .seconds(600)
        #expect(try next("600", policy)?.delay == .seconds(600))
        #expect(try next("601", policy) == nil)
        policy.longestRetryAfter = .seconds(-1)
        #expect(try next("0", policy) == nil)
        #expect(try next("junk", policy) != nil)
    }
}
