import Testing
import URLConfigTesting

@testable import URLConfig

private let fresh = "Cache-Control: max-age=10"
private let tag = "ETag: \"a\""
private let condition = "If-None-Match: \"a\""
private let seldomChanged = "Last-Modified: {-1000}"

/// What RFC 9111 says, in its order.
@Suite struct CachePolicyTableTests {
    @Test(arguments: storing + statuses) func `what is stored`(row: CacheRow) async throws {
        try await row.run(.memory(megabytes: 1))
    }

    @Test(arguments: freshness + dates) func `how long a response is fresh`(row: CacheRow) async throws {
        try await row.run(.memory(megabytes: 1))
    }

    @Test(arguments: variants) func `which response is selected`(row: CacheRow) async throws {
        try await row.run(.memory(megabytes: 1))
    }

    @Test(arguments: validation) func `how a response is validated`(row: CacheRow) async throws {
        try await row.run(.memory(megabytes: 1))
    }

    @Test(arguments: invalidation) func `what removes a response`(row: CacheRow) async throws {
        try await row.run(.memory(megabytes: 1))
    }

    @Test(arguments: requests) func `what a request asks for`(row: CacheRow) async throws {
        try await row.run(.memory(megabytes: 1))
    }

    @Test(arguments: stale) func `when a stale response is used`(row: CacheRow) async throws {
        try await row.run(.memory(megabytes: 1))
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
            "TE: a", "Trailer: A", "Upgrade: a", "Transfer-Encoding: a"),
        .ask(
            .hit, gives: "!Proxy-Authenticate", "!Proxy-Authentication-Info", "!Proxy-Connection", "!TE", "!Trailer",
            "!Upgrade", "!Transfer-Encoding")),
    .init("Set-Cookie is stored", .ask(.miss, fresh, "Set-Cookie: a=b"), .ask(.hit, gives: "Set-Cookie: a=b")),
    .init(
        "credentials: only for who has sent them (§3.5)",
        .ask(.miss, fresh, with: "Authorization: Bearer a"), .ask(.hit, with: "Authorization: Bearer a"),
        .ask(.miss, fresh, with: "Authorization: Bearer b"), .ask(.miss, fresh),
        .ask(.stored(1), with: "Authorization: Bearer a")),
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
]

/// RFC 9111 §3.2, §4.3.
private let validation: [CacheRow] = [
    .init(
        "an entity tag", .ask(.miss, fresh, tag), .ask(.validated(condition), after: 11), .ask(.hit, after: 9),
        .ask(.validated(condition), after: 2)),
    .init("a weak entity tag", .ask(.miss, "ETag: W/\"a\""), .ask(.validated("If-None-Match: W/\"a\""))),
    .init(
        "a date", .ask(.miss, "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Cache-Control: no-cache"),
        .ask(.validated("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"))),
    .init(
        "both", .ask(.miss, tag, seldomChanged, "Cache-Control: no-cache"), .ask(.validated(condition)),
        .ask(.validated("If-Modified-Since"))),
    .init("a new response", .ask(.miss, fresh, tag), .ask(.replaced(condition), fresh, after: 11), .ask(.stored(2))),
    .init(
        "a 304 changes fields (§3.2)", .ask(.miss, fresh, tag, "A: 1", "B: 1"),
        .ask(.validated(condition), "Cache-Control: max-age=99", "A: 2", after: 11, gives: "A: 2", "B: 1"),
        .ask(.hit, after: 90, gives: "A: 2", "B: 1")),
    .init(
        "a 304 does not change what describes the body", .ask(.miss, fresh, tag, "Content-Length: 10"),
        .ask(.validated(condition), "Content-Length: 99", "Connection: A", "A: 1", after: 11),
        .ask(.hit, gives: "Content-Length: 10", "!A")),
    .init(
        "a failure is passed on", .ask(.miss, fresh, tag), .ask(.replaced(condition), status: 503, after: 11),
        .ask(.stored(1), policy: .returnCacheDataDontLoad)),
    .init("no-cache", .ask(.miss, "\(fresh), no-cache", tag), .ask(.validated(condition))),
    .init("no-cache without a validator", .ask(.miss, "\(fresh), no-cache"), .ask(.miss)),
    .init(
        "no-cache with names is like one without", .ask(.miss, "\(fresh), no-cache=\"A, b\"", tag, "A: 1"),
        .ask(.validated(condition))),
    .init("an entity tag without quotes", .ask(.miss, "ETag: a"), .ask(.validated("If-None-Match: a"))),
    .init("Pragma of a response means nothing (§5.4)", .ask(.miss, fresh, "Pragma: no-cache"), .ask(.hit)),
    .init(
        "HEAD refreshes what is stored (§4.3.5)", .ask(.miss, fresh, tag),
        .ask(.miss, "Cache-Control: max-age=99", tag, after: 11, method: "HEAD"), .ask(.hit, after: 50)),
    .init(
        "HEAD with a new entity tag", .ask(.miss, "Cache-Control: max-age=99"),
        .ask(.miss, fresh, tag, method: "HEAD", with: "Cache-Control: no-cache"), .ask(.miss)),
    .init(
        "HEAD with another length", .ask(.miss, "Cache-Control: max-age=99", "Content-Length: 10"),
        .ask(.miss, fresh, "Content-Length: 99", method: "HEAD", with: "Cache-Control: no-cache"), .ask(.miss)),
    .init(
        "a 304 with another entity tag is not about this response (§4.3.4)", .ask(.miss, fresh, tag),
        .ask(.refetched, "ETag: \"b\"", fresh, after: 11), .ask(.stored(3))),
    .init(
        "a 304 with an entity tag that is new", .ask(.miss, fresh, seldomChanged),
        .ask(.refetched, tag, fresh, after: 11), .ask(.stored(3))),
    .init(
        "HEAD with another entity tag", .ask(.miss, fresh, tag),
        .ask(.miss, fresh, "ETag: \"b\"", method: "HEAD", with: "Cache-Control: no-cache"), .ask(.miss)),
]

