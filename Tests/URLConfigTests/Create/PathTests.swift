import Testing
import URLConfig

/// Literals and values of a path: RFC 3986 §3.3 for what stays, §2.3 for what a value may contain unescaped.
@Suite struct PathTests {
    private func url(_ path: URLRequest.Path) -> String {
        URLRequest.with(.init(host: "https://h.example")) { $0.path = path }.urlText
    }

    private func refusal(_ path: URLRequest.Path) -> RequestError? {
        URLRequest.Config(host: "https://h.example").with { $0.path = path }.refusal
    }

    @Test func `a number that is not finite is refused, as in a query`() {
        let paths: [URLRequest.Path] = [
            "/\(Double.nan)", "/\(-Double.infinity)", "/\(Float.nan)", "/\(Decimal.nan)",
        ]
        for path in paths {
            #expect(refusal(path)?.reason.contains("has an interpolated value that is no finite number") == true)
        }
        let valid: [URLRequest.Path] = ["/\(1.5)", "/\(Decimal(7))", "/\(UInt8(1))", "/\(true)"]
        #expect(valid.map(url) == ["1.5", "7", "1", "true"].map { "https://h.example/\($0)" })
    }

    @Test(arguments: [
        ("/a/b//c/", "/a/b//c/"), ("/a-._~!$&'()*+,;=:@z", "/a-._~!$&'()*+,;=:@z"),
        ("/a b", "/a%20b"), ("/\u{E9}", "/%C3%A9"), ("/\u{1F600}", "/%F0%9F%98%80"),
        ("/\"<>^`{|}", "/%22%3C%3E%5E%60%7B%7C%7D"),
        ("/a\\b", "/a%5Cb"), ("/a#b", "/a%23b"), ("/[x]", "/%5Bx%5D"), ("/a\nb", "/a%0Ab"), ("/a\u{0}b", "/a%00b"),
        ("/a\r\nb", "/a%0D%0Ab"), ("/e\u{301}", "/e%CC%81"), ("/a/\u{301}", "/a/%CC%81"),
        // Escapes, and other percent signs
        ("/a%20b", "/a%20b"), ("/%2F", "/%2F"), ("/%c3%a9", "/%c3%a9"), ("/100%", "/100%25"), ("/%zz", "/%25zz"),
        ("/%2", "/%252"), ("/%", "/%25"), ("/%%41", "/%25%41"), ("/%4%41", "/%254%41"),
        // A query
        ("/a?b=c&d=e/f?g", "/a?b=c&d=e/f?g"), ("/a?b=c d#e%zz%41", "/a?b=c%20d%23e%25zz%41"), ("?a=b", "?a=b"),
        ("/a?b=../..", "/a?b=../.."), ("", ""),
    ])
    func `literal text keeps slashes, escapes and a query, and what a path cannot contain is percent-encoded`(
        text: String, expected: String
    ) {
        for path in [.init(text), "\(raw: text)", "\(raw: text)\(raw: "")"] as [URLRequest.Path] {
            #expect(url(path) == "https://h.example" + expected)
        }
    }

    @Test(arguments: [
        ("7", "7"), ("a/b", "a%2Fb"), ("a?b=c", "a%3Fb%3Dc"), ("a#b", "a%23b"), ("100%", "100%25"), ("%2F", "%252F"),
        ("a b", "a%20b"), ("a+b", "a%2Bb"), ("a&b;c,d", "a%26b%3Bc%2Cd"), ("\u{E9}", "%C3%A9"), ("e\u{301}", "e%CC%81"),
        ("\u{1F600}", "%F0%9F%98%80"), ("\"it's\"", "%22it%27s%22"), ("a\\b", "a%5Cb"), ("a\u{0}b", "a%00b"),
        ("\r\n", "%0D%0A"), ("a@b:c", "a%40b%3Ac"), ("../admin", "..%2Fadmin"), ("..\\admin", "..%5Cadmin"),
        ("-._~", "-._~"), ("...", "..."), ("a..", "a.."), ("!$'()*", "%21%24%27%28%29%2A"), ("/\u{301}", "%2F%CC%81"),
    ])
    func `a value is exactly one segment`(value: String, expected: String) {
        #expect(url("/users/\(value)/article") == "https://h.example/users/\(expected)/article")
        #expect(url("/users/\(value)") == "https://h.example/users/\(expected)")
        #expect(url("\(value)") == "https://h.example/\(expected)")
        #expect(url("/users/\(value[...])/article") == "https://h.example/users/\(expected)/article")
    }

    private enum Kind: String {
        case movie = "a/b"
        case book
    }
    private enum Level: Int {
        case low = 1
        case high
    }
    private struct Identifier: RawRepresentable { var rawValue: UUID }

