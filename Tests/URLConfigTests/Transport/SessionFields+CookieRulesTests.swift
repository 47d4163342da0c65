import Foundation
import Testing

@testable import URLConfig

#if canImport(FoundationNetworking)

/// Which cookies are sent (RFC 6265): on Linux the library decides, because Foundation's storage does not.
@Suite struct SessionFieldsCookieRulesTests {
    /// The cookies that a session sends to a URL, some time after a `Set-Cookie` from another URL.
    private func sent(
        _ field: String, from first: String = "https://h.example/a/b", to second: String
    ) throws -> String? {
        let fields = SessionFields(.ephemeral)
        let url = try #require(URL(string: first))
        fields.storeCookies(field, from: url, to: URLRequest(url: url))
        var request = URLRequest(url: try #require(URL(string: second)))
        fields.add(to: &request, without: nil)
        return request.value(forHTTPHeaderField: "Cookie")
    }

    @Test func `a cookie that is secure does not leave unencrypted`() throws {
        for field in ["a=1; Path=/; Secure", "a=1; Path=/; Secure; Max-Age=60"] {
            #expect(try sent(field, to: "https://h.example/") == "a=1")
            #expect(try sent(field, to: "http://h.example/") == nil)
        }
    }

    @Test(arguments: [
        ("/a", "/a", true), ("/a", "/a/", true), ("/a", "/a/c", true), ("/a", "/ab", false), ("/a", "/", false),
        ("/a", "", false), ("/a/", "/a/c", true), ("/a/", "/a", false), ("/", "", true), ("/", "/c", true),
    ])
    func `a cookie goes to its path and below`(path: String, asked: String, isSent: Bool) throws {
        #expect(try sent("a=1; Path=\(path)", to: "https://h.example\(asked)") == (isSent ? "a=1" : nil))
    }

    @Test func `the cookie of the longest path comes first`() throws {
        for field in ["a=1; Path=/, a=2; Path=/a/b, a=3; Path=/a", "a=3; Path=/a, a=2; Path=/a/b, a=1; Path=/"] {
            #expect(try sent(field, to: "https://h.example/a/b") == "a=2; a=3; a=1")
        }
    }

    @Test func `a cookie lives as long as its Max-Age, whatever else it says`() throws {
        for age in ["0", "-1"] {
            #expect(try sent("a=1; Path=/; Max-Age=\(age)", to: "https://h.example/") == nil)
            #expect(try sent("a=1; Path=/, a=; Path=/; Max-Age=\(age)", to: "https://h.example/") == nil)
        }
        let past = "Expires=Wed, 21 Oct 2015 07:28:00 GMT"
        #expect(try sent("a=1; Path=/; \(past); Max-Age=60", to: "https://h.example/") == "a=1")
        #expect(try sent("a=1; Path=/; \(past); Max-Age=soon", to: "https://h.example/") == nil)
        #expect(try sent("a=1; Path=/; \(past)", to: "https://h.example/") == nil)
    }

    @Test func `a cookie that has expired meanwhile is not sent`() throws {
        let configuration = URLSessionConfiguration.ofTests
        let storage = try #require(configuration.httpCookieStorage)
        let soon = Date(timeIntervalSinceNow: 0.001)
        storage.setCookie(
            try #require(
                HTTPCookie(properties: [.name: "a", .value: "1", .domain: "h.example", .path: "/", .expires: soon])))
        while soon > Date() {}
        var request = URLRequest(url: try #require(URL(string: "https://h.example/")))
        SessionFields(configuration).add(to: &request, without: nil)
        #expect(request.value(forHTTPHeaderField: "Cookie") == nil)
    }

    @Test(arguments: ["a\u{1}=1", "a=1\u{7F}"])
    func `a cookie with control characters is ignored`(field: String) throws {
        #expect(try sent(field, to: "https://h.example/") == nil)
    }

    @Test func `no host speaks for all of a top-level domain`() throws {
        #expect(try sent("a=1; Domain=example", to: "https://bank.example/") == nil)
        #expect(try sent("a=1; Domain=h.example", from: "https://w.h.example", to: "https://h.example/") == "a=1")
        #expect(try sent("a=1; Domain=localhost", from: "http://localhost", to: "http://localhost") == "a=1")
    }
}

#endif
