import FlyingFox
import Testing
import URLConfigTesting

@testable import URLConfig

/// A server chooses the next page, but it does not choose who receives credentials.
@Suite(.serialized, .inTime) struct PagesCredentialsTests {
    /// A way over several origins, and the requests of it that may have credentials.
    struct Way: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let origins: [String]
        let allowed: Int
        let url: @Sendable (Origins) -> String
    }

    private static let ways = [
        Way(testDescription: "links there and back", origins: ["a", "b", "b", "a"], allowed: 1) { origins in
            let last = origins.b.page(next: origins.a.host + "/end")
            return origins.a.page(next: origins.b.page(next: last))
        },
        Way(testDescription: "a redirect, and a relative link", origins: ["a", "b", "b"], allowed: 1) { origins in
            origins.a.hop(to: origins.b.page(next: "/end"))
        },
        Way(testDescription: "a link, and a redirect back", origins: ["a", "b", "a", "a"], allowed: 1) { origins in
            origins.a.page(next: origins.b.hop(to: origins.a.page(next: "/end")))
        },
        Way(testDescription: "one origin in capitals", origins: ["a", "a"], allowed: 2) { origins in
            origins.a.page(next: origins.a.host.replacing("http", with: "HTTP") + "/end")
        },
    ]

    @Test(arguments: ways) func `they go to the first origin only, until it is left`(way: Way) async throws {
        try await Origins.serving { origins in
            var request = URLRequest.with(.init(host: way.url(origins))) { $0.headers[.accept] = "text/plain" }
            for name in ["Cookie", "X-Api-Key", "X-Tenant"] { request.setValue("secret", forHTTPHeaderField: name) }
            let authenticator = CountingAuthenticator()
            try await URLSession.with {
                $0.httpAdditionalHeaders = ["X-Session-Token": "secret", "X-Other": "other"]
            } _: { session in
                _ = try await session.pages(for: request, config: .silent) {
                    $0.redaction = .standard.adding("x-tenant")
                    $0.authenticator = authenticator
                }.all
            }
            #expect(origins.seen.map(\.origin) == way.origins)
            for name in ["Cookie", "X-Api-Key", "X-Tenant", "Authorization"] {
                let values = origins.seen.map { $0.field(name) }
                #expect(values.prefix(way.allowed).allSatisfy { $0 != nil }, "\(name)")
                #expect(values.dropFirst(way.allowed).allSatisfy { $0 == nil }, "\(name)")
            }
            // On Apple platforms the system adds the session's. A blank field prevents that.
            let ofSession = origins.seen.map { $0.field("X-Session-Token") ?? "" }
            #expect(ofSession == way.origins.indices.map { $0 < way.allowed ? "secret" : "" })
            #expect(origins.seen.allSatisfy { $0.field("Accept") == "text/plain" && $0.field("X-Other") == "other" })
            #expect(authenticator.asked == way.allowed)
        }
    }

    @Test func `a body is sent to the first origin only, and a link to another one is an error`() async throws {
        try await Origins.serving { origins in
            let foreign = origins.a.page(next: origins.b.host + "/end")
            let posts = [foreign, origins.a.hop(to: foreign, 303)].map { url in
                URLRequest.with(.init(host: url)) { ($0.method, $0.body) = (.post, .form(["client_secret": "s3cret"])) }
            }
            let (pages, error) = await origins.a.pages(for: posts[0]).outcome
            #expect(pages.count == 1)
            #expect((error as? RequestError).says(.invalidResponse, "is not followed", "another origin", "body"))
            // After a redirect to the result, the pages have no body.
            let count = try await origins.a.pages(for: posts[1]).all.count
            #expect(count == 2)
            let body = "client_secret=s3cret"
            #expect(origins.seen.map(\.summary) == ["a POST \(body)", "a POST \(body)", "a GET", "b GET"])
        }
    }

    @Test func `a refusal by another origin is a status that is not 2xx`() async throws {
        let authenticator = CountingAuthenticator()
        try await Origins.serving { origins in
            let request = URLRequest.with(.init(host: origins.a.page(next: origins.b.host + "/end?status=401")))
            let pages = origins.a.pages(for: request) {
                $0.authenticator = authenticator
                $0.onUnauthorized = { _ in Issue.record("nobody's credentials were refused") }
            }
            let error = await expectError(.unacceptableStatus) { try await pages.all }
            #expect(error?.response?.data == Data("401 of b".utf8))
        }
        #expect(authenticator.refused == 0)
    }

    @Test func `a request of the caller's keeps its own, and no others are added elsewhere`() async throws {
        let authenticator = CountingAuthenticator()
        try await Origins.serving { origins in
            let other = origins.b.request("/other") { $0.headers[.cookie] = "own" }
            let pages = origins.a.pages {
                $0.authenticator = authenticator
            } next: { page in
                page.url?.path() == "/articles" ? other : nil
            }
            let count = try await pages.all.count
            #expect(count == 2)
            #expect(origins.seen.map(\.origin) == ["a", "b"])
            #expect(origins.seen.map { $0.field("Authorization") } == ["1", nil])
            #expect(origins.seen.map { $0.field("Cookie") } == [nil, "own"])
        }
    }

    @Test func `they are not shown`() {
        let request = URLRequest.with(.init(host: "https://api.example.com")) { $0.authorization = .bearer("s3cret") }
        let pages = URLSession.shared.pages(for: request)
        var text = "\(pages)"
        dump(pages, to: &text)
        dump(pages.makeAsyncIterator(), to: &text)
        dump(pages.values(of: [Int].self).makeAsyncIterator(), to: &text)
        #expect(text.contains("GET https://api.example.com"))
        #expect(!text.contains("s3cret"), "\(text)")
    }

    @Test(.stubs { $0.pages(2) }) func `they are not shown after a page either`() async throws {
        let pages = stubs.pages(for: stubs.request("/articles?access_token=s3cret")) {
            $0.authenticator = TestAuthenticator { $0.setValue("Bearer s3cret", forHTTPHeaderField: "Authorization") }
        }
        var (all, values) = (pages.makeAsyncIterator(), pages.values(of: [Int].self).makeAsyncIterator())
        let (page, value) = try await (all.next(), values.next())
        #expect(page?.data == Data("[1]".utf8) && value == 1)
        for iterator in [all, values] as [Any] {
            var text = "\(iterator)" + String(reflecting: iterator)
            dump(iterator, to: &text)
            #expect(text.contains("isOver"))
            #expect(!text.contains("s3cret"), "\(text)")
        }
    }
}