    @Test func `a value may be of any type with a text`() throws {
        let uuid = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(url("/\(42)/\(-1)/\(UInt64.max)") == "https://h.example/42/-1/18446744073709551615")
        #expect(url("/\(1.5)/\(true)") == "https://h.example/1.5/true")
        #expect(url("/\(uuid)") == "https://h.example/E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(url("/\(Identifier(rawValue: uuid))") == "https://h.example/E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
        #expect(url("/\(Kind.movie)/\(Kind.book)/\(Level.high)") == "https://h.example/a%2Fb/book/2")
        #expect(url("/\("abc".dropFirst())/\(Character("/"))") == "https://h.example/bc/%2F")
    }

    @Test func `values are encoded in every spelling of a literal, and text of run time is not`() {
        let (id, text) = ("7/delete?force=1", "/users/7?a=1")
        let paths: [URLRequest.Path] = ["/users/\(id)/a", .init("/users/\(id)/a"), URLRequest.Path("/users/\(id)/a")]
        #expect(paths.map(\.description) == Array(repeating: "/users/7%2Fdelete%3Fforce%3D1/a", count: 3))
        let texts = [URLRequest.Path.init(text), .init(text), URLRequest.Path("\(raw: text)"), .init("/users/7?a=1")]
        #expect(texts.map(\.description) == Array(repeating: text, count: 4))
    }

    @Test func `a value may be a part of a segment`() {
        #expect(url("/files/\("a/b").json") == "https://h.example/files/a%2Fb.json")
        #expect(url("/files/\("").json") == "https://h.example/files/.json")
        #expect(url("/\(1)-\(2)") == "https://h.example/1-2")
        #expect(url("/v\("")/x") == "https://h.example/v/x")
        #expect(url("/a%\("41")") == "https://h.example/a%2541")
    }

    @Test(arguments: [
        ("https://h.example/a?", "https://h.example/a?c=1"), ("https://h.example/a?#f", "https://h.example/a?c=1#f"),
        ("https://h.example/a?b?", "https://h.example/a?b?&c=1"), ("https://h.example/a", "https://h.example/a?c=1"),
        ("https://h.example/a?b", "https://h.example/a?b&c=1"),
    ])
    func `items are added to a URL of a server, and no empty one`(url: String, expected: String) {
        let request = URLRequest.with(.init(host: "https://h.example")) {
            ($0.url, $0.query["c"]) = (URL(string: url), 1)
        }
        #expect(request.url?.absoluteString == expected)
    }

    @Test func `a value in the query of a literal stays one value, and raw text is a part of the literal`() {
        #expect(url("/a?b=c&d=e/f?g") == "https://h.example/a?b=c&d=e/f?g")
        #expect(url("/a?b=\("x&y=z#w+ %41?")&c=\(1)") == "https://h.example/a?b=x%26y%3Dz%23w%2B%20%2541%3F&c=1")
        #expect(url("/a?b=\("")&c=\("..")") == "https://h.example/a?b=&c=..")
        #expect(url("/a\(raw: "/b/c%20d e")") == "https://h.example/a/b/c%20d%20e")
        #expect(url("/a\(raw: "?b=c")") == "https://h.example/a?b=c")
        #expect(URLRequest.Path("/a b?c=d e").description == "/a%20b?c=d%20e")
        #expect("/users/\("a/b")" as URLRequest.Path == URLRequest.Path("/users/a%2Fb"))
    }

    // Segments that would lead a request to another path (RFC 3986 §5.2.4, §6.2.2.2) are refused wherever they come
    // from.

    private static let dots = [
        ".", "..", "%2e", "%2E", "%2e%2E", ".%2e", "%2E.", "%252e", "%252e%252e", "%25252E.", ".%252E", "%%32%65",
        "%25%32e",
    ]

