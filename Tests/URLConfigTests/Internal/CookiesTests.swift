import FlyingFox
import Testing

@testable import URLConfig

@Suite struct CookiesTests {
    /// What is stored after an answer with a `Set-Cookie`.
    private func stored(_ field: String, _ configure: (URLSessionConfiguration) -> Void = { _ in }) async throws
        -> [String]
    {
        let stored = LockBox<[String]>([])
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        try await Loopback.serving { _ in
            .init(statusCode: .ok, headers: HTTPHeaders([.init("Set-Cookie"): field]), body: Data())
        } _: { server in
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            try await session.response(for: .with(server.config) { _ in }) { $0.logger = nil }
            let cookies = configuration.httpCookieStorage?.cookies ?? []
            stored.withLock { $0 = cookies.map { "\($0.name)=\($0.value)" }.sorted() }
        }
        return stored.withLock { $0 }
    }

    @Test func `several cookies in one field are told apart, commas in dates or not`() async throws {
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

    @Test(arguments: ["a\u{1}=1", "a=1\u{7F}"])
    func `a cookie with controls is not taken`(field: String) async throws {
        #expect(try await stored(field) == [])
    }

    @Test func `an age is known, and one of nothing takes a cookie back`() async throws {
        #expect(try await stored("a=1; Max-Age=60, b=2; Max-Age=0") == ["a=1"])
    }

    /// What is sent of cookies that are in the storage already.
    private func sent(_ path: URLRequest.Path, _ cookies: [[HTTPCookiePropertyKey: Any]]) async throws -> String {
        let configuration = URLSessionConfiguration.ephemeral
        for properties in cookies {
            let all = properties.merging([.domain: "127.0.0.1"]) { own, _ in own }
            configuration.httpCookieStorage?.setCookie(try #require(HTTPCookie(properties: all)))
        }
        let sent = LockBox("")
        try await Loopback.serving { request in
            sent.withLock { $0 = request.headers[.init("Cookie")] ?? "none" }
            return .json("{}")
        } _: { server in
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            try await session.response(for: .with(server.config) { $0.path = path }) { $0.logger = nil }
        }
        return sent.withLock { $0 }
    }

    @Test(
        arguments: [
            ("/", "c=/"), ("", "c=/"), ("/a", "b=/a; c=/"), ("/a/", "b=/a; c=/"), ("/a/b", "a=/a/b; b=/a; c=/"),
            ("/a/b/c", "a=/a/b; b=/a; c=/"), ("/ab", "c=/"),
        ] as [(URLRequest.Path, String)])
    func `a cookie is sent to its own path, the longest first`(path: URLRequest.Path, field: String) async throws {
        let cookies: [[HTTPCookiePropertyKey: Any]] = ["/": "c", "/a": "b", "/a/b": "a"].map { path, name in
            [.name: name, .value: path, .path: path]
        }
        #expect(try await sent(path, cookies) == field)
    }

    @Test func `a secure cookie does not go out in plain text, nor one that is over at all`() async throws {
        let field = try await sent(
            "/",
            [
                [.name: "secure", .value: "1", .path: "/", .secure: "TRUE"],
                [.name: "old", .value: "1", .path: "/", .expires: Date.distantPast],
                [.name: "good", .value: "1", .path: "/", .expires: Date.distantFuture],
            ])
        #expect(field == "good=1")
    }

    @Test func `a configuration that wants none stores none`() async throws {
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
            let response = try await server.session.response(for: .with(server.config) { $0.path = "/in" }) {
                $0.logger = nil
            }
            #expect(try response.text() == "sid=7")
        }
    }
}
