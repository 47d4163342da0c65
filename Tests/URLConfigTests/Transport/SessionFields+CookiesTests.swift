import FlyingFox
import Testing

@testable import URLConfig

@Suite(.inTime) struct SessionFieldsCookiesTests {
    /// The cookies that are stored after a response with a `Set-Cookie`.
    private func stored(_ field: String, _ configure: (URLSessionConfiguration) -> Void = { _ in }) async throws
        -> [String]
    {
        let stored = Locked<[String]>([])
        let configuration = URLSessionConfiguration.ofTests
        configure(configuration)
        try await Loopback.serving { _ in
            .init(statusCode: .ok, headers: HTTPHeaders([.init("Set-Cookie"): field]), body: Data())
        } _: { server in
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            try await session.response(for: server.request(), config: .silent)
            let cookies = configuration.httpCookieStorage?.cookies ?? []
            stored.withLock { $0 = cookies.map { "\($0.name)=\($0.value)" }.sorted() }
        }
        return stored.withLock { $0 }
    }

    /// Foundation joins fields, unlike the server transport.
    @Test(.urlSessionOnly) func `fields that were joined are told apart, commas in dates or not`() async throws {
        let cookies = try await stored("a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/, b=2")
        #expect(cookies == ["a=1", "b=2"])
    }

    @Test(arguments: ["a=1; Domain=bank.example", "a=1; Domain=.1", "a=1; Domain=27.0.0.1", "a=1; Domain=0.0.1"])
    func `a cookie for another host is not taken`(field: String) async throws {
        #expect(try await stored(field) == [])
    }

    @Test(arguments: ["🙂=", "a=1; 🙂=", "🙂🙂=1", "=", ";", "a"])
    func `a cookie that ends the process in Foundation does not here`(field: String) async throws {
        #expect(try await stored(field).count <= 1)
    }

    @Test func `an age is known, and one of nothing takes a cookie back`() async throws {
        #expect(try await stored("a=1; Max-Age=60") == ["a=1"])
        #expect(try await stored("b=2; Max-Age=0") == [])
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

    @Test func `a configuration that accepts no cookies stores none`() async throws {
        #expect(try await stored("a=1") { $0.httpCookieAcceptPolicy = .never } == [])
        #expect(try await stored("a=1") { $0.httpCookieStorage = nil } == [])
    }

    @Test func `cookies are sent to their own host after a redirect`() async throws {
        try await Loopback.serving { request in
            request.path == "/in"
                ? .init(
                    statusCode: .seeOther,
                    headers: HTTPHeaders([.init("Set-Cookie"): "sid=7; Path=/", .location: "/"]),
                    body: Data())
                : .json(request.headers[.init("Cookie")] ?? "none")
        } _: { server in
            let response = try await server.get("/in")
            #expect(try response.text() == "sid=7")
        }
    }
}
