import Foundation
import Testing
import URLConfig

/// How base, path and query are joined.
@Suite struct BaseURLTests {
    @Test(arguments: [
        ("https://h.example", "", "https://h.example"),
        ("https://h.example/", "", "https://h.example/"),
        ("https://h.example", "/", "https://h.example/"),
        ("https://h.example", "a", "https://h.example/a"),
        ("https://h.example", "/a", "https://h.example/a"),
        ("https://h.example/", "a", "https://h.example/a"),
        ("https://h.example/", "/a/", "https://h.example/a/"),
        ("https://h.example/v2", "", "https://h.example/v2"),
        ("https://h.example/v2/", "", "https://h.example/v2/"),
        ("https://h.example/v2", "/", "https://h.example/v2/"),
        ("https://h.example/v2", "a", "https://h.example/v2/a"),
        ("https://h.example/v2/", "/a", "https://h.example/v2/a"),
        ("https://h.example/v2//", "//a", "https://h.example/v2/a"),
        ("https://h.example/v2", "a/", "https://h.example/v2/a/"),
        ("https://h.example//v2", "a", "https://h.example/v2/a"),
        ("https://h.example/v2", "?a=b", "https://h.example/v2?a=b"),
        ("https://h.example/v2/", "?a=b", "https://h.example/v2/?a=b"),
        ("https://h.example/100%/%41/\u{E9}", "c", "https://h.example/100%25/%41/%C3%A9/c"),
    ])
    func `base path and path are joined with exactly one slash`(host: String, path: String, expected: String) {
        #expect(URLRequest.with(.init(host: host)) { $0.path = .init(path) }.urlText == expected)
    }

    @Test(arguments: [
        ("https://h.example?k=1", "", "https://h.example?k=1&q=3"),
        ("https://h.example?k=1", "/a", "https://h.example/a?k=1&q=3"),
        ("https://h.example/v2?k=1", "a?l=2", "https://h.example/v2/a?k=1&l=2&q=3"),
        ("https://h.example/v2/?k=1", "", "https://h.example/v2/?k=1&q=3"),
        ("https://h.example/v2?", "a?", "https://h.example/v2/a?q=3"),
        ("https://h.example", "a?l=2", "https://h.example/a?l=2&q=3"),
    ])
    func `the base's query comes first, then the path's, then the items`(host: String, path: String, expected: String) {
        let config = URLRequest.Config(host: host) {
            $0.path = .init(path)
            $0.query["q"] = 3
        }
        #expect(URLRequest.with(config) { _ in }.urlText == expected)
    }

    @Test(arguments: [
        ("http://h.example", "http://h.example/a"), ("HTTPS://h.example", "https://h.example/a"),
        ("https://h.example:8443", "https://h.example:8443/a"), ("https://h.example:", "https://h.example/a"),
        ("https://h.example:65535/v2", "https://h.example:65535/v2/a"),
        ("http://127.0.0.1:80", "http://127.0.0.1:80/a"),
        ("http://localhost", "http://localhost/a"),
        ("https://a_b.example", "https://a_b.example/a"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example/a"),
    ])
    func `scheme, host and port are those of the base`(host: String, expected: String) {
        #expect(URLRequest.with(.init(host: host)) { $0.path = "a" }.urlText == expected)
    }

    @Test(arguments: ["http://[::1]", "http://[2001:db8::7]:8080", "http://[::ffff:1.2.3.4]", "HTTP://[::1]:80"])
    func `an IPv6 address is a host`(host: String) {
        let config = URLRequest.Config(host: host) { $0.path = "a" }
        #expect(URLRequest.with(config).urlText.lowercased() == "\(host.lowercased())/a")
    }

    @Test func `an international host is written in ASCII`() {
        let config = URLRequest.Config(host: "https://b\u{FC}cher.example") { $0.path = "a" }
        #if canImport(FoundationNetworking)
        // Foundation on Linux maps no international names; the refusal says how to write one.
        #expect(config.refusal?.reason.contains("xn--") == true)
        #else
        #expect(URLRequest.with(config) { _ in }.urlText == "https://xn--bcher-kva.example/a")
        #endif
    }

    @Test func `the host reads as it was written and may be replaced`() {
        var config = URLRequest.Config(host: "HTTPS://h.example/v2/")
        #expect(config.host == "HTTPS://h.example/v2/")
        config.host = "http://other.example"
        #expect(URLRequest.with(config) { $0.path = "a" }.urlText == "http://other.example/a")
    }

    @Test func `no question mark is left without items`() {
        let config = URLRequest.Config(host: "https://h.example")
        #expect(URLRequest.with(config) { $0.query["ids"] = [Int]() }.urlText == "https://h.example")
        #expect(URLRequest.with(config) { $0.query["gone"] = nil }.urlText == "https://h.example")
        let base = URLRequest.Config(host: "https://h.example?k=1")
        #expect(URLRequest.with(base) { $0.query["ids"] = [Int]() }.urlText == "https://h.example?k=1")
    }
}
