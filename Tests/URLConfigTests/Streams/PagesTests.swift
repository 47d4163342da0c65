import Testing
import URLConfigTesting

@testable import URLConfig

/// Pages that are linked with `Link: rel="next"`, over real sockets where their origin matters.
@Suite(.inTime) struct PagesTests {
    @Test(
        .stubs {
            $0.pages(5)
            $0.get("/other")
        })
    func `nothing is sent before a page is wanted or after the loop, and each loop begins anew`() async throws {
        let pages = stubs.pages()
        for _ in 0..<2 {
            // A request that is sent too early would arrive in this time.
            for _ in 0..<5 { try await stubs.get("/other") }
            for try await page in pages where page.url?.query() == "page=2" { break }
        }
        for _ in 0..<5 { try await stubs.get("/other") }
        let paths = HTTPStubs.requests.map { $0.url.query() ?? $0.url.path() }
        let others = Array(repeating: "/other", count: 5)
        #expect(paths == others + ["/articles", "page=2"] + others + ["/articles", "page=2"] + others)
    }

    @Test(arguments: [("GET", ""), ("HEAD", ""), ("PUT", "words"), ("POST", "words")])
    func `each page has the method, fields, body and time limit of the first request`(
        method: String, body: String
    ) async throws {
        try await Origins.serving { origins in
            let first = origins.a.page(next: origins.a.page(next: "/end"))
            let request = URLRequest.with(.init(host: first)) {
                $0.method = .init(method) ?? .get
                if !body.isEmpty { $0.body = .text(body) }
                $0.authorization = .bearer("secret")
                $0.headers[.accept] = "text/plain"
                $0.timeout = .seconds(300)
            }
            let pages = try await origins.a.pages(for: request).all
            #expect(pages.map(\.request.timeoutInterval) == [300, 300, 300])
            #expect(
                origins.seen.map(\.summary)
                    == Array(repeating: body.isEmpty ? "a \(method)" : "a \(method) words", count: 3))
            for name in ["Accept", "Authorization", "Content-Type"] {
                let values = origins.seen.map { $0.field(name) }
                #expect(Set(values).count == 1, "\(name): \(values)")
            }
            #expect(origins.seen.last?.target == "/end")
            #expect(origins.seen.last?.field("Authorization") == "Bearer secret")
        }
    }

    @Test func `a target is resolved against the URL after redirects`() async throws {
        try await Origins.serving { origins in
            let request = origins.a.request(to: "/deep/list?next=more")
            let pages = try await origins.a.pages(for: request).all
            #expect(pages.map(\.attempts.count) == [2, 1])
            #expect(
                origins.seen.map { String($0.target.prefix { $0 != "?" }) } == ["/hop", "/deep/list", "/deep/more"])
        }
    }

    @Test(arguments: [(303, "GET"), (302, "GET"), (307, "POST words"), (308, "POST words")])
    func `after a redirect from a search to its result, the result is followed`(
        status: Int, next: String
    ) async throws {
        try await Origins.serving { origins in
            let request = origins.a.request(to: "/result?next=%2Fresult%3Fnext%3D%252Fend", status) {
                $0.method = .post
                $0.body = .text("words")
            }
            let count = try await origins.a.pages(for: request).all.count
            #expect(count == 3)
            #expect(origins.seen.map(\.summary) == ["a POST words"] + Array(repeating: "a \(next)", count: 3))
            #expect((origins.seen.last?.field("Content-Type") == nil) == (next == "GET"))
        }
    }

    @Test func `a new page has a new idempotency key`() async throws {
        try await Origins.serving { origins in
            let request = URLRequest.with(.init(host: origins.a.page(next: origins.a.page(next: "/end")))) {
                $0.method = .post
                $0.idempotencyKey = "first"
            }
            let count = try await origins.a.pages(for: request).all.count
            #expect(count == 3)
            let keys = origins.seen.compactMap { $0.field("Idempotency-Key") }
            #expect(keys.first == "first")
            #expect(Set(keys).count == 3)
        }
    }

    @Test(arguments: [
        ["</end>; rel=\"prev next\""], ["</a>; rel=prev, </end>; rel=next, </b>; rel=next"],
        ["</a>; rel=prev", "</end>; rel=NEXT"], ["</a>; rel=next; anchor=\"/b\", </end>; rel=next"],
    ])
    func `the first link with the relation is followed`(fields: [String]) async throws {
        try await HTTPStubs.with {
            var page = HTTPStubs.Response.json("{}")
            page.headerFields[values: .init("Link")!] = fields
            $0.get("/articles", page)
            $0.get("/end")
        } operation: {
            _ = try await stubs.pages().all
        }
    }
}
