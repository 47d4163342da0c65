import Testing
import URLConfigTesting

@testable import URLConfig

/// Servers, stores and callers that mean harm, or know no better.
@Suite(.inTime) struct HostileCacheTests {
    private let clock = TestClock()
    private let cache = HTTPCache.memory(megabytes: 10)
    private let seen = Recorder<URLRequest>()
    private let request = URLRequest.with { $0.url = URL(string: "https://api.test/a") }

    private func reply(_ text: String, _ control: String, status: Int = 200) -> Transport.Response {
        .init(
            status: .init(code: status), headerFields: [.cacheControl: control, .eTag: "\"1\""],
            body: .init(Data(text.utf8)))
    }

    /// - Parameter respond: The response to the n-th request.
    @discardableResult
    private func get(
        _ request: URLRequest? = nil, _ change: (inout URLSession.Config) -> Void = { _ in },
        _ respond: @escaping @Sendable (Int) async throws -> Transport.Response
    ) async throws -> DataResponse {
        try await URLSession.shared.response(for: request ?? self.request, config: .silent) {
            ($0.cache, $0.clock) = (cache, clock)
            $0.transport = Transport { try await respond(seen.note($0.urlRequest)) }
            change(&$0)
        }
    }

    // MARK: Who asks

    @Test(arguments: [401, 419]) func `a stored refusal is not the response to new credentials`(status: Int)
        async throws
    {
        let authenticator = TokenAuthenticator("old") { _ in "new" }
        let response = try await get(nil) {
            $0.authenticator = authenticator
            $0.isUnauthorized = { $0.status.code == status }
        } _: { [self] _ in
            let isOld = seen.entries.last?.value(forHTTPHeaderField: "Authorization") == "Bearer old"
            return reply("x", "max-age=60", status: isOld ? status : 200)
        }
        #expect(response.status == .ok)
        #expect(seen.count == 2)
    }

    @Test func `a request that no cache should answer says so with new credentials, too`() async throws {
        let authenticator = TokenAuthenticator("one") { _ in "two" }
        var request = request
        request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
        let response = try await get(request) {
            $0.authenticator = authenticator
        } _: { [self] _ in
            let isOld = seen.entries.last?.value(forHTTPHeaderField: "Authorization") == "Bearer one"
            return reply("x", "max-age=60", status: isOld ? 401 : 200)
        }
        #expect(response.status == .ok)
        #expect(seen.entries.map { $0.field("Authorization") } == ["Bearer one", "Bearer two"])
        #expect(seen.entries.map { $0.field("Cache-Control") } == ["no-cache", "no-cache"])
    }

    @Test func `a sign-out removes what was stored with all cookies, also what arrives later`() async throws {
        let (authenticator, gate, store) = (TokenAuthenticator("token") { _ in nil }, Gate(), AppStore())
        func get(cookie: Int, _ gate: Gate? = nil) async throws {
            var request = request
            request.setValue("id=\(cookie)", forHTTPHeaderField: "Cookie")
            try await self.get(request) {
                ($0.authenticator, $0.cache) = (authenticator, HTTPCache(store: store))
            } _: { [self] _ in
                await gate?.pass()
                return reply("x", "max-age=60")
            }
        }
        for cookie in 0..<3 { try await get(cookie: cookie) }
        let late = Task { try await get(cookie: 3, gate) }
        await gate.waitForArrivals()
        await authenticator.setToken(nil)
        gate.open()
        try await late.valueInTime
        #expect(store.keys.count == 4)
        try await waitUntil { store.keys.entries.allSatisfy { store.store.responses(for: $0).isEmpty } }
    }