/// RFC 9111 §4.4.
private let invalidation: [CacheRow] =
    ["POST", "PUT", "DELETE", "PATCH", "PURGE"].map { method in
        .init("\(method)", .ask(.miss, fresh), .ask(.miss, method: method), .ask(.miss))
    }
    + ["OPTIONS", "TRACE"].map { method in
        .init("\(method) is safe", .ask(.miss, fresh), .ask(.miss, method: method), .ask(.hit))
    }
    + ["Location", "Content-Location"].flatMap { name -> [CacheRow] in
        [
            .init(
                "\(name)", .ask(.miss, fresh, url: "/a"),
                .ask(.miss, "\(name): a", status: 201, method: "POST"), .ask(.miss, url: "/a")),
            .init(
                "\(name) of another origin", .ask(.miss, fresh, url: "https://b.test/a"),
                .ask(.miss, "\(name): https://b.test/a", status: 201, method: "POST"),
                .ask(.hit, url: "https://b.test/a")),
        ]
    }
    + [
        .init("a redirect is no failure", .ask(.miss, fresh), .ask(.miss, status: 302, method: "POST"), .ask(.miss)),
        .init("a failure of the caller", .ask(.miss, fresh), .ask(.miss, status: 404, method: "DELETE"), .ask(.hit)),
        .init("a failure", .ask(.miss, fresh), .ask(.miss, status: 500, method: "POST"), .ask(.hit)),
        .init(
            "all variants", .ask(.miss, fresh, "Vary: A", with: "A: 1"),
            .ask(.miss, fresh, "Vary: A", with: "A: 2"), .ask(.miss, method: "PUT"), .ask(.miss, with: "A: 1"),
            .ask(.miss, with: "A: 2")),
        .init(
            "for every requester", .ask(.miss, fresh, with: "Authorization: Bearer a"),
            .ask(.miss, method: "PUT", with: "Authorization: Bearer b"), .ask(.miss, with: "Authorization: Bearer a")),
        .init("another URL", .ask(.miss, fresh), .ask(.miss, method: "POST", url: "/b"), .ask(.hit)),
    ]

