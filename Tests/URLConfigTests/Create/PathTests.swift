import Foundation
import Testing
import URLConfig

/// Literals and values of a path: RFC 3986 §3.3 for what stays, §2.3 for what a value may hold unescaped.
@Suite struct PathTests {
    private func url(_ path: URLRequest.Path) -> String {
        URLRequest.with(.init(host: "https://h.example")) { $0.path = path }.urlText
    }

    @Test func `a literal keeps its slashes and what RFC 3986 allows in a path`() {
        #expect(url("/a/b//c/") == "https://h.example/a/b//c/")
        #expect(url("/a-._~!$&'()*+,;=:@z") == "https://h.example/a-._~!$&'()*+,;=:@z")
    }

    @Test(arguments: [
        ("/a b", "/a%20b"), ("/\u{E9}", "/%C3%A9"), ("/\u{1F600}", "/%F0%9F%98%80"),
        ("/\"<>^`{|}", "/%22%3C%3E%5E%60%7B%7C%7D"),
        ("/a\\b", "/a%5Cb"), ("/a#b", "/a%23b"), ("/[x]", "/%5Bx%5D"), ("/a\nb", "/a%0Ab"), ("/a\u{0}b", "/a%00b"),
        ("/a\r\nb", "/a%0D%0Ab"), ("/e\u{301}", "/e%CC%81"), ("/a/\u{301}", "/a/%CC%81"),
    ])
    func `what a path may not hold is percent-encoded in literal text`(text: String, expected: String) {
        #expect(url(.init(text)) == "https://h.example" + expected)
    }

    @Test(arguments: [
        ("/a%20b", "/a%20b"), ("/%2F", "/%2F"), ("/%c3%a9", "/%c3%a9"), ("/100%", "/100%25"), ("/%zz", "/%25zz"),
        ("/%2", "/%252"), ("/%", "/%25"), ("/%%41", "/%25%41"), ("/%4%41", "/%254%41"),
    ])
    func `a valid escape stays and any other percent sign is encoded`(text: String, expected: String) {
        #expect(url(.init(text)) == "https://h.example" + expected)
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

    @Test func `a value may be a part of a segment`() {
        #expect(url("/files/\("a/b").json") == "https://h.example/files/a%2Fb.json")
        #expect(url("/files/\("").json") == "https://h.example/files/.json")
        #expect(url("/\(1)-\(2)") == "https://h.example/1-2")
        #expect(url("/v\("")/x") == "https://h.example/v/x")
        #expect(url("/a%\("41")") == "https://h.example/a%2541")
    }

    @Test func `the question mark of a literal starts a query`() {
        #expect(url("/a?b=c&d=e/f?g") == "https://h.example/a?b=c&d=e/f?g")
        #expect(url("/a?b=c d#e%zz%41") == "https://h.example/a?b=c%20d%23e%25zz%41")
        #expect(url("?a=b") == "https://h.example?a=b")
        #expect(url(.init("/a?b=c")) == "https://h.example/a?b=c")
        #expect(url("/a?b=../..") == "https://h.example/a?b=../..")
    }

    @Test func `a value in the query of a literal stays one value`() {
        #expect(url("/a?b=\("x&y=z#w+ %41?")&c=\(1)") == "https://h.example/a?b=x%26y%3Dz%23w%2B%20%2541%3F&c=1")
        #expect(url("/a?b=\("")&c=\("..")") == "https://h.example/a?b=&c=..")
    }

    @Test func `raw text counts as literal text`() {
        #expect(url("/a\(raw: "/b/c%20d e")") == "https://h.example/a/b/c%20d%20e")
        #expect(url("/a\(raw: "?b=c")") == "https://h.example/a?b=c")
        #expect(url("/a\(raw: "")") == "https://h.example/a")
    }

    @Test func `text from run time counts as literal text`() {
        #expect(url(.init("/a/b c/100%")) == "https://h.example/a/b%20c/100%25")
        #expect(url(.init("")) == "https://h.example")
    }

    @Test func `the description is the path as it will be sent`() {
        #expect(URLRequest.Path("/a b?c=d e").description == "/a%20b?c=d%20e")
        #expect("/users/\("a/b")" as URLRequest.Path == URLRequest.Path("/users/a%2Fb"))
    }
}
