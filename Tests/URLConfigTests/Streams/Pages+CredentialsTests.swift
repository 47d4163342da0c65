import FlyingFox
import Testing

@testable import URLConfig

/// A server chooses the next page, but it does not choose who receives credentials.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PagesCredentialsTests {
    private static let credentials = ["Authorization", "Cookie", "X-Api-Key", "X-Tenant"]

    /// The pages `a`, `b`, `b`, `a`.
    private func request(_ origins: Origins) -> URLRequest {
        let last = origins.b.page(next: origins.a.host + "/end")
        return .with(.init(host: origins.a.page(next: origins.b.page(next: last)))) {
            $0.headers[.accept] = "text/plain"
        }
    }

    @Test func `those of the request go to its own origin only`() async throws {
        try await Origins.serving { origins in
            var request = request(origins)
            for name in Self.credentials { request.setValue("secret", forHTTPHeaderField: name) }
            let pages = origins.a.pages(for: request) { $0.redaction = .standard.adding("x-tenant") }
            let count = try await pages.all.count
            #expect(count == 4)
            #expect(origins.seen.map(\.origin) == ["a", "b", "b", "a"])
            for name in Self.credentials {
                #expect(origins.seen.map { $0.field(name) } == ["secret", nil, nil, nil], "\(name)")
            }
            #expect(origins.seen.allSatisfy { $0.field("Accept") == "text/plain" })
        }
    }

    @Test func `those of an authenticator too`() async throws {
        let authenticator = CountingAuthenticator()
        try await Origins.serving { origins in
            let pages = origins.a.pages(for: request(origins)) { $0.authenticator = authenticator }
            let count = try await pages.all.count
            #expect(count == 4)
            #expect(origins.seen.map { $0.field("Authorization") } == ["1", nil, nil, nil])
        }
        #expect(authenticator.asked == 1)
    }

    @Test func `those of a session too`() async throws {
        try await Origins.serving { origins in
            let configuration = URLSessionConfiguration.ofTests
            configuration.httpAdditionalHeaders = ["Authorization": "secret", "X-Other": "other"]
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            let count = try await session.pages(for: request(origins), config: .silent).all.count
            #expect(count == 4)
            #expect(origins.seen.map { $0.field("X-Other") } == ["other", "other", "other", "other"])
            // On Apple platforms the system adds them. A blank field prevents that.
            #if canImport(FoundationNetworking)
            let blank: String? = nil
            #else
            let blank: String? = ""
            #endif
            #expect(origins.seen.map { $0.field("Authorization") } == ["secret", blank, blank, blank])
        }
    }

    @Test func `after a redirect to another origin, its relative link is to that origin`() async throws {
        let authenticator = CountingAuthenticator()
        try await Origins.serving { origins in
            let request = origins.a.request(to: origins.b.page(next: "/end")) { $0.headers[.cookie] = "secret" }
            let pages = origins.a.pages(for: request) { $0.authenticator = authenticator }
            let count = try await pages.all.count
            #expect(count == 2)
            #expect(origins.seen.map(\.origin) == ["a", "b", "b"])
            for name in ["Authorization", "Cookie"] {
                #expect(origins.seen.dropFirst().allSatisfy { $0.field(name) == nil })
            }
        }
    }

    @Test func `a page elsewhere that redirects back has none either`() async throws {
        let authenticator = CountingAuthenticator()
        try await Origins.serving { origins in
            let first = origins.a.page(next: origins.b.hop(to: origins.a.page(next: "/end")))
            let request = URLRequest.with(.init(host: first)) { $0.headers[.cookie] = "secret" }
            let pages = origins.a.pages(for: request) { $0.authenticator = authenticator }
            let count = try await pages.all.count
            #expect(count == 3)
            #expect(origins.seen.map(\.origin) == ["a", "b", "a", "a"])
            #expect(origins.seen.map { $0.field("Authorization") } == ["1", nil, nil, nil])
            #expect(origins.seen.map { $0.field("Cookie") } == ["secret", nil, nil, nil])
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
            let error = await #expect(throws: RequestError.self) { try await pages.all }
            #expect(error?.code == .unacceptableStatus)
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
}