/// RFC 9111 §5.2.1, and what Foundation has for it.
private let requests: [CacheRow] = [
    .init(
        "max-age", .ask(.miss, fresh, tag), .ask(.hit, after: 4, with: "Cache-Control: max-age=5"),
        .ask(.validated(condition), after: 2, with: "Cache-Control: max-age=5")),
    .init(
        "min-fresh", .ask(.miss, fresh, tag), .ask(.hit, after: 4, with: "Cache-Control: min-fresh=5"),
        .ask(.validated(condition), after: 2, with: "Cache-Control: min-fresh=5")),
    .init(
        "max-stale", .ask(.miss, fresh, tag), .ask(.hit, after: 15, with: "Cache-Control: max-stale=9"),
        .ask(.hit, with: "Cache-Control: max-stale"),
        .ask(.validated(condition), with: "Cache-Control: max-stale=2")),
    .init(
        "max-stale and must-revalidate", .ask(.miss, "\(fresh), must-revalidate", tag),
        .ask(.validated(condition), after: 15, with: "Cache-Control: max-stale")),
    .init(
        "max-stale and proxy-revalidate", .ask(.miss, "\(fresh), proxy-revalidate", tag),
        .ask(.hit, after: 15, with: "Cache-Control: max-stale")),
    .init("no-cache", .ask(.miss, fresh, tag), .ask(.validated(condition), with: "Cache-Control: no-cache")),
    .init("Pragma", .ask(.miss, fresh, tag), .ask(.validated(condition), with: "Pragma: no-cache")),
    .init(
        "Pragma beside Cache-Control", .ask(.miss, fresh, tag),
        .ask(.hit, with: "Pragma: no-cache", "Cache-Control: max-age=99")),
    .init("no-store", .ask(.miss, fresh, with: "Cache-Control: no-store"), .ask(.miss, fresh), .ask(.hit)),
    .init(
        "only-if-cached", .ask(.generated504, with: "Cache-Control: only-if-cached"), .ask(.miss, fresh),
        .ask(.hit, with: "Cache-Control: only-if-cached"),
        .ask(.generated504, after: 11, with: "Cache-Control: only-if-cached")),
    .init(
        "reloadIgnoringLocalCacheData", .ask(.miss, fresh, tag),
        .ask(.miss, fresh, policy: .reloadIgnoringLocalCacheData), .ask(.stored(2))),
    .init(
        "reloadRevalidatingCacheData", .ask(.miss, fresh, tag),
        .ask(.validated(condition), policy: .reloadRevalidatingCacheData)),
    .init(
        "returnCacheDataElseLoad", .ask(.miss, fresh, policy: .returnCacheDataElseLoad),
        .ask(.hit, after: 99, policy: .returnCacheDataElseLoad)),
    .init(
        "returnCacheDataDontLoad",
        .ask(.error(.resourceUnavailable, asked: false), policy: .returnCacheDataDontLoad), .ask(.miss, fresh),
        .ask(.hit, after: 99, policy: .returnCacheDataDontLoad)),
    .init(
        "immutable: nothing to validate while it is fresh (RFC 8246)", .ask(.miss, "\(fresh), immutable", tag),
        .ask(.hit, policy: .reloadRevalidatingCacheData),
        .ask(.validated(condition), after: 11, policy: .reloadRevalidatingCacheData)),
    .init(
        "a condition of the caller is the caller's", .ask(.miss, fresh, tag),
        .ask(.miss, status: 304, with: condition), .ask(.hit)),
    .init(
        "a range of the caller", .ask(.miss, fresh), .ask(.miss, status: 206, with: "Range: bytes=0-1"),
        .ask(.stored(1))),
]

/// RFC 9111 §4.2.4, RFC 5861.
private let stale: [CacheRow] = [
    .init(
        "stale-while-revalidate", .ask(.miss, "\(fresh), stale-while-revalidate=10", tag),
        .ask(.stale, fresh, after: 15), .ask(.stored(2))),
    .init(
        "stale-while-revalidate and a problem of the server", .ask(.miss, "\(fresh), stale-while-revalidate=10"),
        .ask(.stale, status: 503, after: 15), .ask(.stale, fresh), .ask(.stored(3))),
    .init(
        "stale-while-revalidate and only-if-cached", .ask(.miss, "\(fresh), stale-while-revalidate=10"),
        .ask(.generated504, after: 15, with: "Cache-Control: only-if-cached")),
    .init(
        "stale-while-revalidate has an end", .ask(.miss, "\(fresh), stale-while-revalidate=10"),
        .ask(.miss, after: 21)),
    .init(
        "stale-while-revalidate fails", .ask(.miss, "\(fresh), stale-while-revalidate=10"),
        .ask(.stale, status: 0, after: 15), .ask(.stale, fresh), .ask(.stored(3))),
    .init(
        "stale-while-revalidate and no-cache", .ask(.miss, "Cache-Control: no-cache, stale-while-revalidate=10"),
        .ask(.miss)),
    .init(
        "stale-if-error", .ask(.miss, "\(fresh), stale-if-error=10"), .ask(.stale, status: 503, after: 15),
        .ask(.stale, status: 0), .ask(.miss, status: 404), .ask(.miss, status: 503, after: 6)),
    .init(
        "stale-if-error and must-revalidate", .ask(.miss, "\(fresh), must-revalidate, stale-if-error=10"),
        .ask(.miss, status: 503, after: 15)),
    .init(
        "stale-if-error of the configuration", .ask(.miss, fresh),
        .ask(.stale, status: 500, after: 15, staleIfError: .seconds(10)),
        .ask(.stale, status: 0, staleIfError: .seconds(10)),
        .ask(.miss, status: 500, after: 6, staleIfError: .seconds(10))),
    .init(
        "a failure without it", .ask(.miss, fresh),
        .ask(.error(.networkConnectionLost, asked: true), status: 0, after: 11)),
    .init(
        "must-revalidate, and the origin cannot be reached", .ask(.miss, "\(fresh), must-revalidate"),
        .ask(.error(.networkConnectionLost, asked: true), status: 0, after: 11)),
]
