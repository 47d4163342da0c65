import Testing

@testable import URLConfig

/// Whether and when there is another attempt, without a network.
@Suite struct RetryPolicyTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT, the example of the RFC.
    private static let now = Date(timeIntervalSince1970: 784_111_777)
    private static let url = URL(string: "https://a.example")!

    private func request(_ method: String = "GET", key: String? = nil) -> URLRequest {
        var request = URLRequest(url: Self.url)
        request.httpMethod = method
        request.setValue(key, forHTTPHeaderField: "Idempotency-Key")
        return request
    }

    private func response(_ status: HTTPResponse.Status = .serviceUnavailable, after text: String? = nil)
        -> DataResponse
    {
        var response = DataResponse(request: request(), status: status)
        response.headerFields[.retryAfter] = text
        return response
    }

    /// Whether there is another attempt after an outcome, by default 503.
    private func retries(
        _ policy: RetryPolicy = .standard, after attempt: Int = 1, of request: URLRequest? = nil,
        _ outcome: Result<HTTPResponse.Status, any Error> = .success(.serviceUnavailable)
    ) -> Bool {
        let request = request ?? self.request()
        var step = Step(request)
        step.attempts = attempt
        let config = URLSession.Config.silent.with { $0.retry = policy }
        let next = step.retry(
            after: outcome.map { Received(response: response($0)) }, of: request, config, remaining: nil)
        if case .wait = next.kind { return true }
        return false
    }

    @Test(arguments: [(1, 0.5), (2, 1), (3, 2), (5, 8), (6, 16), (7, 20), (8, 20), (1000, 20)])
    func `a delay is anything from nothing to a limit that doubles up to a cap`(attempt: Int, limit: Double) throws {
        var generator = SeededGenerator(seed: 1)
        let delays = try (0..<2000).map { _ in
            let jitter = Double.random(in: 0...1, using: &generator)
            let (delay, _) = RetryPolicy.standard.delay(
                after: attempt, nil, now: Self.now, remaining: nil, jitter: jitter)
            return try #require(delay) / .seconds(1)
        }
        #expect(delays.allSatisfy { 0...limit ~= $0 })
        #expect(delays.contains { $0 < limit * 0.01 })
        #expect(delays.contains { $0 > limit * 0.99 })
        #expect(abs(delays.reduce(0, +) / 2000 - limit / 2) < limit * 0.03)
    }

    @Test func `a first delay that is longer than the longest one is the longest`() {
        var policy = RetryPolicy.standard
        policy.firstDelay = .seconds(60)
        let delays = (1...2).map { policy.delay(after: $0, nil, now: Self.now, remaining: nil, jitter: 1).delay }
        #expect(delays == [.seconds(60), .seconds(60)])
    }

    static let extremes: [Duration] = [
        .zero, .nanoseconds(1), .seconds(-1), .seconds(3), .seconds(Int64.max), .seconds(Int64.min),
        Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
    ]

    @Test(arguments: extremes, extremes)
    func `no length of time traps, and no delay is negative`(first: Duration, longest: Duration) throws {
        var policy = RetryPolicy(attempts: .max)
        (policy.firstDelay, policy.longestDelay) = (first, longest)
        for attempt in [1, 2, 64, 1100, .max - 1] {
            let (delay, _) = policy.delay(after: attempt, nil, now: Self.now, remaining: nil, jitter: 0.7)
            #expect(try #require(delay) >= .zero)
            #expect(try #require(delay) <= max(.zero, min(max(first, longest), .seconds(1_000_000_000))))
        }
        for remaining in Self.extremes {
            let (delay, _) = policy.delay(after: 1, nil, now: Self.now, remaining: remaining, jitter: 0.7)
            #expect(delay.map { $0 < remaining } ?? true)
        }
    }

    @Test(arguments: [(1, true), (2, true), (3, false), (4, false), (.max, false)])
    func `the standard is three attempts, and none or nil is one`(attempt: Int, hasNext: Bool) {
        #expect(retries(after: attempt) == hasNext)
        for policy in [nil, .none] + [1, 0, -1, .min].map(RetryPolicy.init) as [RetryPolicy] {
            #expect(!retries(policy, after: attempt))
        }
    }

    @Test(
        arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY", "POST", "PATCH", "CONNECT", "OTHER"])
    func `methods that are not idempotent need an Idempotency-Key`(method: String) {
        let isIdempotent = !["POST", "PATCH", "CONNECT", "OTHER"].contains(method)
        for outcome in [.success(.serviceUnavailable), .failure(URLError(.networkConnectionLost))]
            as [Result<HTTPResponse.Status, any Error>]
        {
            #expect(retries(of: request(method), outcome) == isIdempotent)
            for key in ["", " ", "\t "] {
                #expect(retries(of: request(method, key: key), outcome) == isIdempotent)
            }
            #expect(retries(of: request(method, key: "k"), outcome))
        }
    }

    @Test(arguments: [200, 204, 301, 400, 401, 403, 404, 408, 409, 410, 422, 429, 500, 501, 502, 503, 504, 505, 599])
    func `only transient statuses are retried`(status: Int) {
        let isTransient = [408, 429, 500, 502, 503, 504].contains(status)
        #expect(retries(.standard, .success(.init(code: status))) == isTransient)
    }

    @Test(
        arguments: [
            (URLError(.timedOut), true), (URLError(.cannotFindHost), true), (URLError(.cannotConnectToHost), true),
            (URLError(.networkConnectionLost), true), (URLError(.dnsLookupFailed), true),
            (URLError(.notConnectedToInternet), true), (URLError(.badServerResponse), true),
            (URLError(.cancelled), false), (URLError(.badURL), false), (URLError(.unsupportedURL), false),
            (URLError(.secureConnectionFailed), false), (URLError(.serverCertificateUntrusted), false),
            (URLError(.userAuthenticationRequired), false), (URLError(.requestBodyStreamExhausted), false),
            (URLError(.cannotParseResponse), false), (CancellationError(), false),
            (RequestError(.responseTooLarge, reason: "too long"), false),
        ] as [(any Error, Bool)])
    func `only transient failures are retried`(error: any Error, isTransient: Bool) {
        #expect(retries(.standard, .failure(error)) == isTransient)
    }

    @Test func `the caller chooses what is retried`() {
        var policy = RetryPolicy.standard
        (policy.statuses, policy.errors) = ([404], [.badURL])
        #expect(retries(policy, .success(.notFound)) && retries(policy, .failure(URLError(.badURL))))
        #expect(!retries(policy) && !retries(policy, .failure(URLError(.timedOut))))
    }

    // `Retry-After`, in both of its forms (RFC 9110 §10.2.3).

    private func next(
        _ retryAfter: String, _ policy: RetryPolicy = .standard, remaining: Duration? = nil
    ) -> (delay: Duration?, note: String) {
        policy.delay(after: 1, response(after: retryAfter), now: Self.now, remaining: remaining, jitter: 0.5)
    }

    @Test(arguments: [
        ("0", 0), ("3", 3), (" 3\t", 3), ("007", 7), ("120", 120), ("99999999999999999999", 1_000_000_000),
        (String(repeating: "9", count: 400), 1_000_000_000), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60), ("Wed Nov 16 08:49:37 1994", 864_000),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 1_000_000_000),
    ])
    func `seconds or a date`(text: String, seconds: Int) {
        #expect(response(after: text).retryAfter(at: Self.now) == .seconds(seconds))
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1.5", "1e3", "3s", "3 s", "soon", "3, 5", "0x10", "\u{663}", "Infinity", "nan",
        "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:50:37", "Sun, 06 Nov 1994 08:50:37 PST", "1994-11-06T08:50:37Z",
        "Sun, 99 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 25:50:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT, 3",
        "Son, 06 Nov 1994 08:50:37 GMT",
    ])
    func `anything else is ignored`(text: String) {
        #expect(response(after: text).retryAfter(at: Self.now) == nil)
        #expect(next(text) == (.milliseconds(250), "waiting 250 ms"))
    }

    @Test(arguments: [
        // The server's clock is an hour fast, slow, right; its Date is invalid, or sent twice.
        ("Sun, 06 Nov 1994 09:49:37 GMT", "Sun, 06 Nov 1994 09:49:47 GMT", 10),
        ("Sun, 06 Nov 1994 07:49:37 GMT", "Sun, 06 Nov 1994 07:49:47 GMT", 10),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:47 GMT", 10),
        ("Sun, 06 Nov 1994 09:49:37 GMT", "Sun, 06 Nov 1994 09:49:30 GMT", 0),
        ("Sun, 06 Nov 1994 09:49:37 GMT", "7", 7), ("now", "Sun, 06 Nov 1994 08:49:47 GMT", 10),
        (
            "Sun, 06 Nov 1994 09:49:37 GMT, Sun, 06 Nov 1994 09:49:37 GMT", "Sun, 06 Nov 1994 09:49:47 GMT", 10
        ),
    ])
    func `a date is relative to the clock of the server`(date: String, text: String, seconds: Int) {
        var response = response(after: text)
        response.headerFields[.date] = date
        #expect(response.retryAfter(at: Self.now) == .seconds(seconds))
    }

    @Test func `a response tells it, relative to now`() throws {
        #expect(response(after: "3").retryAfter == .seconds(3))
        #expect(response(after: "Sun, 06 Nov 1994 08:50:37 GMT").retryAfter == .zero)
        let left = try #require(response(after: Date(timeIntervalSinceNow: 600).httpDate).retryAfter)
        #expect(left > .seconds(500) && left <= .seconds(600))
        #expect(response(after: "soon").retryAfter == nil)
        // Several fields are joined.
        #expect(response(after: "3, 3").retryAfter == .seconds(3))
        #expect(response(after: "3, 4").retryAfter == nil)
        let date = "Sun, 06 Nov 1994 08:50:37 GMT"
        #expect(response(after: "\(date), \(date)").retryAfter == .zero)
        #expect(response(after: "\(date), Mon, 07 Nov 1994 08:50:37 GMT").retryAfter == nil)
    }

    @Test(arguments: ["3", "Sun, 06 Nov 1994 08:49:40 GMT"])
    func `it replaces the delay, and is the reason`(text: String) {
        #expect(next(text) == (.seconds(3), "waiting 3.0 s: Retry-After"))
    }

    @Test(
        arguments: [
            ("60", nil, nil), ("61", nil, "longer"), ("99999999999999999999", nil, "longer"),
            ("Sun, 06 Nov 1994 08:50:38 GMT", nil, "longer"), ("61", .seconds(3600), "longer"),
            ("60", .seconds(61), nil), ("60", .seconds(60), "deadline"), ("60", .seconds(59), "deadline"),
            ("0", .seconds(1), nil), ("0", .nanoseconds(1), "deadline"), ("0", .zero, "deadline"),
            ("0", .seconds(-1), "deadline"),
        ] as [(String, Duration?, String?)])
    func `if it is longer than the policy allows or than is left, the call ends, and says why`(
        text: String, remaining: Duration?, reason: String?
    ) {
        let (delay, note) = next(text, remaining: remaining)
        #expect((delay == nil) == (reason != nil))
        #expect(note.hasPrefix("not retried: ") == (reason != nil) && note.contains(reason ?? "waiting"))
    }

    @Test func `the policy says how long a delay may be`() {
        var policy = RetryPolicy.standard
        policy.longestRetryAfter = .seconds(600)
        #expect(next("600", policy).delay == .seconds(600))
        let note = "not retried: Retry-After, 601.0 s, is longer than longestRetryAfter, 600.0 s"
        #expect(next("601", policy) == (nil, note))
        policy.longestRetryAfter = .seconds(-1)
        #expect(next("0", policy).delay == nil)
        #expect(next("junk", policy).delay != nil)
    }
}
