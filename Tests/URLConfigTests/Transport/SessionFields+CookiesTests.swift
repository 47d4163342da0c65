import Testing

@testable import URLConfig

// On Apple platforms, the session handles cookies itself.
#if canImport(FoundationNetworking) || AsyncHTTPClient
/// Which cookies of a response are stored: RFC 6265 §6.1 and RFC 6265bis §5.6 and §5.7.
@Suite(.inTime) struct SessionFieldsCookiesTests {
    /// The cookies of a storage after a response with `Set-Cookie` fields, and what the next request sends.
    ///
    /// - Parameter known: Cookies that the storage has before; the host is the server's unless they have a domain.
    private func after(
        _ fields: [String], known: [[HTTPCookiePropertyKey: Any]] = [],
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) async throws -> (stored: [String], sent: String?) {
        let configuration = URLSessionConfiguration.ofTests
        configure(configuration)
        for properties in known {
            let all = properties.merging([.domain: "127.0.0.1", .path: "/", .value: "old"]) { old, _ in old }
            configuration.httpCookieStorage?.setCookie(try #require(HTTPCookie(properties: all)))
        }
        let lines = fields.map { "Set-Cookie: \($0)\r\n" }.joined()
        var result: (stored: [String], sent: String?) = ([], nil)
        try await FaultServer.serving(.raw("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 2\r\n\r\n{}")) { server in
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            try await session.response(for: server.request(), config: .silent)
            result.stored = (configuration.httpCookieStorage?.cookies ?? []).map { "\($0.name)=\($0.value)" }
            try await session.response(for: server.request(), config: .silent)
            result.sent = server.requests.last?.field("Cookie")
        }
        return result
    }

    /// Foundation joins fields, unlike the server transport.
    @Test(.urlSessionOnly) func `fields that were joined are told apart, commas in dates or not`() async throws {
        let stored = try await after(["a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/, b=2"]).stored
        #expect(Set(stored) == ["a=1", "b=2"])
    }

    @Test(arguments: [
        ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2", ["a=1,b=2"]), ("a=1,  b=2", ["a=1,  b=2"]), ("a=1, b", ["a=1, b"]),
        ("a=\"1, b=2\"", ["a=\"1, b=2\""]), ("a=\"1, b=2\" ; x, c=3", ["a=\"1, b=2\" ; x", "c=3"]),
        ("a=\"1\", b=\"2, c=3\"", ["a=\"1\"", "b=\"2, c=3\""]), ("a=\", b=\"2\"", ["a=\"", "b=\"2\""]),
        ("a=\"1; x, b=\"2\"", ["a=\"1; x", "b=\"2\""]), ("a=\"1\"x, b=2", ["a=\"1\"x", "b=2"]),
        ("a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT, b = 2", ["a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT", "b = 2"]),
        ("", [""]), (", a=1", ["", "a=1"]), (",", [","]), (", ", [", "]), ("🙂, a=1", ["🙂", "a=1"]),
    ])
    func `what separates joined fields`(field: String, fields: [String]) {
        #expect(field.separateCookies == fields)
    }

    @Test func `no more fields are separated than can be kept`() {
        for part in ["a=1, ", "a=\", ", "a=\"\", "] {
            #expect(String(repeating: part, count: 40_000).separateCookies.count == 1 << 14 + 1)
        }
    }

    @Test(.oneAtATime, arguments: [",", "a=1, ", "a=\"\", "]) func `separating them takes linear time`(part: String) {
        expectLinearTime(from: 2000) { _ = String(repeating: part, count: $0).separateCookies }
    }

    /// On `URLSession`, Foundation joins fields with a comma and a space.
    @Test(arguments: ["q=x,sid=attacker", "q=\"x, sid=attacker\"", "q=x,  sid=attacker"])
    func `one field is one cookie`(field: String) async throws {
        let (stored, sent) = try await after([field, "z=1"], known: [[.name: "sid"]])
        #expect(Set(stored) == [field, "z=1", "sid=old"])
        #expect(sent == "sid=old; \(field); z=1")
    }

    @Test(.enabled(if: TransportOfTests.isAsyncHTTPClient))
    func `one field is one cookie, whatever it contains`() async throws {
        let (stored, sent) = try await after(["q=x, sid=attacker"], known: [[.name: "sid"]])
        #expect(Set(stored) == ["q=x, sid=attacker", "sid=old"])
        #expect(sent == "sid=old; q=x, sid=attacker")
        let many = (0..<1000).map { "a\($0)=1" }.joined(separator: ", ")
        #expect(try await after([many]).stored == [])
        #expect(try await after(["c=1", "a", "=b"]).sent == "c=1; b")
    }

    @Test func `a domain has at most 50 cookies, and the last of a response stay`() async throws {
        for attributes in ["", "; Max-Age=60"] {
            let (stored, sent) = try await after((0..<200).map { "a\($0)=1\(attributes)" }, known: [[.name: "b"]])
            #expect(Set(stored) == Set((150..<200).map { "a\($0)=1" }))
            #expect(sent == (150..<200).map { "a\($0)=1" }.joined(separator: "; "))
        }
    }

    @Test func `a storage has at most 3,000 cookies, and the oldest goes first`() async throws {
        let known: [[HTTPCookiePropertyKey: Any]] = (0..<3000).map { [.name: "a", .domain: "h\($0).example"] }
        let (stored, sent) = try await after(["b=1"], known: known)
        #expect(stored.count == 3000)
        #expect(sent == "b=1")
    }

    @Test func `cookies for https only stay longer`() async throws {
        let known: [[HTTPCookiePropertyKey: Any]] = (0..<50).map { [.name: "s\($0)", .secure: "TRUE"] }
        let (stored, sent) = try await after(["b=1"], known: known)
        #expect(Set(stored) == Set((0..<50).map { "s\($0)=old" }))
        #expect(sent == nil)
    }

    @Test func `a cookie has at most 4,096 bytes, and an attribute 1,024`() async throws {
        let most = String(repeating: "x", count: 4095)
        #expect(try await after(["a=\(most)"]).stored == ["a=\(most)"])
        #expect(try await after(["ab=\(most)"]).stored == [])
        #expect(try await after(["a=" + String(repeating: "x", count: 70_000)]).stored == [])
        let path = "/" + String(repeating: "p", count: 1023)
        #expect(try await after(["a=1; Path=\(path)"]).sent == nil)
        #expect(try await after(["a=1; Path=\(path)p"]).sent == "a=1")
    }

    @Test(arguments: ["a=1", "a=1; Path=/b", "a=; Max-Age=0"])
    func `a response over http does not touch a cookie for https only`(field: String) async throws {
        let (stored, sent) = try await after([field, "b=1"], known: [[.name: "a", .secure: "TRUE"]])
        #expect(Set(stored) == ["a=old", "b=1"])
        #expect(sent == "b=1")
    }

    @Test func `a cookie that replaces one of the storage keeps its place`() async throws {
        #expect(try await after(["b=1", "z=1"], known: [[.name: "z"], [.name: "y"]]).sent == "z=1; y=old; b=1")
    }

    @Test(arguments: ["a=1; Domain=bank.example", "a=1; Domain=.1", "a=1; Domain=27.0.0.1", "a=1; Domain=0.0.1"])
    func `a cookie for another host is not taken`(field: String) async throws {
        #expect(try await after([field]).stored == [])
    }

    @Test(arguments: ["🙂=", "a=1; 🙂=", "🙂🙂=1", "=", ";", "a"])
    func `a cookie that crashes Foundation does no harm here`(field: String) async throws {
        #expect(try await after([field]).stored.count <= 1)
    }

    @Test func `a configuration that accepts no cookies stores none`() async throws {
        #expect(try await after(["a=1"]) { $0.httpCookieAcceptPolicy = .never }.stored == [])
        #expect(try await after(["a=1"]) { $0.httpCookieStorage = nil }.stored == [])
    }

    @Test func `cookies are sent to their own host after a redirect`() async throws {
        let fault = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 303 Go\r\nSet-Cookie: sid=7; Path=/\r\nLocation: /\r\n")
            try connection.send("Connection: close\r\nContent-Length: 0\r\n\r\n")
        }
        try await FaultServer.serving(.first(1, fault, then: .ok("{}"))) { server in
            try await server.get("/in")
            #expect(server.requests.map { $0.field("Cookie") } == [nil, "sid=7"])
        }
    }
}
#endif
