import FlyingFox
import Testing
import URLConfigTesting

@testable import URLConfig

/// The cache over real connections, on every transport.
@Suite(.inTime) struct CacheTransportTests {
    private let cache = HTTPCache.memory(megabytes: 20)

    /// A server with one document, whose version may change.
    private func serving(
        _ control: String, _ body: (Loopback) async throws -> Void
    ) async throws {
        let handler: @Sendable (Loopback.Request) async throws -> Loopback.Response = { request in
            if request.headers[HTTPHeader("If-None-Match")] == "\"1\"" {
                return .status(.notModified).with(["ETag": "\"1\"", "X-Version": "2"])
            }
            return .status(.ok, String(repeating: "a", count: 100_000))
                .with(["Cache-Control": control, "ETag": "\"1\"", "X-Version": "1"])
        }
        try await Loopback.serving(handler, body)
    }

    private func get(_ server: Loopback, _ path: URLRequest.Path = "/a") async throws -> DataResponse {
        try await server.get(path) { $0.cache = cache }
    }

    @Test func `a fresh response needs no server, for GET and HEAD, and a POST removes it`() async throws {
        try await serving("max-age=60") { server in
            let first = try await get(server)
            let second = try await get(server)
            #expect(second.fromCache)
            #expect(second.data == first.data)
            #expect(second.headerFields[.eTag] == "\"1\"")
            let head = try await server.response(for: server.request("/a") { $0.method = .head }) { $0.cache = cache }
            #expect(head.fromCache)
            #expect(head.data.isEmpty)
            #expect(server.requests.count == 1)
            try await server.response(for: server.request("/a") { $0.method = .post }) { $0.cache = cache }
            let third = try await get(server)
            #expect(!third.fromCache)
            #expect(server.requests.count == 3)
        }
    }

