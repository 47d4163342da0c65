import Foundation
import Testing
import URLConfig

/// Whatever a path holds, scheme, host and port are those of the host.
@Suite struct PathAuthorityTests {
    static let hostile = [
        "//evil.com", "///evil.com", "////evil.com/x", "https://evil.com", "http://evil.com:1/", "https:evil.com",
        "https:///evil.com", "\\\\evil.com", "/\\evil.com", "\\/evil.com", "@evil.com", "/@evil.com",
        "user:pw@evil.com",
        ":80", ":80/x", ":pw@evil.com", ";@evil.com", ".evil.com", "evil.com", "#@evil.com", "?@evil.com",
        "%40evil.com",
        "%2F%2Fevil.com", "\t//evil.com", "\n//evil.com", " //evil.com", "\u{0}//evil.com", "[::1]",
        "javascript:alert(1)",
        "file:///etc/passwd", "/;@evil.com", "//@evil.com", "\u{FF0F}\u{FF0F}evil.com", "/\u{301}/evil.com",
        "@\u{301}evil.com",
    ]
    private static let hosts = [
        "https://good.com", "https://good.com:8443/base", "http://127.0.0.1:8080", "https://good.com/",
    ]

    @Test(arguments: hosts, hostile)
    func `a path never changes scheme, host or port`(host: String, text: String) throws {
        let plain = try #require(URL(string: host))
        for path in ["\(text)" as URLRequest.Path, "/\(text)", .init(text), "\(raw: text)", "/\(raw: text)"] {
            let request = URLRequest.with(.init(host: host)) { $0.path = path }
            let url = try #require(request.url)
            #expect(url.scheme == plain.scheme)
            #expect(url.host(percentEncoded: true) == plain.host(percentEncoded: true))
            #expect(url.port == plain.port)
            #expect(url.user(percentEncoded: true) == nil)
            #expect(url.fragment == nil)
        }
    }

    @Test(arguments: hostile)
    func `a query never changes scheme, host or port`(text: String) throws {
        let request = URLRequest.with(.init(host: "https://good.com")) { $0.query[text] = text }
        let url = try #require(request.url)
        #expect(url.host(percentEncoded: true) == "good.com")
        #expect(url.user(percentEncoded: true) == nil)
        #expect(url.fragment == nil)
    }
}
