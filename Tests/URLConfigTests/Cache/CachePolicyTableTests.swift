import Testing

@testable import URLConfig

private let fresh = "Cache-Control: max-age=10"
private let tag = "ETag: \"a\""
private let seldomChanged = "Last-Modified: {-1000}"

/// What is stored, how long it is fresh, and for which requests it is.
@Suite(.inTime) struct CachePolicyTableTests {
    @Test(arguments: storing + statuses + freshness + dates + variants) func `as RFC 9111 says`(
        row: CacheRow
    ) async throws {
        try await row.run(.memory(megabytes: 1))
    }

    @Test func `a field that Foundation would send selects by what decides about its value`() throws {
        let (key, request) = (Digest.Key(), URLRequest(url: try #require(URL(string: "https://api.test/"))))
        let fields: HTTPFields = [.vary: "Accept-Language, User-Agent, X-A"]
        let head = CachePolicy.head(.ok, fields, to: request, key, requested: 0, received: 0)
        let languages = Locale.preferredLanguages.joined(separator: ",")
        #expect(head.selecting["accept-language"] == Digest("absent" + languages, key: key))
        #expect(head.selecting["user-agent"] != head.selecting["x-a"])
        #expect(head.selecting["x-a"] == Digest("absent", key: key))
        #expect(CachePolicy.matches(head, request, key))
    }
}

/// RFC 9111 §3.
private let storing: [CacheRow] = [
    .init("no-store", .ask(.miss, "\(fresh), no-store", tag), .ask(.miss)),
    .init("no-store in capitals", .ask(.miss, "\(fresh), NO-STORE", tag), .ask(.miss)),
    .init(
        "a new response with no-store ends the old one", .ask(.miss, fresh),
        .ask(.miss, "Cache-Control: no-store", with: "Cache-Control: no-cache"), .ask(.miss)),
    .init("private", .ask(.miss, "\(fresh), private"), .ask(.hit)),
    .init("private with names", .ask(.miss, "\(fresh), private=\"Set-Cookie\""), .ask(.hit)),
    .init(
        "must-understand, and the status is understood", .ask(.miss, "\(fresh), no-store, must-understand"), .ask(.hit)),
    .init(
        "must-understand, and the status is not understood",
        .ask(.miss, "\(fresh), must-understand", status: 299), .ask(.miss, status: 299)),
    .init("neither freshness nor a validator", .ask(.miss), .ask(.miss)),
    .init("POST", .ask(.miss, fresh, method: "POST"), .ask(.miss, fresh, method: "POST"), .ask(.miss)),
    .init("a response to HEAD is no response to GET", .ask(.miss, fresh, method: "HEAD"), .ask(.miss)),
    .init("a response to GET is one to HEAD", .ask(.miss, fresh), .ask(.hit, method: "HEAD")),
    .init(
        "fields of the connection are not stored (§3.1)",
        .ask(.miss, fresh, "Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "X-Kept: 1"),
        .ask(.hit, gives: "!X-Hop", "!Keep-Alive", "!Connection", "X-Kept: 1")),
    .init(
        "fields of a proxy are not stored (§3.1)",
        .ask(
            .miss, fresh, "Proxy-Authenticate: Basic", "Proxy-Authentication-Info: a=b", "Proxy-Connection: close",
            "TE: a", "Trailer: A", "Upgrade: a", "Transfer-Encoding: chunked"),
        .ask(
            .hit, gives: "!Proxy-Authenticate", "!Proxy-Authentication-Info", "!Proxy-Connection", "!TE", "!Trailer",
            "!Upgrade", "!Transfer-Encoding")),
    .init("Set-Cookie is stored", .ask(.miss, fresh, "Set-Cookie: a=b"), .ask(.hit, gives: "Set-Cookie: a=b")),
    .init(
        "credentials: only for who has sent them (§3.5)",
        .ask(.miss, fresh, with: "Authorization: Bearer a"), .ask(.hit, with: "Authorization: Bearer a"),
        .ask(.miss, fresh, with: "Authorization: Bearer b"), .ask(.miss, fresh),
        .ask(.stored(1), with: "Authorization: Bearer a")),
    .init("a trace", .ask(.miss, fresh, with: "traceparent: 1"), .ask(.hit, with: "traceparent: 2")),
    .init("a trace of a service", .ask(.miss, fresh, with: "X-Client-Trace: 1"), .ask(.hit, with: "X-Client-Trace: 2")),
    .init(
        "another key that belongs to traces", .ask(.miss, fresh, with: "X-Trace-Token: 1"),
        .ask(.miss, fresh, with: "X-Trace-Token: 2")),
    .init("another key", .ask(.miss, fresh, with: "X-API-Key: 1"), .ask(.miss, fresh, with: "X-API-Key: 2")),
    .init(
        "another user in the URL", .ask(.miss, fresh, url: "https://a:b@api.test/"),
        .ask(.miss, fresh, url: "https://c:d@api.test/"), .ask(.miss)),
    .init(
        "the same URL in another form", .ask(.miss, fresh, url: "https://api.test/a?b"),
        .ask(.stored(1), url: "HTTPS://API.test:443/a?b#c")),
    .init(
        "cookies: only for who has sent them", .ask(.miss, fresh, with: "Cookie: id=1"),
        .ask(.miss, fresh, with: "Cookie: id=2"), .ask(.stored(1), with: "Cookie: id=1")),
    .init(
        "another query, path and scheme", .ask(.miss, fresh, url: "/?a=1"), .ask(.miss, url: "/?a=2"),
        .ask(.miss, url: "/"), .ask(.miss, url: "http://api.test/?a=1"), .ask(.hit, url: "/?a=1")),
]

/// RFC 9110 §15.1.
private let statuses: [CacheRow] =
    [200, 203, 204, 299, 300, 307, 308, 400, 403, 404, 410, 418, 500, 503].map { status in
        .init("status \(status) with max-age", .ask(.miss, fresh, status: status), .ask(.hit, status: status))
    }
    + [200, 203, 204, 300, 308, 404, 405, 410, 414, 501].map { status in
        .init("status \(status) by a heuristic", .ask(.miss, seldomChanged, status: status), .ask(.hit, after: 90))
    }
    + [201, 202, 302, 307, 400, 403, 500, 503].map { status in
        .init("status \(status) has no heuristic", .ask(.miss, seldomChanged, status: status), .ask(.miss))
    }
    + [
        .init(
            "status 206", .ask(.miss, fresh, "Content-Range: bytes 0-9/99", status: 206, with: "Range: bytes=0-9"),
            .ask(.miss, fresh, status: 206, with: "Range: bytes=0-9"), .ask(.miss)),
        .init(
            "public allows the heuristic for every status",
            .ask(.miss, "Cache-Control: public", seldomChanged, status: 403), .ask(.hit, after: 90)),
    ]

/// RFC 9111 §4.2.
private let freshness: [CacheRow] = [
    .init("max-age", .ask(.miss, fresh), .ask(.hit, after: 9), .ask(.miss, after: 1)),
    .init("max-age=0", .ask(.miss, "Cache-Control: max-age=0"), .ask(.miss)),
    .init("max-age is stronger than Expires", .ask(.miss, fresh, "Expires: {-10}"), .ask(.hit, after: 9)),
    .init("max-age is stronger than a later Expires", .ask(.miss, fresh, "Expires: {99}"), .ask(.miss, after: 11)),
    .init("in capitals", .ask(.miss, "CACHE-CONTROL: MAX-AGE=10"), .ask(.hit)),
    .init("quoted (§5.2)", .ask(.miss, "Cache-Control: max-age=\"10\""), .ask(.hit, after: 9), .ask(.miss, after: 2)),
    .init(
        "in the value of another directive", .ask(.miss, "Cache-Control: a=\"b, max-age=99\", max-age=10"),
        .ask(.hit), .ask(.miss, after: 11)),
    .init("a quoted comma and a backslash", .ask(.miss, #"Cache-Control: a="b\", no-store", max-age=10"#), .ask(.hit)),
    .init("in two fields", .ask(.miss, "Cache-Control: public", fresh), .ask(.hit)),
    .init("twice: the shorter one", .ask(.miss, "Cache-Control: max-age=99, max-age=10"), .ask(.miss, after: 11)),
    .init("twice, in two fields", .ask(.miss, fresh, "Cache-Control: max-age=99"), .ask(.miss, after: 11)),
    .init("2^31 and more", .ask(.miss, "Cache-Control: max-age=2147483648"), .ask(.hit, after: 1_000_000)),
    .init("more than fits", .ask(.miss, "Cache-Control: max-age=99999999999999999999"), .ask(.hit, after: 1_000_000)),
    .init("negative", .ask(.miss, "Cache-Control: max-age=-10", seldomChanged), .ask(.replaced("If-Modified-Since"))),
    .init("a leading zero", .ask(.miss, "Cache-Control: max-age=010"), .ask(.hit)),
    .init("single quotes", .ask(.miss, "Cache-Control: max-age='10'"), .ask(.miss)),
    .init("not a number", .ask(.miss, "Cache-Control: max-age=a10"), .ask(.miss)),
    .init("s-maxage is for shared caches", .ask(.miss, "\(fresh), s-maxage=99"), .ask(.miss, after: 11)),
    .init("s-maxage=0 likewise", .ask(.miss, "\(fresh), s-maxage=0"), .ask(.hit)),
    .init("CDN-Cache-Control is for others", .ask(.miss, fresh, "CDN-Cache-Control: no-store"), .ask(.hit)),
    .init(
        "a tenth of the time since the last change", .ask(.miss, seldomChanged), .ask(.hit, after: 95),
        .ask(.validated("If-Modified-Since"), after: 10)),
    .init(
        "no heuristic beside Expires", .ask(.miss, seldomChanged, "Expires: {10}"),
        .ask(.replaced("If-Modified-Since"), after: 11)),
    .init(
        "a malformed change", .ask(.miss, "Last-Modified: Sat, 1 Jan 2000 00:00:00 GMT"),
        .ask(.replaced("If-Modified-Since"))),
    .init("a change in the future", .ask(.miss, "Last-Modified: {1000}"), .ask(.replaced("If-Modified-Since"))),
    .init("Age", .ask(.miss, fresh, "Age: 8"), .ask(.hit, after: 1), .ask(.miss, after: 1)),
    .init("Age: the first value (§5.1)", .ask(.miss, fresh, "Age: 8, 0"), .ask(.miss, after: 3)),
    .init("Age: the first field", .ask(.miss, fresh, "Age: 0", "Age: 99"), .ask(.hit, after: 3)),
    .init("Age: invalid", .ask(.miss, fresh, "Age: -99"), .ask(.hit)),
    .init("Age: more than fits", .ask(.miss, fresh, "Age: 99999999999999999999"), .ask(.miss)),
    .init("an old Date", .ask(.miss, fresh, "Date: {-8}"), .ask(.hit, after: 1), .ask(.miss, after: 1)),
    .init("a Date in the future", .ask(.miss, fresh, "Date: {99}"), .ask(.hit, after: 9), .ask(.miss, after: 1)),
    .init("no Date", .ask(.miss, fresh, "Date: -"), .ask(.hit, after: 9), .ask(.miss, after: 1)),
    .init("the age is told (§4)", .ask(.miss, fresh), .ask(.hit, after: 5, gives: "Age: 5")),
    .init(
        "the age of others is added", .ask(.miss, "Cache-Control: max-age=99", "Age: 30"),
        .ask(.hit, after: 5, gives: "Age: 35")),
]

/// RFC 9111 §5.3.
private let dates: [CacheRow] =
    [
        .init("Expires", .ask(.miss, "Expires: {10}"), .ask(.hit, after: 9), .ask(.miss, after: 2)),
        .init(
            "Expires without Date", .ask(.miss, "Expires: {10}", "Date: -"), .ask(.hit, after: 8),
            .ask(.miss, after: 3)),
        .init("Expires counts from Date", .ask(.miss, "Expires: {110}", "Date: {100}"), .ask(.miss, after: 11)),
        .init("the earlier of two", .ask(.miss, "Expires: {99}", "Expires: {10}"), .ask(.miss, after: 11)),
    ]
    + ["Sun, 06 Nov 2095 08:49:37 GMT", "Saturday, 06-Nov-60 08:49:37 GMT", "Sun Nov  6 08:49:37 2095"].map { date in
        .init("Expires: \(date)", .ask(.miss, "Expires: \(date)"), .ask(.hit))
    }
    + [
        "0", "-1", "Sun, 06 Nov 2095 08:49:37 UTC", "Sun, 06 Nov 2095 08:49:37", "Sun, 06 Nov 2095 08.49.37 GMT",
        "Sun, 06  Nov 2095 08:49:37 GMT", "Sun, 06 Nov 2095 8:49:37 GMT", "Sun, 31 Feb 2095 08:49:37 GMT",
        "Sun, 06 Nov 95 08:49:37 GMT", "Sun 06 Nov 2095 08:49:37 GMT", "Sun, 06-Nov-2095 08:49:37 GMT",
    ].map { date in
        .init(
            "Expires: \(date)", .ask(.miss, "Expires: \(date)", seldomChanged),
            .ask(.replaced("If-Modified-Since")))
    }

/// RFC 9111 §4.1.
private let variants: [CacheRow] = [
    .init(
        "several variants",
        .ask(.miss, fresh, "Vary: A", with: "A: 1"), .ask(.miss, fresh, "Vary: A", with: "A: 2"),
        .ask(.stored(1), with: "A: 1"), .ask(.stored(2), with: "a: 2"), .ask(.miss, with: "A: 3")),
    .init("a field that is missing", .ask(.miss, fresh, "Vary: A"), .ask(.hit), .ask(.miss, with: "A: 1")),
    .init("a field that is there", .ask(.miss, fresh, "Vary: A", with: "A: 1"), .ask(.miss)),
    .init(
        "several fields, in any case",
        .ask(.miss, fresh, "Vary: a", "Vary: , B ,C", with: "A: 1", "B: 2"), .ask(.hit, with: "B: 2", "A: 1", "D: 4"),
        .ask(.miss, with: "A: 1", "B: 2", "C: 3")),
    .init(
        "two values are not the first", .ask(.miss, fresh, "Vary: A", with: "A: 1"), .ask(.miss, with: "A: 1", "A: 2")),
    .init("*", .ask(.miss, fresh, "Vary: *"), .ask(.miss)),
    .init("* among others", .ask(.miss, fresh, "Vary: A, *"), .ask(.miss)),
    .init("* in a second field", .ask(.miss, fresh, "Vary: ", "Vary: *"), .ask(.miss)),
    .init(
        "the newest of two that fit", .ask(.miss, fresh, "Vary: A", with: "A: 1"),
        .ask(.miss, fresh, "Vary: B", after: 1, with: "A: 1", "Cache-Control: no-cache"),
        .ask(.stored(2), after: 1, with: "A: 1")),
    .init(
        "the newest of two is the one with the later date (§4)", .ask(.miss, fresh, "Vary: A", with: "A: 1"),
        .ask(
            .miss, "Cache-Control: max-age=999", "Vary: B", "Date: {-100}", after: 1, with: "A: 1",
            "Cache-Control: no-cache"),
        .ask(.stored(1), after: 1, with: "A: 1")),
]