    @Test func `a transport that may pass requests on to the session sends the cookies of all sessions`() async throws {
        var request = request
        request.url = URL(string: "https://hostile.test/a")
        let storage = HTTPCookieStorage.shared
        defer { storage.cookies?.filter { $0.domain == "hostile.test" }.forEach(storage.deleteCookie) }
        for person in ["Ada", "Bob"] {
            let cookie = HTTPCookie(properties: [.name: "id", .value: person, .domain: "hostile.test", .path: "/"])
            storage.setCookie(try #require(cookie))
            let response = try await get(request) { [self] _ in reply(person, "max-age=60") }
            #expect(try response.text() == person)
        }
    }

    @Test func `requests whose cookies are stored and others are not one transfer`() async throws {
        let gate = Gate()
        let transport = Transport { [seen] in
            seen.note($0.urlRequest)
            await gate.pass()
            return .init()
        }
        let calls = [true, false].map { handles in
            var request = request
            (request.url, request.httpShouldHandleCookies) = (URL(string: "https://api.test/cookies"), handles)
            return Task { [request] in
                try await URLSession.shared.response(for: request, config: .silent) {
                    ($0.coalesces, $0.transport) = (true, transport)
                }
            }
        }
        try await waitUntil { SharedTransfer.waiters(for: URL(string: "https://api.test/cookies")) == 2 }
        await gate.waitForArrivals(2)
        gate.open()
        for call in calls { _ = try await call.valueInTime }
        #expect(seen.count == 2)
    }

    // MARK: What is stored

    @Test func `a response whose validation says Vary * does not match again`() async throws {
        for _ in 0..<3 {
            try await get { [self] count in
                if count == 1 { return reply("x", "no-cache") }
                let fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "*", .eTag: "\"1\""]
                return count == 2
                    ? .init(status: .notModified, headerFields: fields) : .init(headerFields: fields)
            }
        }
        #expect(seen.count == 3)
    }

    /// The length of the body.
    @Test(arguments: [4, 5, 6, 7])
    func `a body with two lengths is passed on, and not stored`(count: Int) async throws {
        let respond = { @Sendable (number: Int) async throws -> Transport.Response in
            var response = Transport.Response(
                headerFields: [.cacheControl: "max-age=60"], body: .init(Data(repeating: UInt8(number), count: count)))
            for length in ["5", "6"] { response.headerFields.append(HTTPField(name: .contentLength, value: length)) }
            return response
        }
        for _ in 0..<2 {
            let response = try await get(nil, { _ in }, respond)
            #expect(!response.fromCache)
            #expect(response.data == Data(repeating: UInt8(seen.count), count: count))
            #expect(response.headerFields[values: .contentLength] == ["5", "6"])
        }
    }

    @Test func `of what servers refuse, not more than a thousand requests are remembered`() {
        let core = cache.core
        for number in 0..<10_000 { core.note(.test(number), isRefused: true) }
        let known = (0..<10_000).filter { core.isRefused(.test($0)) }
        #expect(known.count <= 1000)
        #expect(known.last == 9_999)
    }

    @Test(arguments: [Int.min, -1, 0]) func `a cache of no size stores nothing`(megabytes: Int) async throws {
        for _ in 0..<2 {
            try await get(nil, { $0.cache = .memory(megabytes: megabytes) }, { [self] _ in reply("x", "max-age=60") })
        }
        #expect(seen.count == 2)
    }

    // MARK: What is stored

    @Test(arguments: [true, false])
    func `what the store has no room for removes what it would have replaced`(isMemory: Bool) async throws {
        let directory = TemporaryDirectory()
        let cache = isMemory ? HTTPCache.memory(megabytes: 1) : .disk(megabytes: 1, in: directory.url)
        let response = { @Sendable (number: Int) async throws -> Transport.Response in
            // Alone, the body and the field would fit.
            let isLarge = number == 2
            let field = String(repeating: "x", count: isLarge && !isMemory ? 70_000 : 1)
            let body = Data(repeating: UInt8(number), count: isLarge && isMemory ? 499_900 : 1)
            return .init(headerFields: [.cacheControl: "max-age=60", .server: field], body: .init(body))
        }
        for number in 1...3 {
            var request = request
            if number == 2 { request.cachePolicy = .reloadIgnoringLocalCacheData }
            let found = try await get(request, { $0.cache = cache }, response)
            #expect(found.data.first == UInt8(number))
        }
    }

    @Test(arguments: [503, 429]) func `an old failure is not used although old responses are wanted`(status: Int)
        async throws
    {
        var request = request
        request.cachePolicy = .returnCacheDataElseLoad
        try await get(request) { [self] _ in reply("x", "max-age=5", status: status) }
        await clock.advance(by: .seconds(86_400))
        let response = try await get(request) { [self] _ in reply("new", "max-age=5") }
        #expect(try response.text() == "new")
    }

