import Testing
import URLConfig

/// `Set-Cookie` fields: RFC 6265 §5.2 and §5.3.
@Suite struct DataResponseCookiesTests {
    private func cookies(_ fields: String..., from url: String = "https://www.example.com/a/b") -> [HTTPCookie] {
        var response = DataResponse(request: .with(.init(host: url)) { _ in })
        for field in fields { response.headerFields.append(HTTPField(name: .setCookie, value: field)) }
        return response.cookies
    }

    /// Such as `a=1 .example.com /`.
    private func summary(_ fields: String..., from url: String = "https://www.example.com/a/b") -> [String] {
        fields.flatMap { cookies($0, from: url) }.map { "\($0.name)=\($0.value) \($0.domain) \($0.path)" }
    }

    @Test func `a cookie has its attributes, or the defaults`() throws {
        let field = "sid=31d4; Path=/a; Domain=example.com; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Secure; HttpOnly"
        let cookie = try #require(cookies(field).first)
        #expect(summary(field) == ["sid=31d4 .example.com /a"])
        #expect(cookie.expiresDate == Date(timeIntervalSince1970: 4_096_250_880))
        #expect(cookie.isSecure && cookie.isHTTPOnly)
        let plain = try #require(cookies("sid=31d4").first)
        #expect(summary("sid=31d4") == ["sid=31d4 www.example.com /"])
        #expect(plain.expiresDate == nil && !plain.isSecure && !plain.isHTTPOnly)
    }

    @Test func `one field is one cookie, and a comma is part of its value`() {
        #expect(cookies("a=1; Path=/", "b=2").map(\.name) == ["a", "b"])
        for value in ["x, b=2", "x,b=2", "\"x, b=2\"", ",", "x, b=2, b=3"] {
            #expect(cookies("a=\(value); Path=/").map { "\($0.name)=\($0.value)" } == ["a=\(value)"])
        }
    }

    @Test func `a field that is too long is no cookie`() {
        let most = String(repeating: "x", count: 4095)
        #expect(cookies("a=\(most)", "=\(most)x", "\(most)x=", most).count == 4)
        #expect(cookies("ab=\(most)", "=\(most)xy", "\(most)xy=", "\(most)xy").isEmpty)
        let path = "/" + String(repeating: "p", count: 1023)
        #expect(cookies("a=1; Path=\(path)", "a=1; Path=/p; Path=\(path)p").map(\.path) == [path, "/p"])
    }

    @Test(
        arguments: [
            ("a=b=c", "a=b=c"), (" a = 1 ; x", "a=1"), ("a=", "a="), ("a=\"q\"", "a=\"q\""), ("A=1;;;Path=/;", "A=1"),
            ("a=1; Path", "a=1"), ("a=1; Path=x", "a=1"), ("é=ü", "é=ü"), ("🙂=1", "🙂=1"), ("a=🙂; 🙂; 🙂=🙂", "a=🙂"),
            ("a", "=a"), ("=1", "=1"), (" =1; Path=/", "=1"), ("a; b=1", "=a"), ("==1", "==1"), (",", "=,"),
            ("", nil), (" ", nil), (";", nil), ("=", nil), (" = ; Path=/", nil), (";a=1", nil), ("__Host-a", nil),
            ("=__secure-a", nil),
        ] as [(String, String?)])
    func `unusual fields, and those that are no cookie`(field: String, cookie: String?) {
        #expect(summary(field) == (cookie.map { ["\($0) www.example.com /"] } ?? []))
    }

