import Testing
import URLConfigTesting

@testable import URLConfig

/// What a hostile reader of the cache has found: each of these tests failed once.
@Suite(.inTime) struct CacheCallFaultTests {
    private typealias Respond = @Sendable (URLRequest) async throws -> Transport.Response

    private static let reload = URLRequest.CachePolicy.reloadIgnoringLocalCacheData

    private static func request(_ path: String = "/a", _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy)
        -> URLRequest
    {
        URLRequest(url: URL(string: "https://api.test\(path)")!, cachePolicy: policy)
    }

    private static func reply(
        _ text: String, _ control: String = "max-age=600", _ status: Int = 200, _ more: HTTPFields = [:]
    ) -> Transport.Response {
        var fields = more
        fields[.cacheControl] = control
        return .init(status: .init(code: status), headerFields: fields, body: .init(Data(text.utf8)))
    }

    @discardableResult
    private func get(
        _ cache: HTTPCache?, _ clock: any Clock<Duration> = TestClock(), _ request: URLRequest = Self.request(),
        as authenticator: (any Authenticator)? = nil, _ change: (inout URLSession.Config) -> Void = { _ in },
        _ respond: @escaping Respond
    ) async throws -> DataResponse {
        try await URLSession.shared.response(for: request, config: .silent) {
            ($0.cache, $0.clock, $0.authenticator) = (cache, clock, authenticator)
            $0.transport = Transport { try await respond($0.urlRequest) }
            change(&$0)
        }
    }

    // MARK: Stale responses

    @Test(arguments: [301, 302, 307, 308]) func `a stale redirect is no response to a failure`(status: Int) async throws
    {
        let (clock, cache, lost) = (TestClock(), HTTPCache.memory(megabytes: 1), Locked(false))
        func go() async throws -> DataResponse {
            try await get(cache, clock) { request in
                if request.url?.path() == "/b" { return Self.reply("b") }
                if lost.withLock(\.self) { throw URLError(.cannotConnectToHost) }
                return Self.reply("moved", "max-age=10, stale-if-error=1000", status, [.location: "/b"])
            }
        }
        #expect(try await go().bodyString == "b")
        clock.move(by: .seconds(20))
        lost.set(\.self, true)
        await expectError(.cannotConnectToHost) { try await go() }
    }

    @Test func `a stored redirect is no response if the credentials cannot be renewed`() async throws {
        let (clock, cache) = (TestClock(), HTTPCache.memory(megabytes: 1))
        let expiry = clock.date + 15
        let authenticator = await TokenAuthenticator(
            leeway: .zero, now: { clock.date }, load: { .init("one", expiry: expiry) },
            refresh: { _ in throw URLError(.notConnectedToInternet) })
        func go() async throws -> DataResponse {
            try await get(cache, clock, as: authenticator) {
                $0.url?.path() == "/b" ? Self.reply("b") : Self.reply("moved", "max-age=600", 301, [.location: "/b"])
            }
        }
        #expect(try await go().bodyString == "b")
        clock.move(by: .seconds(20))
        await #expect(throws: URLError.self) { try await go() }
    }

    @Test func `a stale refusal of credentials is no response to a failure`() async throws {
        let (clock, cache, lost) = (TestClock(), HTTPCache.memory(megabytes: 1), Locked(false))
        func go() async throws {
            try await get(cache, clock) {
                $0.isUnauthorized = { $0.status == .forbidden }
                $0.onUnauthorized = { _ in }
            } _: { _ in
                if lost.withLock(\.self) { throw URLError(.cannotConnectToHost) }
                return Self.reply("no", "max-age=10, stale-if-error=1000", 403)
            }
        }
        await expectError(.unauthorized) { try await go() }
        clock.move(by: .seconds(20))
        lost.set(\.self, true)
        await #expect(throws: URLError.self) { try await go() }
    }

    // MARK: Stores that block

    /// A removal waits until the test says so, or for 20 seconds if the test cannot say anything.
    private struct BlockingStore: CacheStore {
        let store = MemoryStore(capacity: 1_000_000)
        let mayEnd = DispatchSemaphore(value: 0)
        let begun = Locked(0)
        let late = Locked(0)

