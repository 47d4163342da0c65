import Testing

@testable import URLConfig

private let fresh = "Cache-Control: max-age=10"
private let tag = "ETag: \"a\""
private let condition = "If-None-Match: \"a\""
private let seldomChanged = "Last-Modified: {-1000}"

/// How a stored response is validated and removed, and what a request and a failure make of it.
@Suite(.inTime) struct CacheUseTableTests {
    @Test(arguments: validation + invalidation + requests + stale) func `as RFC 9111 says`(
        row: CacheRow
    ) async throws {
        try await row.run(.memory(megabytes: 1))
    }
}

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
        "a 304 is about one variant", .ask(.miss, fresh, "ETag: \"b\"", "Vary: A", "B: 1", with: "A: 2"),
        .ask(.miss, fresh, tag, "Vary: A", "B: 1", with: "A: 1"),
        .ask(
            .validated(condition), "Cache-Control: max-age=99", "B: 2", after: 11, with: "A: 1", gives: "B: 2"),
        .ask(.stored(1), with: "A: 2", policy: .returnCacheDataDontLoad, gives: "B: 1"),
        .ask(.stored(2), after: 50, with: "A: 1", gives: "B: 2"),
        .ask(.replaced("If-None-Match: \"b\""), with: "A: 2")),
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
        "reloadIgnoringLocalAndRemoteCacheData", .ask(.miss, fresh, tag),
        .ask(.replaced("Cache-Control: no-cache"), fresh, tag, policy: .reloadIgnoringLocalAndRemoteCacheData),
        .ask(.stored(2)),
        .ask(
            .replaced("Cache-Control: max-age=5"), with: "Cache-Control: max-age=5",
            policy: .reloadIgnoringLocalAndRemoteCacheData)),
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
        "immutable without TLS means nothing (RFC 8246 §3)",
        .ask(.miss, "\(fresh), immutable", tag, url: "http://api.test/"),
        .ask(.validated(condition), url: "http://api.test/", policy: .reloadRevalidatingCacheData)),
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
        .ask(.hit, after: 15, with: "Cache-Control: only-if-cached")),
    .init(
        "stale-while-revalidate has an end", .ask(.miss, "\(fresh), stale-while-revalidate=10"),
        .ask(.miss, after: 21)),
    .init(
        "stale-while-revalidate fails", .ask(.miss, "\(fresh), stale-while-revalidate=10"),
        .ask(.stale, status: 0, after: 15), .ask(.stale, fresh), .ask(.stored(3))),
    .init(
        "stale-while-revalidate of a response that was never fresh",
        .ask(.miss, "Cache-Control: max-age=0, stale-while-revalidate=10"), .ask(.stale, fresh, after: 5),
        .ask(.stored(2))),
    .init(
        "stale-while-revalidate and no-cache", .ask(.miss, "Cache-Control: no-cache, stale-while-revalidate=10"),
        .ask(.miss)),
    .init(
        "stale-if-error", .ask(.miss, "\(fresh), stale-if-error=10"), .ask(.stale, status: 503, after: 15),
        .ask(.stale, status: 0), .ask(.miss, status: 404), .ask(.miss, status: 503, after: 6)),
    .init(
        "stale-if-error of a response that was stale when it came",
        .ask(.miss, "Cache-Control: max-age=60, stale-if-error=99", "Age: 61"), .ask(.stale, status: 503),
        .ask(.miss, status: 503, after: 99)),
    .init(
        "stale-if-error of a response that must be validated and cannot",
        .ask(.miss, "Cache-Control: max-age=0, must-revalidate, stale-if-error=99"),
        .ask(.error(.resourceUnavailable, asked: false), policy: .returnCacheDataDontLoad)),
    .init(
        "stale-if-error and must-revalidate", .ask(.miss, "\(fresh), must-revalidate, stale-if-error=10"),
        .ask(.miss, status: 503, after: 15)),
    .init(
        "stale-if-error of the configuration", .ask(.miss, fresh),
        .ask(.stale, status: 500, after: 15, staleIfError: .seconds(10)),
        .ask(.stale, status: 0, staleIfError: .seconds(10)),
        .ask(.miss, status: 500, after: 6, staleIfError: .seconds(10))),
    .init(
        "stale-if-error of the request", .ask(.miss, fresh),
        .ask(.stale, status: 503, after: 15, with: "Cache-Control: stale-if-error=10"),
        .ask(.stale, status: 0, with: "Cache-Control: stale-if-error=10"), .ask(.miss, status: 503),
        .ask(.miss, status: 503, after: 6, with: "Cache-Control: stale-if-error=10")),
    .init(
        "a failure without it", .ask(.miss, fresh),
        .ask(.error(.networkConnectionLost, asked: true), status: 0, after: 11)),
    .init(
        "must-revalidate, and the origin cannot be reached", .ask(.miss, "\(fresh), must-revalidate"),
        .ask(.error(.networkConnectionLost, asked: true), status: 0, after: 11)),
]
