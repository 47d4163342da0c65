import Testing

@testable import URLConfig

#if canImport(FoundationNetworking)

/// Which cookies are sent (RFC 6265): on Linux the library decides, because Foundation's storage does not.
@Suite struct SessionFieldsCookieRulesTests {
    /// The cookies that a session sends to a URL, some time after a `Set-Cookie` from another URL.
    private func sent(
        _ field: String, from first: String = "https://h.example/a/b", to second: String
    ) throws -> String? {
        try sent(field.separateCookies, from: first, to: second)
    }

    private func sent(_ received: [String], from first: String, to second: String) throws -> String? {
        let fields = SessionFields(.ephemeral)
        let url = try #require(URL(string: first))
        fields.storeCookies(received, from: url, to: URLRequest(url: url))
        var request = URLRequest(url: try #require(URL(string: second)))
        fields.add(to: &request, without: nil)
        return request.field("Cookie")
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

    /// Each after a cookie from `https://w.h.example/b`, a second one, and what is sent there.
    @Test(arguments: [
        ("a=1; Secure", "https", "a=2", "a=2"), ("a=1; Secure", "http", "a=2; Domain=h.example", "a=1"),
        ("a=1; Secure; Domain=h.example", "http", "a=2", "a=1"), ("a=1; Secure; Path=/b", "http", "a=2", "a=1; a=2"),
    ])
    func `a cookie over http neither replaces nor hides one for https only`(
        first: String, scheme: String, second: String, sent: String
    ) throws {
        let fields = SessionFields(.ephemeral)
        let url = try #require(URL(string: "https://w.h.example/b"))
        var request = URLRequest(url: url)
        fields.storeCookies([first], from: url, to: request)
        fields.storeCookies([second], from: URL(string: "\(scheme)://w.h.example/b"), to: request)
        fields.add(to: &request, without: nil)
        #expect(request.value(forHTTPHeaderField: "Cookie") == sent)
    }

    @Test func `a session or a request without cookies neither sends nor stores them`() throws {
        let configuration = URLSessionConfiguration.ofTests
        var request = URLRequest(url: try #require(URL(string: "https://h.example/")))
        request.httpShouldHandleCookies = false
        SessionFields(configuration).storeCookies(["a=1"], from: request.url, to: request)
        #expect(configuration.httpCookieStorage?.cookies == [])
        request.httpShouldHandleCookies = true
        SessionFields(configuration).storeCookies(["a=1"], from: request.url, to: request)
        configuration.httpShouldSetCookies = false
        SessionFields(configuration).add(to: &request, without: nil)
        #expect(request.value(forHTTPHeaderField: "Cookie") == nil)
    }

    @Test func `an expired cookie is not sent, and no longer protects its name`() throws {
        let configuration = URLSessionConfiguration.ofTests
        let storage = try #require(configuration.httpCookieStorage)
        let soon = Date(timeIntervalSinceNow: 0.001)
        storage.setCookie(
            try #require(
                HTTPCookie(properties: [
                    .name: "a", .value: "1", .domain: "h.example", .path: "/", .expires: soon, .secure: "TRUE",
                ])))
        while soon > Date() {}
        var request = URLRequest(url: try #require(URL(string: "https://h.example/")))
        let fields = SessionFields(configuration)
        fields.add(to: &request, without: nil)
        #expect(request.value(forHTTPHeaderField: "Cookie") == nil)
        fields.storeCookies(["a=2"], from: URL(string: "http://h.example/"), to: request)
        fields.add(to: &request, without: nil)
        #expect(request.value(forHTTPHeaderField: "Cookie") == "a=2")
    }

    /// Each after the fields, what is sent from `http://h.s.example/r/a`.
    @Test(arguments: [
        (["z=1", "a=2", "m=3"], "z=1; a=2; m=3"), (["z=1", "a=2", "z=3"], "z=3; a=2"),
        (["a=1", "b=2; Path=/r", "c=3; Path=/", "d=4; Path=/r/"], "d=4; b=2; a=1; c=3"),
        (["k=0", "k=1; Path=/r", "k=2; Path=/", "k=3; Path=/x", "k=4; Domain=.s.example"], "k=1; k=2; k=4"),
        (["a=1, b=2"], "a=1, b=2"), (["a=\"1, b=2\""], "a=\"1, b=2\""), (["a=1; x, b=2"], "a=1"),
        (["a=1;max-age=60, b=2;path=/"], "a=1"), (["a=1; Expires=Fri 07 Aug 2099 08:04:19 GMT, b=2"], "a=1"),
        (["a=\"1 \"   ;"], "a=\"1 \""), (["a=\"1;2\" ; ;"], "a=\"1"), (["a=1\"2 ;"], "a=1\"2"),
        (["\"a=1\"=2"], "\"a=1\"=2"), (["\"a=1\"=2", "\"a=3"], "\"a=3"), (["a=1; \"Secure\""], "a=1"),
        (["  a=== 1  ;b;;;   c"], "a=== 1"), (["a b=1"], "a b=1"), (["$Version=1; a=1"], "$Version=1"),
        (["a"], "a"), (["a", "b"], "b"), (["=a"], "a"), (["a", "="], "a"), (["a", ""], "a"),
        (["a=1", "=", "b"], "a=1; b"),
        (["=a=", "c=1"], "a=; c=1"), (["=__Host-a=1", "c=1"], "c=1"), (["__secure-a", "c=1"], "c=1"),
        (["a", "b", " =c", "d=1"], "c; d=1"), (["=a=1"], "a=1"), (["\"a;b\"=1"], "\"a"), (["a;b=1"], "a"),
        (["a=1; Domain=..h.s.example"], nil), (["a=1; Domain=h..s.example"], nil),
        (["a=1; Domain= .h.s.example"], "a=1"),
        (["a=1; Domain=h.s.example."], nil), (["a=1; Domain=\"h.s.example\""], nil),
        (["a=1; Domain=h.s.example:80"], nil),
        (["a=1; Domain=x.org; Domain=h.s.example"], "a=1"), (["a=1; Domain=h.s.example; Domain=x.org"], nil),
        (["a=1; Domain=s.example; Domain="], "a=1"), (["a=1; Path=/x; Path="], "a=1"), (["a=1; Path=; Path=/x"], nil),
        (["a=1; Path=/R"], nil), (["a=1; Path=/r/a?"], nil), (["a=1; Path=\"/x\""], "a=1"), (["a=1; Path=/r/%61"], nil),
        (["a=1; Max-Age=60", "b=1", "a=2; Max-Age=0", "c=1; Max-Age=0"], "b=1"),
        (["a=1; Domain=x.org; Domain="], "a=1"), (["a=1; Domain=."], "a=1"),
        (["a=1\t2", "b\tc=3"], "a=1\t2; b\tc=3"), (["\ta\t=\t1\t;\tPath\t=\t/"], "a=1"),
        (["a=1; Expires=Mon, 01-Jan-0001 00:00:00 GMT"], nil), (["a=1; Expires=Fri, 16 Oct 2015 07:28:60 GMT"], "a=1"),
    ])
    func `the cases of RFC 6265 and RFC 6265bis`(received: [String], sent: String?) throws {
        let url = "http://h.s.example/r/a"
        #expect(try self.sent(received, from: url, to: url) == sent)
    }

    @Test(arguments: [
        "a\u{1}=1", "a=1\u{7F}", "a=1; Path=/; b\u{1}", "a=1; Path=/; b=\u{7F}", "a=1; Path=/\u{0}; Path=/",
    ])
    func `a cookie with control characters is ignored`(field: String) throws {
        #expect(try sent(field, to: "https://h.example/") == nil)
    }

    @Test func `no host speaks for all of a top-level domain`() throws {
        #expect(try sent("a=1; Domain=example", to: "https://bank.example/") == nil)
        #expect(try sent("a=1; Domain=h.example", from: "https://w.h.example", to: "https://h.example/") == "a=1")
        #expect(try sent("a=1; Domain=localhost", from: "http://localhost", to: "http://localhost") == "a=1")
        #expect(try sent("a=1; Domain=example", from: "http://example", to: "http://bank.example") == nil)
    }

    @Test(arguments: ["", "; Domain=", "; Domain=h.example; Domain=", "; Domain=h.example; Domain=."])
    func `a cookie whose last domain is empty is for its host alone`(attributes: String) throws {
        let field = "a=1; Path=/" + attributes
        #expect(try sent(field, from: "https://w.h.example", to: "https://w.h.example") == "a=1")
        #expect(try sent(field, from: "https://w.h.example", to: "https://h.example") == nil)
        #expect(try sent(field, from: "https://w.h.example", to: "https://v.w.h.example") == nil)
    }
}

#endif
