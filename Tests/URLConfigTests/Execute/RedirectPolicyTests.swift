import Testing

@testable import URLConfig

/// The request that follows a redirect, without a network.
@Suite struct RedirectPolicyTests {
    static let statuses = [301, 302, 303, 307, 308]

    private static let sameOrigin = [
        ("https://a.example/x", "https://a.example/x"), ("https://a.example/x", "https://a.example/y?z"),
        ("https://a.example/x", "HTTPS://A.Example/x"), ("https://a.example/x", "https://a.example:443/x"),
        ("http://a.example:80/x", "http://a.example/x"),
    ]
    private static let otherOrigin = [
        ("https://a.example/x", "https://b.example/x"), ("https://a.example/x", "https://x.a.example/x"),
        ("https://x.a.example/x", "https://a.example/x"), ("https://a.example/x", "https://a.example:8443/x"),
        ("https://a.example/x", "https://a.example:80/x"), ("http://a.example/x", "https://a.example/x"),
        ("http://a.example:8080/x", "https://a.example:8080/x"), ("https://a.example/x", "http://a.example/x"),
    ]

    @Test(arguments: statuses, [true, false])
    func `credentials stay with their origin, and fields about a body stay with the body`(
        status: Int, isForeign: Bool
    ) throws {
        let credentials = ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "X-Tenant", "Host"]
        for (from, to) in isForeign ? Self.otherOrigin : Self.sameOrigin {
            for name in credentials + ["Content-Type", "Accept", "Idempotency-Key"] {
                var request = URLRequest(url: try #require(URL(string: from)))
                request.httpMethod = "PUT"
                request.httpBody = Data("{}".utf8)
                request.setValue("some", forHTTPHeaderField: name)
                let next = try request.redirected(by: request.response(status, to), .standard.adding("x-tenant"))
                let isDropped = isForeign && credentials.contains(name) || status == 303 && name == "Content-Type"
                #expect(try #require(next).field(name) == (isDropped ? nil : "some"), "\(name), \(from) to \(to)")
            }
        }
    }

