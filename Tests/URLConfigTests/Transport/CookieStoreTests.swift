import Testing

@testable import URLConfig

/// When cookies are stored, and where.
@Suite(.inTime) struct CookieStoreTests {
    private let url = URL(string: "https://h.example/a")
    private let storage = URLSessionConfiguration.ofTests.httpCookieStorage

    /// The values of the cookies that a request carries.
    private func sent(to url: URL, _ storage: HTTPCookieStorage) -> [String] {
        CookieStore(storage).cookies(for: url).map(\.value)
    }

    /// A shared storage on Linux writes its whole file for each cookie.
    @Test func `a caller does not wait until many cookies are stored, and requests see them at once`() async throws {
        let (url, storage) = (try #require(url), try #require(storage))
        func store(_ value: String) {
            let fields = (0..<50).map { "a\($0)=\(value)" + ($0 < 20 ? "; Domain=h.example" : "") }
            let cookies = fields.compactMap { HTTPCookie($0, from: url, now: Date()) }
            CookieStore(storage).store(cookies, from: url, mainDocumentURL: nil, within: .zero)
        }
        CookieStore.queue.suspend()
        store("1")
        #expect(storage.cookies?.count == 1)
        #expect(sent(to: url, storage) == Array(repeating: "1", count: 50))
        store("2")
        #expect(storage.cookies?.count == 1)
        #expect(sent(to: url, storage) == Array(repeating: "2", count: 50))
        for (host, count) in [("w.h.example", 20), ("xh.example", 0), ("other.example", 0)] {
            let url = try #require(URL(string: "https://\(host)/a"))
            #expect(sent(to: url, storage) == Array(repeating: "2", count: count))
        }
        store("; Max-Age=0")
        #expect(sent(to: url, storage) == [])
        store("2")
        let policy = storage.cookieAcceptPolicy
        storage.cookieAcceptPolicy = .never
        store("3")
        #expect(sent(to: url, storage) == Array(repeating: "2", count: 50))
        storage.cookieAcceptPolicy = policy
        CookieStore.queue.resume()
        try await waitUntil { storage.cookies?.filter { $0.value == "2" }.count == 50 }
        #expect(sent(to: url, storage) == Array(repeating: "2", count: 50))
    }

    // Elsewhere, a storage gives new objects each time.
    #if canImport(FoundationNetworking)
    @Test(arguments: [
        ("a=1; Secure", "a=1; Secure", false), ("a=1", "a=2", true), ("a=1; Max-Age=60", "a=1; Max-Age=9000", true),
        ("a=1", "a=1; Secure", true), ("a=1", "a=1; HttpOnly", true),
    ])
    func `a cookie is stored again only if it has changed`(first: String, second: String, isStored: Bool) throws {
        let (url, storage) = (try #require(url), try #require(storage))
        var stored: [HTTPCookie?] = []
        for field in [first, second] {
            let cookie = try #require(HTTPCookie(field, from: url, now: Date()))
            CookieStore(storage).store([cookie], from: url, mainDocumentURL: nil)
            stored.append(storage.cookies?.first)
        }
        #expect(stored[0] != nil && (stored[1] !== stored[0]) == isStored)
    }
    #endif

    /// Foundation on Linux writes `Secure` as a boolean and reads only a string.
    @Test func `a cookie for https only remains one when the file of the storage is read`() throws {
        let (url, storage) = (try #require(url), try #require(storage))
        let cookie = try #require(HTTPCookie("a=1; Secure; HttpOnly; Max-Age=60", from: url, now: Date()))
        CookieStore(storage).store([cookie], from: url, mainDocumentURL: nil)
        let kept = try #require(storage.cookies?.first)
        #expect(kept.isSecure && kept.isHTTPOnly)
        var properties = try #require(kept.properties)
        properties[.secure] = kept.isSecure
        storage.setCookie(try #require(HTTPCookie(properties: properties)))
        #expect(sent(to: url, storage) == ["1"])
        #expect(sent(to: try #require(URL(string: "http://h.example/a")), storage) == [])
    }

    /// On a server, `URLSession.shared` would send the cookies of one user for the next.
    @Test func `a transport without a session does not use the shared storage`() async throws {
        let transport = Transport { request in
            var response = Transport.Response()
            let sent = request.complete(request.session.configuration).value(forHTTPHeaderField: "Cookie")
            response.headerFields[.setCookie] = "sid=\(sent ?? "none")"
            request.storeCookies(of: response)
            return response
        }
        let request = URLRequest.with(.init(host: "https://\(UUID().uuidString.lowercased()).example")) { _ in }
        for (configuration, sent) in [(URLSessionConfiguration.default, "none"), (.ofTests, "sid=none")] {
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            try await session.response(for: request, config: .silent) { $0.transport = transport }
            let response = try await session.response(for: request, config: .silent) { $0.transport = transport }
            #expect(response.headerFields[.setCookie] == "sid=\(sent)")
        }
        let url = try #require(request.url)
        #expect(HTTPCookieStorage.shared.cookies(for: url)?.isEmpty != false)
    }

    @Test(.enabled(if: TransportOfTests.isAsyncHTTPClient))
    func `the server transport does not use the shared storage`() async throws {
        try await FaultServer.serving(.cookie("sid=\(UUID().uuidString); Max-Age=60")) { server in
            for _ in 0..<2 { try await URLSession.shared.response(for: server.request(), config: .silent) }
            #expect(server.requests.map { $0.field("Cookie") } == [nil, nil])
            #expect(HTTPCookieStorage.shared.cookies?.contains { $0.name == "sid" } != true)
        }
    }
}