    private func expectRefused(_ paths: URLRequest.Path..., sourceLocation: SourceLocation = #_sourceLocation) {
        for path in paths {
            let isRefused = refusal(path).says(.invalidURL) && refusal(path)?.reason.hasPrefix("path ") == true
            #expect(isRefused, "\(path)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: dots)
    func `a dot segment is refused in a value, in text from run time and in raw text`(dots: String) {
        expectRefused("/users/\(dots)/article", "/users/\(dots)", "\(dots)", "\(dots)/x", "/users/\(dots)?a=b")
        expectRefused(.init("/a/\(dots)/b"), .init(dots), .init("/a/\(dots)?b=c"))
        expectRefused("/a/\(raw: dots)/b", "/a\(raw: "/" + dots)")
    }

    @Test func `a dot segment is refused in a literal, and if it is put together from pieces`() {
        expectRefused("/a/../b", "./a", "/a/%2e%2E", "//..//b")
        expectRefused("/a/\(".")\(".")/b", "/a/.\(".")", "/a/.\("")", "/a/%2\("e")", "/a/\(".")\(raw: "%2e")")
    }

    @Test func `an empty value that leaves its segment empty is refused`() {
        let empty = ""
        expectRefused("/users/\(empty)/article", "/users/\(empty)", "/users/\(empty)?a=b", "/users/\(empty)\(empty)")
        expectRefused("\(empty)", "\(empty)/users", "/users/\(empty)\(raw: "/x")", "/\(empty)/admin", "/\(empty)")
        expectRefused("//\(empty)", "///\(empty)", "\(empty)//\(empty)/x")
    }

    @Test(arguments: ["...", "..a", ".well-known", "a.", "%2e%2e%2e", "..%2F", "%2ea", "%2", "%25", "%252", "..;"])
    func `a segment that only looks like one is not refused`(text: String) {
        #expect(refusal(.init("/a/\(text)/b")) == nil)
        #expect(refusal("/a/\(text)/b") == nil)
    }

    @Test func `the error names the segment and the path, without secrets of the query`() {
        #expect(refusal("/users/\("..")/x")?.reason.contains("'..'") == true)
        #expect(refusal("/users/\("..")/x")?.reason.contains("/users/../x") == true)
        #expect(refusal("/users/\("")/x")?.reason.contains("empty") == true)
        #expect(refusal("/a/../b?token=s3cret")?.description.contains("s3cret") == false)
        let path = "/files/../download;token=s3cretvalue77"
        #expect(refusal(.init(path)).says(.invalidURL, "path '/files/../download;token=***' contains"))
    }

    static let hostile = [
        "//evil.com", "///evil.com", "////evil.com/x", "https://evil.com", "http://evil.com:1/", "https:evil.com",
        "https:///evil.com", "\\\\evil.com", "/\\evil.com", "\\/evil.com", "@evil.com", "/@evil.com",
        "user:pw@evil.com", ":80", ":80/x", ":pw@evil.com", ";@evil.com", ".evil.com", "evil.com", "#@evil.com",
        "?@evil.com", "%40evil.com", "%2F%2Fevil.com", "\t//evil.com", "\n//evil.com", " //evil.com", "\u{0}//evil.com",
        "[::1]", "javascript:alert(1)", "file:///etc/passwd", "/;@evil.com", "//@evil.com", "\u{FF0F}\u{FF0F}evil.com",
        "/\u{301}/evil.com", "@\u{301}evil.com",
    ]
    private static let hosts = [
        "https://good.com", "https://good.com:8443/base", "http://127.0.0.1:8080", "https://good.com/",
    ]

    @Test(arguments: hosts, hostile)
    func `no path and no query changes scheme, host or port`(host: String, text: String) throws {
        let plain = try #require(URL(string: host))
        let config = URLRequest.Config(host: host)
        let paths: [URLRequest.Path] = ["\(text)", "/\(text)", .init(text), "\(raw: text)", "/\(raw: text)"]
        for config in paths.map({ path in config.with { $0.path = path } }) + [config.with { $0.query[text] = text }] {
            let url = try #require(URLRequest.with(config).url)
            #expect(url.scheme == plain.scheme)
            #expect(url.host(percentEncoded: true) == plain.host(percentEncoded: true))
            #expect(url.port == plain.port)
            #expect(url.user(percentEncoded: true) == nil)
            #expect(url.fragment == nil)
        }
    }

    /// A deprecated function is called by way of a protocol, which has no warning.
    private protocol Source { static var paths: [URLRequest.Path] { get } }

    private enum Collections: Source {
        @available(*, deprecated) static var paths: [URLRequest.Path] {
            ["/users/\([1, 2])", "/users/\(Set(["a"]))", "/users/\(["a": 1])", "/a/\([1])/b/\(2)"]
        }
    }

    @Test func `an array, a set and a dictionary are refused`() {
        let source: any Source.Type = Collections.self
        for path in source.paths { #expect(refusal(path).says(.invalidURL, "interpolate its elements")) }
    }

    private func path(of value: some CustomStringConvertible) -> URLRequest.Path { "/x/\(value)" }

    private struct Numbers: RawRepresentable { var rawValue: [Int] }

    @Test func `any collection but text is refused, in generic code, too`() {
        let array: any CustomStringConvertible = [1, 2]
        let paths: [URLRequest.Path] = [
            path(of: [1, 2]), path(of: ["a": 1]), path(of: Set([1])), "/x/\(array)", "/x/\([1, 2, 3][...1])",
            "/x/\(["a": 1].keys)", "/x/\(Data([1]))", "/x/\(1..<3)", "/x/\(Numbers(rawValue: [1]))",
        ]
        for path in paths { #expect(refusal(path).says(.invalidURL, "interpolate its elements"), "\(path)") }
        let text: any StringProtocol = "ab"
        #expect(url(path(of: "ab")) == "https://h.example/x/ab")
        #expect(url(path(of: "abc".dropLast())) == "https://h.example/x/ab")
        #expect(url("/x/\(text)/\(7)") == "https://h.example/x/ab/7")
    }
}