    @Test(arguments: [Redaction.none, .standard])
    func `whatever a redaction shows, credentials stay with their origin`(redaction: Redaction) throws {
        var request = URLRequest(url: try #require(URL(string: "https://a.example")))
        request.allHTTPHeaderFields = ["authorization": "a", "X-API-KEY": "b", "proxy-Authorization": "c", "hOST": "d"]
        let next = try request.redirected(by: request.response(307, "https://b.example"), redaction)
        #expect(next?.allHTTPHeaderFields?.isEmpty == true)
    }

    @Test(arguments: statuses, ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    func `303 becomes GET, as do 301 and 302 after POST; all else is sent again`(status: Int, method: String) throws {
        let becomesGET = status == 303 || status <= 302 && method == "POST"
        var request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        request.httpMethod = method
        request.allHTTPHeaderFields = [
            "Content-Type": "text/plain", "Content-Encoding": "br", "Content-Language": "en", "content-location": "/y",
            "Digest": "sha=1", "Expect": "100-continue", "Trailer": "X", "Last-Modified": "now", "Accept": "text/html",
            "Prefer": "wait=1",
        ]
        if !["GET", "HEAD"].contains(method) { request.httpBody = Data("content".utf8) }
        request.timeoutInterval = 7
        let next = try #require(try request.redirected(by: request.response(status, "/y"), .standard))
        #expect(next.urlText == "https://a.example/y")
        #expect(next.timeoutInterval == 7)
        #expect(next.httpMethod == (method == "HEAD" ? "HEAD" : becomesGET ? "GET" : method))
        if becomesGET && method != "HEAD" {
            #expect(next.httpBody == nil)
            #expect(next.allHTTPHeaderFields == ["Accept": "text/html", "Prefer": "wait=1"])
        } else {
            #expect(next.httpBody == request.httpBody)
            #expect(next.allHTTPHeaderFields == request.allHTTPHeaderFields)
        }
    }

    @Test(arguments: [100, 200, 201, 300, 304, 305, 306, 309, 399, 401, 500])
    func `other statuses are no redirects, whatever their Location`(status: Int) throws {
        let request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        #expect(try request.redirected(by: request.response(status, "/y"), .standard) == nil)
    }

    @Test(arguments: statuses, [nil, ""] as [String?])
    func `a redirect without Location, or with an empty one, is a response`(status: Int, location: String?) throws {
        let request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        #expect(try request.redirected(by: request.response(status, location), .standard) == nil)
    }

    @Test(arguments: ["https://a.example/y", "mailto:ada@a.example", "https://ada@b.example", "http://[", ""])
    func `a policy that follows no redirects does not check their targets`(location: String) throws {
        let request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        #expect(try RedirectPolicy.none.next(after: request.response(302, location), to: request, .standard) == nil)
    }

    // The target of a `Location`.

    private func target(of location: String, from base: String) throws -> String? {
        let request = URLRequest(url: try #require(URL(string: base)))
        return try request.redirected(by: request.response(302, location), .standard)?.urlText
    }

    /// `URLReferenceTests` has the examples of RFC 3986 §5.4, and what must be encoded.
    @Test(arguments: [
        ("http://a/b/c/d;p?q", "g;x?y#s", "http://a/b/c/g;x?y#s"), ("http://a/b/c/d;p?q", "../../../g", "http://a/g"),
        ("http://a/b/c/d;p?q", "#s", "http://a/b/c/d;p?q#s"), ("http://a", "g", "http://a/g"),
        ("http://a?q", "g", "http://a/g"), ("http://a?q", "?y", "http://a?y"), ("http://a:81/b", "c", "http://a:81/c"),
        ("http://a:81/b", "//a/c", "http://a/c"), ("http://[::1]:81/b", "/c", "http://[::1]:81/c"),
        ("https://a/b", "//c:82/d", "https://c:82/d"), ("http://a/b", "https://c", "https://c"),
        ("http://a/b", "HTTPS://C/d#E", "https://C/d#E"), ("HTTP://a/b", "/c", "http://a/c"),
        ("http://a/b", "Http://a:81/HTTP:x?y", "http://a:81/HTTP:x?y"),
        // Several fields are joined.
        ("http://a/b", "/c, /c, /c", "http://a/c"), ("http://a/b", "/c, /d", "http://a/c,%20/d"),
    ])
    func `a target is a reference that is resolved as in RFC 3986`(base: String, location: String, target: String)
        throws
    {
        #expect(try self.target(of: location, from: base) == target)
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
        "unsendable-request:invalidURL?reason", "blob:http://a/1", "http://[", "http://[::1", "http://a:b/",
    ])
    func `targets that are not http or https with a host are refused`(location: String) throws {
        let error = expectThrown(.refusedRedirect) { try target(of: location, from: "http://a/b") }
        #expect(error?.response?.data == Data("moved".utf8))
    }

    @Test(arguments: [
        "http://u:p@a/x", "http://u@a/x", "http://:p@a/x", "http://@a/x", "//u:p@b/x", "https://a@b/x",
        "http://a:80%5C@b/x", "http://a\\@b/x",
    ])
    func `a user name in a Location is refused`(location: String) throws {
        let error = expectThrown(.refusedRedirect) { try target(of: location, from: "http://a/b") }
        #expect(error?.reason.contains("user name") == true)
    }

    @Test func `the user name of the request's own URL is no reason to refuse a path`() throws {
        #expect(try target(of: "/x", from: "http://u:p@a/b") == "http://u:p@a/x")
        #expect(try target(of: "//a/x", from: "http://u:p@a/b") == "http://a/x")
        for foreign in ["http://u:p@b/x", "http://u:p@a:81/x", "https://u:p@a/x", "http://v:p@a/x", "http://u:q@a/x"] {
            #expect(throws: RequestError.self) { try target(of: foreign, from: "http://u:p@a/b") }
        }
    }
}

extension URLRequest {
    /// A response to this request.
    func response(_ status: Int, _ location: String? = nil) -> DataResponse {
        var fields = HTTPFields()
        fields[.location] = location
        return DataResponse(
            request: self, status: .init(integerLiteral: status), headerFields: fields, data: Data("moved".utf8))
    }
}