        func salt() -> Data { store.salt() }
        func responses(for key: CacheKey) -> [StoredResponse] { store.responses(for: key) }
        func writer(for head: StoredResponse.Head, key: CacheKey) -> (any CacheWriter)? {
            store.writer(for: head, key: key)
        }
        func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) {}
        func remove(_ responses: CacheSelection?) {
            begun.withLock { $0 += 1 }
            if mayEnd.wait(timeout: .now() + 20) == .timedOut { late.withLock { $0 += 1 } }
            store.remove(responses)
        }
    }

    @Test func `a store whose removal blocks holds up no other task`() async throws {
        let (store, count) = (BlockingStore(), 4)
        let cache = HTTPCache(store: store)
        let calls = (0..<count).map { number in
            Task {
                var request = Self.request("/\(number)")
                request.httpMethod = "POST"
                try await get(cache, TestClock(), request) { _ in Self.reply("x") }
            }
        }
        try await waitUntil { store.begun.withLock(\.self) == count }
        for _ in calls { store.mayEnd.signal() }
        for call in calls { try await call.value }
        #expect(store.late.withLock(\.self) == 0)
    }

    @Test func `what is stored for a user is removed one after the other, by nobody who waits`() async throws {
        let (store, authenticator) = (BlockingStore(), TokenAuthenticator("one") { _ in "two" })
        let cache = HTTPCache(store: store)
        for number in 0..<3 {
            var request = Self.request()
            request.setValue("id=\(number)", forHTTPHeaderField: "Cookie")
            try await get(cache, TestClock(), request, as: authenticator) { _ in Self.reply("x") }
        }
        await authenticator.setToken(nil)
        for number in 1...3 {
            try await waitUntil { store.begun.withLock(\.self) == number }
            store.mayEnd.signal()
        }
        #expect(store.late.withLock(\.self) == 0)
    }

    @Test func `a login does not keep a cache in memory, but what another has stored is removed`() async throws {
        let authenticator = TokenAuthenticator("one") { _ in "two" }
        weak var core: HTTPCache.Core?
        do {
            let cache = HTTPCache.memory(megabytes: 1)
            core = cache.core
            try await get(cache, as: authenticator) { _ in Self.reply("x") }
        }
        try await waitUntil { core == nil }
        let removals = Recorder<Void>()
        do {
            let cache = HTTPCache(store: AppStore { if $0 == "remove" { removals.note(()) } })
            try await get(cache, as: authenticator) { _ in Self.reply("y") }
        }
        await authenticator.setToken(nil)
        try await waitUntil { removals.count == 1 }
    }

    // MARK: Stores that are slow or fail

    @Test(arguments: ["max-age=60", "no-store"])
    func `a response that a slow store keeps late does not replace a later one`(control: String) async throws {
        let (gate, finishes) = (Gate(), Recorder<Void>())
        let cache = HTTPCache(store: AppStore { if $0 == "finish", finishes.note(()) == 1 { await gate.pass() } })
        let clock = TestClock()
        let slow = Task { try await get(cache, clock) { _ in Self.reply("old") } }
        await gate.waitForArrivals()
        clock.move(by: .seconds(1))
        try await get(cache, clock, Self.request("/a", Self.reload)) { _ in Self.reply("new", control) }
        gate.open()
        #expect(try await slow.value.cacheStatus?.isStored == false)
        #expect(try await get(cache, clock) { _ in Self.reply("asked") }.bodyString != "old")
    }

    @Test(arguments: [("writer", 410), ("writer", 200), ("finish", 410)])
    func `what is gone is removed although the store cannot write`(step: String, status: Int) async throws {
        let fails = Locked(false)
        let cache = HTTPCache(
            store: AppStore { if fails.withLock(\.self), $0 == step { throw URLError(.cannotWriteToFile) } })
        try await get(cache) { _ in Self.reply("old") }
        fails.set(\.self, true)
        try await get(cache, TestClock(), Self.request("/a", Self.reload)) { _ in Self.reply("gone", "no-store", status)
        }
        #expect(try await get(cache) { _ in Self.reply("asked") }.bodyString == "asked")
    }

    @Test(arguments: [false, true])
    func `a response that is too long ends the one before, and no other`(isOnDisk: Bool) async throws {
        let directory = TemporaryDirectory()
        let cache = isOnDisk ? HTTPCache.disk(megabytes: 1, in: directory.url) : .memory(megabytes: 1)
        let vary: HTTPFields = [.vary: "Accept-Language"]
        func get(_ language: String, _ policy: URLRequest.CachePolicy, _ text: String) async throws -> String {
            var request = Self.request("/a", policy)
            request.setValue(language, forHTTPHeaderField: "Accept-Language")
            let response = try await self.get(cache, TestClock(), request) { _ in
                Self.reply(text, "max-age=600", 200, vary)
            }
            return response.bodyString
        }
        for language in ["en", "de"] { _ = try await get(language, .useProtocolCachePolicy, "old") }
        _ = try await get("en", Self.reload, String(repeating: "n", count: 600_000))
        #expect(try await get("en", .useProtocolCachePolicy, "asked") == "asked")
        #expect(try await get("de", .useProtocolCachePolicy, "asked") == "old")
    }

    @Test(arguments: [1e300, -1e300, 1e16]) func `a head with a number that no date has is a miss`(lifetime: Double)
        async throws
    {
        let store = AppStore()
        let cache = HTTPCache(store: ChangingStore(store: store) { $0.lifetime = lifetime })
        try await get(cache) { _ in Self.reply("old") }
        #expect(try await get(cache) { _ in Self.reply("asked") }.bodyString == "asked")
    }

    /// Returns other heads than it was given.
    private struct ChangingStore: CacheStore {
        let store: AppStore
        let change: @Sendable (inout StoredResponse.Head) -> Void

        func salt() async throws -> Data { try await store.salt() }
        func responses(for key: CacheKey) async throws -> [StoredResponse] {
            try await store.responses(for: key).map { stored in
                var head = stored.head
                change(&head)
                return StoredResponse(head: head, id: stored.id, body: stored.body)
            }
        }
        func writer(for head: StoredResponse.Head, key: CacheKey) async throws -> (any CacheWriter)? {
            try await store.writer(for: head, key: key)
        }
        func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) {}
        func remove(_ responses: CacheSelection?) async throws { try await store.remove(responses) }
    }

    // MARK: Clocks that go back

    @Test func `responses of a clock that was ahead are replaced by new ones`() async throws {
        let (cache, later, clock) = (HTTPCache.memory(megabytes: 1), TestClock(), TestClock())
        later.move(by: .seconds(3600))
        try await get(cache, later) { _ in Self.reply("old") }
        try await get(cache, clock) { _ in Self.reply("new", "max-age=600", 200, [.vary: "Accept-Language"]) }
        clock.move(by: .seconds(300))
        #expect(try await get(cache, clock) { _ in Self.reply("asked") }.bodyString == "new")
        clock.move(by: .seconds(3310))
        #expect(try await get(cache, clock) { _ in Self.reply("asked") }.bodyString == "asked")
    }

    @Test func `a response of a clock that was ahead is stale in its status as well`() async throws {
        let (cache, later) = (HTTPCache.memory(megabytes: 1), TestClock())
        later.move(by: .seconds(100))
        try await get(cache, later) { _ in Self.reply("old") }
        let response = try await get(cache, TestClock(), Self.request("/a", .returnCacheDataElseLoad)) { _ in
            Self.reply("asked")
        }
        #expect(response.bodyString == "old")
        #expect(try #require(response.cacheStatus?.timeToLive) < .zero)
        #expect(response.cacheStatus?.age == .seconds(CacheControl.longest))
    }

    // MARK: Status

    @Test func `a transfer is shared although the store fails, and the status says so`() async throws {
        let (gate, request, seen) = (Gate(), Self.request("/\(UUID())"), Recorder<Void>())
        let cache = HTTPCache(store: AppStore { if $0 == "salt" { throw URLError(.cannotOpenFile) } })
        let transport = Transport { _ in
            seen.note(())
            await gate.pass()
            return Self.reply("x")
        }
        let calls = (0..<3).map { _ in
            Task {
                try await URLSession.shared.response(for: request, config: .silent) {
                    ($0.cache, $0.coalesces, $0.transport) = (cache, true, transport)
                }
            }
        }
        try await waitUntil { SharedTransfer.waiters(for: request.url) == 3 }
        gate.open()
        var collapsed = 0
        for call in calls where try await call.value.cacheStatus?.isCollapsed == true { collapsed += 1 }
        #expect(seen.count == 1)
        #expect(collapsed == 2)
    }
}
