import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// The host, which is a base URL: how it is joined with path and query, and what is refused.
@Suite(.inTime) struct URLRequestHostTests {
    @Test(arguments: [
        ("https://h.example", "", "https://h.example"), ("https://h.example/", "", "https://h.example/"),
        ("https://h.example", "/", "https://h.example/"), ("https://h.example", "a", "https://h.example/a"),
        ("https://h.example", "/a", "https://h.example/a"), ("https://h.example/", "a", "https://h.example/a"),
        ("https://h.example/", "/a/", "https://h.example/a/"), ("https://h.example/v2", "", "https://h.example/v2"),
        ("https://h.example/v2/", "", "https://h.example/v2/"), ("https://h.example/v2", "/", "https://h.example/v2/"),
        ("https://h.example/v2", "a", "https://h.example/v2/a"),
        ("https://h.example/v2/", "/a", "https://h.example/v2/a"),
        ("https://h.example/v2//", "//a", "https://h.example/v2/a"),
        ("https://h.example/v2", "a/", "https://h.example/v2/a/"),
        ("https://h.example//v2", "a", "https://h.example/v2/a"),
        ("https://h.example/v2", "?a=b", "https://h.example/v2?a=b"),
        ("https://h.example/v2/", "?a=b", "https://h.example/v2/?a=b"),
        ("https://h.example/100%/%41/\u{E9}", "c", "https://h.example/100%25/%41/%C3%A9/c"),
        ("https://h.example?k=1", "", "https://h.example?k=1"),
        ("https://h.example?k=1", "/a", "https://h.example/a?k=1"),
        ("https://h.example/v2?k=1", "a?l=2", "https://h.example/v2/a?k=1&l=2"),
        ("https://h.example/v2/?k=1", "", "https://h.example/v2/?k=1"),
        ("https://h.example/v2?", "a?", "https://h.example/v2/a"),
        ("https://h.example", "a?l=2", "https://h.example/a?l=2"),
    ])
    func `one slash joins base path and path; the base's query is followed by the path's and by the items`(
        host: String, path: String, expected: String
    ) {
        let config = URLRequest.Config(host: host) { $0.path = .init(path) }
        #expect(URLRequest.with(config) { $0.query = ["ids": [Int](), "gone": nil] }.urlText == expected)
        let separator = expected.contains("?") ? "&" : "?"
        #expect(URLRequest.with(config) { $0.query["q"] = 3 }.urlText == "\(expected)\(separator)q=3")
    }