    @Test(arguments: ["no-store", "no-cache"]) func `a directive of the session counts`(directive: String) async throws
    {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Cache-Control": directive]
        let session = URLSession(configuration: configuration)
        try await get { [self] _ in reply("other", "max-age=60") }
        let response = try await session.response(for: request, config: .silent) {
            ($0.cache, $0.clock) = (cache, clock)
            $0.transport = Transport { [self] _ in reply("new", "max-age=60") }
        }
        #expect(try response.text() == "new")
        #expect(response.cacheStatus?.isStored == (directive == "no-cache"))
        // It says nothing of what another session has stored.
        let stored = try await get { [self] _ in reply("newer", "max-age=60") }
        #expect(try stored.text() == (directive == "no-cache" ? "new" : "other"))
    }

    @Test func `a field of the session is sent, and none of the cache in its place`() async throws {
        let sent = Recorder<URLRequest>()
        for fields in [["Cache-Control": "no-store"], ["Accept-Encoding": "br"]] {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = fields
            let session = URLSession(configuration: configuration)
            var request = request
            request.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
            _ = try await session.response(for: request, config: .silent) {
                $0.cache = cache
                $0.transport = Transport { [self] in
                    sent.note($0.complete(configuration))
                    return reply("new", "max-age=60")
                }
            }
            #expect(sent.entries.last?.allHTTPHeaderFields?.contains { fields[$0.key] == $0.value } == true)
        }
        #expect(sent.entries.map { $0.field("Cache-Control") } == ["no-store", "no-cache"])
    }

    @Test func `without a cache, a request for a stored response only is not sent`() async throws {
        let directory = TemporaryDirectory()
        try await FaultServer.serving(.ok("{}")) { server in
            var request = server.request()
            request.cachePolicy = .returnCacheDataDontLoad
            let download = await Result { [request] in
                let file = directory.url.appending(path: "file")
                _ = try await server.session.download(for: request, to: file, config: .silent) { $0.cache = cache }
            }
            let response = await Result { [request] in
                _ = try await server.session.response(for: request, config: .silent) { $0.cache = nil }
            }
            for result in [download, response] {
                let error = #expect(throws: URLError.self) { try result.get() }
                #expect(error?.code == .resourceUnavailable)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `an error of the transport is not taken for a damaged response`() async throws {
        await #expect(throws: URLError.self) {
            try await get { _ in throw URLError(.cannotOpenFile) }
        }
        #expect(seen.count == 1)
    }

    // MARK: Instead of a failure

    /// What the second request brings, and what a validator says about the response.
    @Test(arguments: ["reload", "refused", "pragma"])
    func `a stale response is used only instead of a failure, if the request accepts it`(reason: String) async throws {
        var request = request
        try await get { [self] _ in reply("old", reason == "reload" ? "max-age=60" : "max-age=10") }
        await clock.advance(by: .seconds(20))
        if reason == "reload" { request.cachePolicy = .reloadIgnoringLocalCacheData }
        if reason == "pragma" { request.setValue("no-cache", forHTTPHeaderField: "Pragma") }
        let status = reason == "refused" ? 403 : 503
        let result = await Result { [request] in
            try await get(request) {
                $0.cache?.staleIfError = .seconds(100)
                if reason == "refused" {
                    $0.validators = [.init { if $0.status == .forbidden { throw URLError(.noPermissionsToReadFile) } }]
                }
            } _: { [self] _ in
                reply("new", "x", status: status)
            }
        }
        if reason == "refused" {
            #expect(throws: URLError.self) { try result.get() }
        } else {
            let response = try result.get()
            #expect(response.cacheStatus?.detail != "stale-if-error")
            #expect(try response.text() == "new")
        }
    }

    @Test func `a validator that does not return holds up no call that has a stale response`() async throws {
        try await get { [self] _ in reply("old", "max-age=10") }
        await clock.advance(by: .seconds(20))
        let gate = Gate()
        let call = Task {
            try await get(nil) {
                $0.deadline = .seconds(1)
                $0.cache?.staleIfError = .seconds(100)
                $0.validators = [.init { _ in await gate.pass() }]
            } _: { _ in
                throw URLError(.cannotConnectToHost)
            }
        }
        await gate.waitForArrivals()
        for _ in 0..<3 { await clock.advance(by: .seconds(1)) }
        await #expect(throws: (any Error).self) { try await call.valueInTime }
        gate.open()
    }

    /// A store whose bodies never come.
    private struct SilentBodies: CacheStore {
        let store = MemoryStore(capacity: 1_000_000)
        let gate: Gate

        func salt() -> Data { store.salt() }
        func responses(for key: CacheKey) -> [StoredResponse] {
            store.responses(for: key).map { stored in
                StoredResponse(head: stored.head, id: stored.id) { [gate] in
                    ResponseBody(
                        AsyncStream<Data>(unfolding: {
                            await gate.pass()
                            return nil
                        }))
                }
            }
        }
        func writer(for head: StoredResponse.Head, key: CacheKey) -> (any CacheWriter)? {
            store.writer(for: head, key: key)
        }
        func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) {}
        func remove(_ responses: CacheSelection?) { store.remove(responses) }
    }