    @Test(
        arguments: [
            ("60", 60), ("60; Expires=Wed, 21 Oct 2099 07:28:00 GMT", 60), ("60; Max-Age=x", 60), ("1; max-age=60", 60),
            ("0", -.infinity), ("-1", -.infinity), ("-99999999999999999999999", -.infinity),
            (String(repeating: "9", count: 1000), .infinity), ("", nil), ("x", nil), ("1e3", nil), ("+60", nil),
            ("0x10", nil), ("1.5", nil), ("--1", nil), ("inf", nil), ("nan", nil),
        ] as [(String, TimeInterval?)])
    func `an age is counted from now and replaces a date, and an invalid one is ignored`(
        age: String, seconds: TimeInterval?
    ) throws {
        let expiry = try #require(cookies("a=1; Max-Age=\(age)").first).expiresDate
        let expected = seconds.map { min(max(Date() + $0, .distantPast), .distantFuture) }
        #expect((expiry == nil) == (expected == nil))
        if let expiry, let expected { #expect(abs(expiry.timeIntervalSince(expected)) < 30) }
    }

    @Test(
        arguments: [
            ("https://www.example.com", "example.com", ".example.com"),
            ("https://www.example.com", "evil.com; Domain=example.com", ".example.com"),
            ("https://www.shop.co.uk", "shop.co.uk", ".shop.co.uk"), ("https://www.t.co", "t.co", ".t.co"),
            ("https://WWW.example.com", ".EXAMPLE.com", ".example.com"),
            ("https://www.example.com", "www.example.com", ".www.example.com"),
            ("http://localhost", "localhost", "localhost"),
            ("http://127.0.0.1", "127.0.0.1", "127.0.0.1"), ("https://www.example.com", "", "www.example.com"),
            ("https://www.example.com", ".", "www.example.com"),
            ("https://www.example.com", "example.com; Domain=", "www.example.com"),
            ("https://www.example.com", "evil.com; Domain=", "www.example.com"),
            // Domains that are not the host's to set cookies for
            ("https://www.example.com", "evil.com", nil), ("https://www.example.com", "..example.com", nil),
            ("https://www.example.com", "example.com; Domain=evil.com", nil), ("https://www.example.com", "com", nil),
            ("https://www.example.com", ".com", nil), ("https://www.example.com", "ww.example.com", nil),
            ("https://www.example.com", "a.www.example.com", nil), ("https://www.shop.co.uk", "co.uk", nil),
            ("https://shop.com.au", ".com.au", nil), ("https://www.example.com", "ample.com", nil),
            ("https://www.example.com", "..", nil), ("http://127.0.0.1", "0.0.1", nil), ("http://127.0.0.1", "1", nil),
            ("http://[::1]", ":1", nil), ("https://www.example.com", "\u{301}example.com", nil),
        ] as [(String, String, String?)])
    func `a host sets cookies only for itself and for domains that contain it`(
        url: String, attribute: String, domain: String?
    ) {
        #expect(cookies("a=1; Domain=\(attribute)", from: url).map(\.domain) == (domain.map { [$0] } ?? []))
    }

    @Test(arguments: [
        ("__Secure-a=1; Secure", true), ("__Secure-a=1", false), ("__secure-a=1; Path=/", false),
        ("__Secure-a=1; Secure; Domain=example.com; Path=/a", true), ("__Secure=1", true),
        ("__Host-a=1; Secure; Path=/", true), ("__Host-a=1; Path=/", false), ("__Host-a=1; Secure", false),
        ("__Host-a=1; Secure; Path=/a", false), ("__Host-a=1; Secure; Path=a", false),
        ("__Host-a=1; Secure; Path=/; Domain=example.com", false),
        ("__Host-a=1; Secure; Path=/; Domain=www.example.com", false), ("__HOST-a=1; Path=/", false),
        ("__hOST-a=1; secure; path=/", true), ("__Host-a=1; Secure; Path=/; Domain=", true), ("a__Host-=1", true),
        ("__Host=1", true), ("__Host-=1", false),
    ])
    func `a name with a prefix is accepted only with the attributes that it stands for`(field: String, isTaken: Bool) {
        #expect(cookies(field).count == (isTaken ? 1 : 0))
        #expect(cookies("b=1", field).map(\.name).first == "b")
    }

    /// RFC 6265bis §5.7.
    @Test(arguments: [
        "a=1; Secure", "a=1; Path=/; secure=1", "__Secure-a=1; Secure", "__Host-a=1; Secure; Path=/",
    ])
    func `a cookie for https only is not taken from http`(field: String) {
        #expect(cookies(field, from: "http://www.example.com").isEmpty)
        #expect(cookies(field, from: "https://www.example.com").count == 1)
        #expect(cookies(field, from: "HTTPS://www.example.com").count == 1)
    }

    @Test func `random and very long fields do not crash`() {
        let parts = [
            "a", "=", ";", ",", " ", "\"", "Expires=", "Max-Age=", "Domain=", "Path=/", "Wed, 21 Oct 2099 07:28:00 GMT",
            "07:28", "Oct", "21", "2099", "99999999999", "-1", "é", "🙂", "\u{301}", "\t", "\u{0}", "\r\n",
            "example.com", ".",
        ]
        for seed in 0..<4000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let field = (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }.joined()
            for cookie in cookies(field) { #expect(cookie.domain.hasSuffix("example.com"), "\(seed): \(field)") }
        }
        for part in parts {
            #expect(cookies(String(repeating: part, count: 20_000)).count <= 1)
        }
    }
}
