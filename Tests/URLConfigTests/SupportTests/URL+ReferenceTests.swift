import Testing

@testable import URLConfig

@Suite struct URLReferenceTests {
    /// RFC 3986 §5.4.1 and §5.4.2, then others.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
        ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
        ("a b/\u{E4}", "http://a/b/c/a%20b/%C3%A4"), ("%zz", "http://a/b/c/%25zz"),
        ("caf%C3%A9 x", "http://a/b/c/caf%C3%A9%20x"), ("g?a=%2F&b=\u{E4}", "http://a/b/c/g?a=%2F&b=%C3%A4"),
        ("/x%2Fy", "http://a/x%2Fy"), ("x%2Fy/z", "http://a/b/c/x%2Fy/z"), ("/%2e%2e/x", "http://a/%2e%2e/x"),
        ("/x?u=http%3A%2F%2Fb%2F", "http://a/x?u=http%3A%2F%2Fb%2F"), ("/caf\u{E9}%2F", "http://a/caf%C3%A9%2F"),
        ("/a b%2Fc", "http://a/a%20b%2Fc"), ("/x?q=\u{E9} e", "http://a/x?q=%C3%A9%20e"),
        ("/x?q=a b%26", "http://a/x?q=a%20b%26"), ("/x#a b%20c", "http://a/x#a%20b%20c"),
        ("/100%", "http://a/100%25"), ("/a|b\"c", "http://a/a%7Cb%22c"), ("/a\\b", "http://a/a%5Cb"),
        ("http://b\u{FC}cher.example/a b%2F", "http://xn--bcher-kva.example/a%20b%2F"),
        ("//b/x y?//c", "http://b/x%20y?//c"), ("g//h i", "http://a/b/c/g//h%20i"), ("s://h/%41 b", "s://h/%41%20b"),
    ])
    func `a reference is resolved`(reference: String, url: String) throws {
        let base = try #require(URL(string: "http://a/b/c/d;p?q#f"))
        #expect(URL(reference: reference, relativeTo: base)?.absoluteString == url)
    }

    @Test(arguments: ["http://[", "//[::1]:port/", "http://a b/", "//a:b/", ":"])
    func `an invalid reference gives no URL with a host`(reference: String) throws {
        #expect(URL(reference: reference, relativeTo: URL(string: "http://a/b"))?.host() == nil)
    }

    @Test(arguments: ["", "g", "/g", "?y", "#s"])
    func `a relative reference needs a base`(reference: String) {
        #expect(URL(reference: reference, relativeTo: nil) == nil)
        #expect(URL(reference: "https://a/b", relativeTo: nil) != nil)
    }

    /// The case of a scheme is ignored (RFC 3986 §3.1).
    @Test(arguments: [
        ("HTTP://h.example/A?B#C", "http://h.example/A?B#C"), ("hTTps://H", "https://H"), ("http://h", "http://h"),
        ("HTTP:", "http:"), ("/HTTP", "/HTTP"),
    ])
    func `a scheme becomes lower case`(text: String, expected: String) throws {
        #expect(try #require(URL(string: text)).withLowercasedScheme.absoluteString == expected)
    }
}
