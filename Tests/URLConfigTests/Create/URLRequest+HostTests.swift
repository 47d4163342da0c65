import Foundation
import Logging
import Testing

@testable import URLConfig

/// Hosts that are no HTTP base URL are refused, in words that name the host and what to do.
@Suite struct URLRequestHostTests {
    private func refusal(_ host: String) -> RequestError? {
        URLRequest.Config(host: host).with { $0.path = "/a" }.refusal
    }

    @Test(arguments: [
        ("", "empty"), ("h.example", "scheme"), ("//h.example", "scheme"), ("/v2", "scheme"),
        ("https:/h.example", "scheme"),
        ("https:h.example", "scheme"), ("localhost:8080", "scheme"), ("ftp://h.example", "scheme"),
        ("file:///etc/passwd", "scheme"), ("://h.example", "scheme"), ("unsendable-request://h", "scheme"),
        ("https://", "host"), ("https:///v2", "host"), ("https://:80", "host"), ("https://?a=b", "host"),
        ("https://h.example:x", "port"), ("https://h.example:-1", "port"), ("https://h.example:8O", "port"),
        ("https://h.example:65536", "port"), ("https://h.example:99999999999999999999", "port"),
        ("https://h.example:1:2", "host name"), ("https://h.example:80@evil.com", "user"),
        ("https://exa mple.com", "space"), ("https:// h.example", "space"), (" https://h.example", "space"),
        ("https://h.example/v2 ", "space"), ("https://h.example/v2\n", "control"), ("https://h.example\n", "control"),
        ("https://h.\u{0}example", "control"), ("https://h.example\t", "control"), ("https://h\u{7F}", "control"),
        ("https://h.example#a", "fragment"), ("https://h.example/v2?k=1#", "fragment"),
        ("https://good.com\\@evil.com", "backslash"), ("https://good.com\\evil.com", "backslash"),
        ("https:\\\\good.com", "backslash"), ("https://good.com/\\@evil.com", "backslash"),
        ("https://good.com%2eevil.com", "host name"), ("https://good.com%40evil.com", "host name"),
        ("https://good.com%00", "host name"), ("https://a,b", "host name"), ("https://a&b", "host name"),
        ("https://[::1", "IPv6"), ("https://::1]", "host"), ("https://[::g]", "IPv6"), ("https://[]", "IPv6"),
        ("https://[::1]x", "IPv6"), ("https://[::1]:x", "port"), ("https://[1]", "IPv6"), ("https://[1.2.3.4]", "IPv6"),
        ("https://h.example/a/../b", "segment"), ("https://h.example/%2e%2e", "segment"),
    ])
    func `a host that is no base URL is refused`(host: String, word: String) {
        let error = refusal(host)
        #expect(error?.code == .invalidURL)
        #expect(error?.reason.hasPrefix("host ") == true)
        #expect(error?.reason.contains(word) == true, "\(error?.reason ?? "not refused")")
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
        #expect(error?.reason.contains("s3cret") == false)
        #expect(error?.description.contains("s3cret") == false)
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

    @Test func `user name and password belong to authorization`() {
        #expect(refusal("https://user:pw@h.example")?.reason.contains(".basic(username:password:)") == true)
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
}