    @Test func `a stale response is validated, and its fields are new`() async throws {
        try await serving("no-cache") { server in
            let first = try await get(server)
            let second = try await get(server)
            #expect(second.status == .ok)
            #expect(second.data == first.data)
            #expect(!first.fromCache && second.fromCache)
            #expect(second.cacheStatus?.forwardStatus == .notModified)
            #expect(second.headerFields.contains { $0.name.rawName == "X-Version" && $0.value == "2" })
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a stream is stored and read from the disk`() async throws {
        let directory = TemporaryDirectory()
        let cache = HTTPCache.disk(megabytes: 20, in: directory.url)
        try await serving("max-age=60") { server in
            for isHit in [false, true] {
                let stream = try await server.session.stream(for: server.request("/a"), config: .silent) {
                    $0.cache = cache
                }
                #expect(stream.head.fromCache == isHit)
                let whole = try await stream.collect(upTo: .max)
                #expect(whole.data.count == 100_000)
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `downloads neither use nor fill the cache`() async throws {
        let directory = TemporaryDirectory()
        try await serving("max-age=60") { server in
            for name in ["1", "2"] {
                let target = directory.url.appending(path: name)
                try await server.session.download(for: server.request("/a"), to: target, config: .silent) {
                    $0.cache = cache
                }
            }
            let response = try await get(server)
            #expect(!response.fromCache)
            #expect(server.requests.count == 3)
        }
    }

    @Test(arguments: ["Authorization", "Cookie", "X-API-Key", "X-User-ID", "X-Tenant"])
    func `two users of one server have their own responses`(field: String) async throws {
        let handler: @Sendable (Loopback.Request) async throws -> Loopback.Response = { request in
            .status(.ok, request.headers[HTTPHeader(field)] ?? "").with(["Cache-Control": "max-age=60"])
        }
        try await Loopback.serving(handler) { server in
            for _ in 0..<2 {
                for user in ["u=ada", "u=bob"] {
                    var request = server.request("/me")
                    request.setValue(user, forHTTPHeaderField: field)
                    let response = try await server.response(for: request) { $0.cache = cache }
                    #expect(try response.text() == user)
                }
            }
            #expect(server.requests.count == 2)
        }
    }

    @Test func `two sessions with cookies of their own have responses of their own`() async throws {
        let handler: @Sendable (Loopback.Request) async throws -> Loopback.Response = { request in
            .status(.ok, request.headers[HTTPHeader("Cookie")] ?? "").with(["Cache-Control": "max-age=60"])
        }
        try await Loopback.serving(handler) { server in
            var sessions: [(person: String, session: URLSession)] = []
            defer { for (_, session) in sessions { session.finishTasksAndInvalidate() } }
            for person in ["ada", "bob"] {
                let configuration = URLSessionConfiguration.ofTests
                let cookie = HTTPCookie(properties: [.name: "id", .value: person, .domain: "127.0.0.1", .path: "/"])
                configuration.httpCookieStorage?.setCookie(try #require(cookie))
                sessions.append((person, URLSession(configuration: configuration)))
            }
            for isStored in [false, true] {
                for (person, session) in sessions {
                    let response = try await session.response(for: server.request("/me"), config: .silent) {
                        $0.cache = cache
                    }
                    #expect(try response.text() == "id=\(person)")
                    #expect(response.fromCache == isStored)
                }
            }
            #expect(server.requests.count == 2)
        }
    }

    @Test func `without a cache, a hundred equal calls are one request`() async throws {
        let gate = Gate()
        let handler: @Sendable (Loopback.Request) async throws -> Loopback.Response = { _ in
            await gate.pass()
            return .status(.ok, "a")
        }
        try await Loopback.serving(handler) { server in
            let url = server.request("/a").url
            let calls = (0..<100).map { _ in Task { try await server.get("/a") { $0.coalesces = true } } }
            try await waitUntil { SharedTransfer.waiters(for: url) == 100 }
            gate.open()
            for call in calls { #expect(try await call.valueInTime.text() == "a") }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `if the last of a hundred equal calls is cancelled, the connection ends`() async throws {
        let ended = Recorder<Void>()
        let fault = FaultServer.Fault.reading { connection in
            defer { ended.note(()) }
            try connection.waitForEnd()
        }
        try await FaultServer.serving(fault) { server in
            let url = server.request("/a").url
            let calls = (0..<100).map { _ in Task { try await server.get("/a") { $0.coalesces = true } } }
            try await waitUntil { SharedTransfer.waiters(for: url) == 100 && server.requests.count == 1 }
            for call in calls.dropLast() { await call.expectCancelled() }
            #expect(ended.count == 0)
            await calls[99].expectCancelled()
            try await waitUntil("the end of the connection") { ended.count == 1 }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a redirect is stored for its hop`() async throws {
        let handler: @Sendable (Loopback.Request) async throws -> Loopback.Response = { request in
            request.path == "/a"
                ? .redirect(.movedPermanently, to: "/b").with(["Cache-Control": "max-age=60"])
                : .status(.ok, "b").with(["Cache-Control": "no-store"])
        }
        try await Loopback.serving(handler) { server in
            for _ in 0..<2 {
                let response = try await get(server)
                #expect(try response.text() == "b")
            }
            #expect(server.requests.map(\.path) == ["/a", "/b", "/b"])
        }
    }

    /// Foundation on Linux does not tell whether an encoded body is whole.
    @Test(.urlSessionOnly) func `an encoded response is not stored where it could be cut`() async throws {
        try await Loopback.serving(
            .status(.ok, "a").with(["Cache-Control": "max-age=60", "Content-Encoding": "identity, gzip"])
        ) { server in
            _ = try? await get(server)
            _ = try? await get(server)
            #expect(server.requests.count == 2)
            #if canImport(FoundationNetworking)
            #expect(server.requests.first?.headers[HTTPHeader("Accept-Encoding")] == "identity")
            #endif
        }
    }
}
