import Foundation
import Testing

@testable import URLConfig

/// The target of a `Location`.
@Suite struct RedirectPolicyLocationTests {
    private func target(of location: String, from base: String) throws -> String? {
        let request = URLRequest(url: try #require(URL(string: base)))
        return try request.redirected(by: request.answered(302, location), .standard)?.urlText
    }

    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
    ])
    func `the normal examples of RFC 3986 §5.4.1`(location: String, target: String) throws {
        #expect(try self.target(of: location, from: "http://a/b/c/d;p?q") == target)
    }

    @Test(arguments: [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
    ])
    func `the abnormal examples of RFC 3986 §5.4.2`(location: String, target: String) throws {
        #expect(try self.target(of: location, from: "http://a/b/c/d;p?q") == target)
    }

    @Test(arguments: [
        ("http://a", "g", "http://a/g"), ("http://a?q", "g", "http://a/g"), ("http://a?q", "?y", "http://a?y"),
        ("http://a:81/b", "c", "http://a:81/c"), ("http://a:81/b", "//a/c", "http://a/c"),
        ("http://[::1]:81/b", "/c", "http://[::1]:81/c"), ("https://a/b", "//c:82/d", "https://c:82/d"),
        ("http://a/b", "https://c", "https://c"), ("http://a/b", "HTTPS://C/d#E", "https://C/d#E"),
        ("http://a/b", "Http://a:81/HTTP:x?y", "http://a:81/HTTP:x?y"), ("HTTP://a/b", "/c", "http://a/c"),
    ])
    func `authorities and roots`(base: String, location: String, target: String) throws {
        #expect(try self.target(of: location, from: base) == target)
    }

    @Test(arguments: [
        ("/x%2Fy", "http://a/x%2Fy"), ("x%2Fy/z", "http://a/b/x%2Fy/z"), ("/%2e%2e/x", "http://a/%2e%2e/x"),
        ("/x?u=http%3A%2F%2Fb%2F", "http://a/x?u=http%3A%2F%2Fb%2F"), ("/caf\u{E9}", "http://a/caf%C3%A9"),
        ("/a b", "http://a/a%20b"), ("/a b%2Fc", "http://a/a%20b%2Fc"), ("/x?q=\u{E9} e", "http://a/x?q=%C3%A9%20e"),
        ("/caf\u{E9}%2F", "http://a/caf%C3%A9%2F"), ("/x?q=a b%26", "http://a/x?q=a%20b%26"),
        ("/x#a b%20c", "http://a/x#a%20b%20c"),
        ("http://b\u{FC}cher.example/a b%2F", "http://xn--bcher-kva.example/a%20b%2F"),
        ("/100%", "http://a/100%25"), ("/a|b\"c", "http://a/a%7Cb%22c"), ("/a\\b", "http://a/a%5Cb"),
    ])
    func `encodings are kept, and what lacks one gets it`(location: String, target: String) throws {
        #expect(try self.target(of: location, from: "http://a/b/c") == target)
    }

    @Test(arguments: [
        ("c", "http://a/c#f%20g"), ("c#h", "http://a/c#h"), ("c#", "http://a/c#"), ("?q", "http://a/b?q#f%20g"),
        ("http://d/e", "http://d/e#f%20g"), ("#", "http://a/b#"),
    ])
    func `a fragment stays, unless there is a new one`(location: String, target: String) throws {
        #expect(try self.target(of: location, from: "http://a/b#f%20g") == target)
    }

    @Test(arguments: [
        "g:h", "http:g", "http:", "https:///x", "http://", "//", "file:///etc/passwd", "file:/etc/passwd",
        "ftp://a/x", "javascript:alert(1)", "data:text/html,x", "mailto:a@b", "ws://a/x", "http://:80/x", "about:blank",
        "unsendable-request:invalidURL?reason", "blob:http://a/1",
    ])
    func `targets that are not http or https with a host are refused`(location: String) throws {
        let error = #expect(throws: RequestError.self) { try target(of: location, from: "http://a/b") }
        #expect(error?.code == .refusedRedirect)
        #expect(error?.response?.data == Data("moved".utf8))
    }

    @Test(arguments: [
        "http://u:p@a/x", "http://u@a/x", "http://:p@a/x", "http://@a/x", "//u:p@b/x", "https://a@b/x",
        "http://a:80%5C@b/x", "http://a\\@b/x",
    ])
    func `a user name in a Location is refused`(location: String) throws {
        let error = #expect(throws: RequestError.self) { try target(of: location, from: "http://a/b") }
        #expect(error?.code == .refusedRedirect)
        #expect(error?.reason.contains("user name") == true)
    }

    @Test func `the user name of the request's own URL is no reason to refuse a path`() throws {
        #expect(try target(of: "/x", from: "http://u:p@a/b") == "http://u:p@a/x")
        #expect(try target(of: "//a/x", from: "http://u:p@a/b") == "http://a/x")
        for foreign in ["http://u:p@b/x", "http://u:p@a:81/x", "https://u:p@a/x", "http://v:p@a/x", "http://u:q@a/x"] {
            #expect(throws: RequestError.self) { try target(of: foreign, from: "http://u:p@a/b") }
        }
    }

    @Test(arguments: ["http://[", "http://[::1", "http://a:b/"])
    func `what is no URL is refused`(location: String) throws {
        let error = #expect(throws: RequestError.self) { try target(of: location, from: "http://a/b") }
        #expect(error?.code == .refusedRedirect)
    }
}
