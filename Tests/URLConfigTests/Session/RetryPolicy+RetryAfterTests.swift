import Foundation
import Testing

@testable import URLConfig

/// `Retry-After`, in both of its forms (RFC 9110 §10.2.3).
@Suite struct RetryPolicyRetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT, the example of the RFC.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private func answer(_ retryAfter: String) throws -> DataResponse {
        var answer = URLRequest(url: try #require(URL(string: "https://a.example"))).answered(503)
        answer.headerFields[.retryAfter] = retryAfter
        return answer
    }

    private func next(
        _ retryAfter: String, _ policy: RetryPolicy = .standard, remaining: Duration? = nil
    ) throws -> (delay: Duration, reason: String)? {
        var generator = SeededGenerator(seed: 1)
        let answer = try answer(retryAfter)
        return policy.delay(
            after: 1, of: answer.request, .success(answer), now: Self.now, remaining: remaining,
            jitter: .random(in: 0...1, using: &generator))
    }

    @Test(arguments: [
        ("0", 0), ("3", 3), (" 3\t", 3), ("007", 7), ("120", 120), ("99999999999999999999", 1_000_000_000),
        (String(repeating: "9", count: 400), 1_000_000_000),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sunday, 06-Nov-94 08:50:37 GMT", 60),
        ("Sun Nov  6 08:50:37 1994", 60), ("Wed Nov 16 08:49:37 1994", 864_000),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 1_000_000_000),
    ])
    func `seconds or a date`(text: String, seconds: Int) throws {
        #expect(try answer(text).retryAfter(at: Self.now) == .seconds(seconds))
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1.5", "1e3", "3s", "3 s", "soon", "3, 5", "0x10", "\u{663}", "Infinity", "nan",
        "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:50:37", "Sun, 06 Nov 1994 08:50:37 PST", "1994-11-06T08:50:37Z",
        "Sun, 99 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 25:50:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT, 3",
        "Son, 06 Nov 1994 08:50:37 GMT",
    ])
    func `anything else does not count`(text: String) throws {
        #expect(try answer(text).retryAfter(at: Self.now) == nil)
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
    func `a date is read by the clock of the server`(date: String, text: String, seconds: Int) throws {
        var answer = try answer(text)
        answer.headerFields[.date] = date
        #expect(answer.retryAfter(at: Self.now) == .seconds(seconds))
    }

    @Test func `a response tells it, relative to now`() throws {
        #expect(try answer("3").retryAfter == .seconds(3))
        #expect(try answer("Sun, 06 Nov 1994 08:50:37 GMT").retryAfter == .zero)
        let left = try #require(try answer(Date(timeIntervalSinceNow: 600).httpDate ?? "").retryAfter)
        #expect(left > .seconds(500) && left <= .seconds(600))
        #expect(try answer("soon").retryAfter == nil)
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
            ("0", .nanoseconds(1), false), ("0", .zero, false),
            ("0", .seconds(-1), false),
        ] as [(String, Duration?, Bool)])
    func `longer than the policy allows or than is left, it ends the call`(
        text: String, remaining: Duration?, isWaitedFor: Bool
    ) throws {
        #expect(try (next(text, remaining: remaining) != nil) == isWaitedFor)
    }

    @Test func `how long is the policy's to say`() throws {
        var policy = RetryPolicy.standard
        policy.longestRetryAfter = .seconds(600)
        #expect(try next("600", policy)?.delay == .seconds(600))
        #expect(try next("601", policy) == nil)
        policy.longestRetryAfter = .seconds(-1)
        #expect(try next("0", policy) == nil)
        #expect(try next("junk", policy) != nil)
    }
}