    @Test(arguments: [
        ("http://h.example", "http://h.example/a"), ("HTTPS://h.example", "https://h.example/a"),
        ("https://h.example:8443", "https://h.example:8443/a"), ("https://h.example:", "https://h.example/a"),
        ("https://h.example:65535/v2", "https://h.example:65535/v2/a"),
        ("http://127.0.0.1:80", "http://127.0.0.1:80/a"), ("http://localhost", "http://localhost/a"),
        ("https://a_b.example", "https://a_b.example/a"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example/a"), ("http://[::1]", "http://[::1]/a"),
        ("http://[2001:db8::7]:8080", "http://[2001:db8::7]:8080/a"),
        ("http://[::ffff:1.2.3.4]", "http://[::ffff:1.2.3.4]/a"), ("HTTP://[::1]:80", "http://[::1]:80/a"),
    ])
    func `scheme, host and port come from the base, which reads as it was written`(host: String, expected: String) {
        var config = URLRequest.Config(host: "https://other.example")
        config.host = host
        #expect(config.host == host)
        for config in [config, .init(host: host)] {
            #expect(URLRequest.with(config) { $0.path = "a" }.urlText == expected)
        }
    }

    @Test func `an international host is written in ASCII`() {
        let config = URLRequest.Config(host: "https://b\u{FC}cher.example:8443") { $0.path = "a" }
        #expect(URLRequest.with(config) { _ in }.urlText == "https://xn--bcher-kva.example:8443/a")
    }

    // A host that is not an HTTP base URL is refused. The error names the host and says what to do.

    private func refusal(_ host: String) -> RequestError? {
        URLRequest.Config(host: host).with { $0.path = "/a" }.refusal
    }

    @Test(arguments: [
        ("", "empty"), ("h.example", "scheme"), ("//h.example", "scheme"), ("/v2", "scheme"),
        ("https:/h.example", "scheme"), ("https:h.example", "scheme"), ("localhost:8080", "scheme"),
        ("ftp://h.example", "scheme"), ("file:///etc/passwd", "scheme"), ("://h.example", "scheme"),
        ("unsendable-request://h", "scheme"), ("https://", "host"), ("https:///v2", "host"), ("https://:80", "host"),
        ("https://?a=b", "host"), ("https://h.example:x", "port"), ("https://h.example:-1", "port"),
        ("https://h.example:8O", "port"), ("https://h.example:65536", "port"),
        ("https://h.example:99999999999999999999", "port"), ("https://h.example:1:2", "host name"),
        ("https://h.example:80@evil.com", "user"), ("https://exa mple.com", "space"), ("https:// h.example", "space"),
        (" https://h.example", "space"), ("https://h.example/v2 ", "space"), ("https://h.example/v2\n", "control"),
        ("https://h.example\n", "control"), ("https://h.\u{0}example", "control"), ("https://h.example\t", "control"),
        ("https://h\u{7F}", "control"), ("https://h.example#a", "fragment"), ("https://h.example/v2?k=1#", "fragment"),
        ("https://good.com\\@evil.com", "backslash"), ("https://good.com\\evil.com", "backslash"),
        ("https:\\\\good.com", "backslash"), ("https://good.com/\\@evil.com", "backslash"),
        ("https://good.com%2eevil.com", "host name"), ("https://good.com%40evil.com", "host name"),
        ("https://good.com%00", "host name"), ("https://a,b", "host name"), ("https://a&b", "host name"),
        ("https://[::1", "IPv6"), ("https://::1]", "host"), ("https://[::g]", "IPv6"), ("https://[]", "IPv6"),
        ("https://[::1]x", "IPv6"), ("https://[::1]:x", "port"), ("https://[1]", "IPv6"), ("https://[1.2.3.4]", "IPv6"),
        ("https://h.example/a/../b", "segment"), ("https://h.example/%2e%2e", "segment"),
        ("https://user:pw@h.example", ".basic(username:password:)"),
    ])
    func `a host that is no base URL is refused`(host: String, word: String) {
        let error = refusal(host)
        #expect(error?.code == .invalidURL)
        let reason = error?.reason ?? "not refused"
        #expect(reason.hasPrefix("host ") && reason.contains(word), "\(reason)")
    }

    @Test(arguments: [
        "https://user:s3cret@h.example", "https://s3cret@h.example", "https://user:s3cret@h.example:8080/v2?a=b",
        "user:s3cret@h.example", "https:/user:s3cret@h.example", "https:user:s3cret@h.example",
        "https:\\\\user:s3cret@h.example", " https://user:s3cret@h.example", "ftp://user:s3cret@h.example",
        "https://user:s3cret@\u{301}h.example", "https://user:s3cret/@h.example", "https://user:s3cret?@h.example",
        "https://user:s3cret#@h.example", "https://user:a/s3cret@h.example", "https://user:a@s3cret@h.example",
        "https://h.example?token=s3cret#a",
    ])
    func `a refusal does not show the secret in the host`(host: String) {
        let error = refusal(host)
        #expect(error?.code == .invalidURL)
        let shown = "\(error?.reason ?? "") \(error?.description ?? "")"
        #expect(!shown.contains("s3cret"))
    }

    @Test(arguments: ["https://h\nx", "https://h\u{1B}[2Jx", "https://h/\r\n\tx", "h\nx@y", "https://u:p\n@h"])
    func `a host with a line feed forges no line of an error or a log`(host: String) throws {
        let error = try #require(refusal(host))
        #expect(error.code == .invalidURL)
        for text in [error.reason, error.description, error.errorDescription ?? "", Redaction.none.host(host)] {
            #expect(!text.utf8.contains { $0 < 0x20 }, "\(text.debugDescription)")
        }
        let (logger, log) = Logger.recording()
        let request = URLRequest.with(.init(host: host))
        RequestLog(logger: logger, redaction: .standard, bodyLimit: 0, fileID: "", line: 0)
            .failed(request, error, after: .zero)
        #expect(!log.text.utf8.contains { $0 < 0x20 } && log.text.contains(" error=host '"), "\(log.text)")
    }

    @Test(
        arguments: [
            "https://good.com/\u{301}@evil.com", "https://good.com#\u{301}", "https://good.com:80\u{301}",
            "https://good.com:\u{301}",
        ])
    func `a combining character does not hide a delimiter`(host: String) {
        let request = URLRequest.with(.init(host: host)) { $0.path = "/a" }
        if request.url?.scheme == "https" {
            #expect(request.url?.host() == "good.com")
            #expect(request.url?.path(percentEncoded: true) == "/%CC%81@evil.com/a")
        }
    }

    @Test(
        .stubs {
            for path in ["/a", "/c"] { $0.get(path, .redirect(to: "HTTP://127.0.0.1/b")) }
            $0.get("/b")
        })
    func `a scheme may be in upper case, in hosts and in redirects`() async throws {
        let byHand = URLRequest(url: try #require(URL(string: "HTTP://127.0.0.1/c")))
        for request in [.with(.init(host: "HTTP://127.0.0.1")) { $0.path = "a" }, byHand] {
            let response = try await stubs.response(for: request)
            #expect(response.isSuccess)
            #expect(response.url?.absoluteString == "http://127.0.0.1/b")
        }
    }
}