    @Test(arguments: [true, false]) func `a stale body that does not come holds up no call`(isLost: Bool) async throws {
        let gate = Gate()
        let cache = HTTPCache(store: SilentBodies(gate: gate))
        try await get(nil, { $0.cache = cache }, { [self] _ in reply("old", "max-age=10") })
        await clock.advance(by: .seconds(20))
        let call = Task {
            try await get(nil) {
                ($0.cache, $0.deadline) = (cache, .seconds(1))
                $0.cache?.staleIfError = .seconds(100)
            } _: { _ in
                if isLost { throw URLError(.cannotConnectToHost) }
                return .init(status: .serviceUnavailable)
            }
        }
        await gate.waitForArrivals()
        // The second limit begins some time after the first one has passed.
        let mover = Task { [clock] in
            while !Task.isCancelled {
                await clock.advance(by: .seconds(1))
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        defer { mover.cancel() }
        await #expect(throws: (any Error).self) { try await call.valueInTime }
        gate.open()
    }

    @Test func `a store that does not return holds up no unsafe request`() async throws {
        let gate = Gate()
        let store = AppStore { if $0 == "salt" { await gate.pass() } }
        var request = request
        request.httpMethod = "DELETE"
        let call = Task { [request] in
            let cache = HTTPCache(store: store)
            return try await get(request, { ($0.cache, $0.deadline) = (cache, .seconds(1)) }, { _ in .init() })
        }
        await gate.waitForArrivals()
        await clock.advance(by: .seconds(1))
        await expectError(.deadlineExceeded) { try await call.valueInTime }
        gate.open()
    }

    // MARK: Only what is stored

    /// Why the cache cannot be used.
    @Test(
        arguments: ["store", "Range", "If-None-Match", "Cache-Control", "method", "nothing is stored"], [true, false])
    func `who wants only a stored response sends nothing, even if the cache cannot be used`(
        obstacle: String, isField: Bool
    ) async throws {
        let directory = TemporaryDirectory()
        // No folder can be made in a file.
        let broken = HTTPCache.disk(megabytes: 1, in: try directory.file("file").appending(path: "folder"))
        var request = request
        if isField {
            request.setValue("only-if-cached", forHTTPHeaderField: "Cache-Control")
        } else {
            request.cachePolicy = .returnCacheDataDontLoad
        }
        switch obstacle {
        case "Cache-Control": request.setValue("only-if-cached, no-store", forHTTPHeaderField: "Cache-Control")
        case "Range", "If-None-Match": request.setValue("x", forHTTPHeaderField: obstacle)
        case "method": request.httpMethod = "POST"
        default: break
        }
        let result = await Result { [request] in
            try await get(request, { if obstacle == "store" { $0.cache = broken } }, { _ in .init() })
        }
        #expect(seen.count == 0)
        if isField {
            #expect(try result.get().status == .gatewayTimeout)
            #expect(try result.get().cacheStatus?.detail?.contains("only-if-cached") == true)
        } else {
            let error = #expect(throws: URLError.self) { try result.get() }
            #expect(error?.code == .resourceUnavailable)
        }
    }

    // MARK: Stubs

    @Test func `in the scope of stubs, the functions of a cache are about the responses of the stubs`() async throws {
        try await HTTPStubs.with {
            $0.get("/*") { _ in
                var response = HTTPStubs.Response.text("x")
                response.headerFields[.cacheControl] = "max-age=60"
                return response
            }
        } operation: {
            func get() async throws -> Bool {
                try await URLSession.shared.response(for: request, config: .silent) { $0.cache = cache }.fromCache
            }
            #expect(try await [get(), get()] == [false, true])
            try await cache.removeAll()
            #expect(try await [get(), get()] == [false, true])
            // Each cache has its own place, also where the memory of an earlier one is used again.
            for _ in 0..<100 {
                let response = try await URLSession.shared.response(for: request, config: .silent) {
                    $0.cache = .memory(megabytes: 1)
                }
                #expect(!response.fromCache)
            }
        }
    }
}
