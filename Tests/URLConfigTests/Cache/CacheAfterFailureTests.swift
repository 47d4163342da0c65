import Testing
import URLConfigTesting

@testable import URLConfig

/// What a store or a sign-out could not remove at once is not used, and does not stay.
@Suite(.inTime) struct CacheAfterFailureTests {
    private let request = URLRequest.with { $0.url = URL(string: "https://api.test/me") }

    private func send(
        _ cache: HTTPCache, _ request: URLRequest? = nil, text: String = "new",
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await URLSession.shared.response(for: request ?? self.request, config: .silent) {
            $0.cache = cache
            $0.transport = Transport { _ in
                .init(headerFields: [.cacheControl: "max-age=600"], body: .init(Data(text.utf8)))
            }
            configure(&$0)
        }
    }

    @Test func `what a store could not remove is not used, and is removed later`() async throws {
        let fails = Locked(false)
        let store = AppStore { if $0 == "remove", fails.withLock(\.self) { throw URLError(.cannotRemoveFile) } }
        let cache = HTTPCache(store: store)
        _ = try await send(cache, text: "old")
        #expect(try await send(cache).text() == "old")
        fails.set(\.self, true)
        var put = request
        put.httpMethod = "PUT"
        _ = try await send(cache, put)
        #expect(try await send(cache).text() == "new")
        #expect(try await send(cache, text: "newer").text() == "newer")
        fails.set(\.self, false)
        // Now it is removed, and the next response is stored again.
        #expect(try await send(cache, text: "newest").text() == "newest")
        #expect(try await send(cache, text: "other").text() == "newest")
    }

    @Test func `while a store removes a response, it is not used, however long that takes`() async throws {
        let gate = Gate()
        let cache = HTTPCache(store: AppStore { if $0 == "remove" { await gate.pass() } })
        _ = try await send(cache, text: "old")
        var put = request
        put.httpMethod = "PUT"
        let call = Task { [put] in try await send(cache, put) }
        await gate.waitForArrivals()
        // The removal goes on.
        await call.expectCancelled()
        let response = try await send(cache)
        #expect(try response.text() == "new")
        #expect(response.cacheStatus?.isStored == false)
        gate.open()
        try await waitUntil { try await send(cache, text: "newer").cacheStatus?.isStored == true }
        #expect(try await send(cache).text() == "newer")
    }

    @Test(arguments: [true, false])
    func `what could not be named is not used until all was removed`(isRequest: Bool) async throws {
        let (fails, memory) = (Locked(false), AppStore())
        let store = AppStore(store: memory.store) {
            if $0 == "salt", fails.withLock(\.self) { throw URLError(.cannotOpenFile) }
        }
        _ = try await send(HTTPCache(store: memory), text: "old") { $0.cache?.requester = "a" }
        // It does not know the salt yet.
        let cache = HTTPCache(store: store)
        fails.set(\.self, true)
        if isRequest {
            var put = request
            put.httpMethod = "PUT"
            _ = try await send(cache, put)
        } else {
            await #expect(throws: URLError.self) { try await cache.removeResponses(for: "a") }
        }
        fails.set(\.self, false)
        let response = try await send(cache) { $0.cache?.requester = "a" }
        #expect(try response.text() == "new")
    }

    @Test func `while a store cannot remove all responses, nothing is used or stored`() async throws {
        let (fails, removals) = (Locked(true), Recorder<Void>())
        let store = AppStore { name in
            guard name == "remove" else { return }
            removals.note(())
            if fails.withLock(\.self) { throw URLError(.cannotRemoveFile) }
        }
        let cache = HTTPCache(store: store)
        _ = try await send(cache, text: "old")
        await #expect(throws: URLError.self) { try await cache.removeAll() }
        for _ in 0..<3 {
            let response = try await send(cache)
            #expect(try response.text() == "new")
            #expect(response.cacheStatus?.detail == "earlier responses could not be removed")
        }
        // It may take long, so it is not tried again at once.
        #expect(removals.count == 1)
        fails.set(\.self, false)
        try await cache.removeAll()
        _ = try await send(cache)
        #expect(try await send(cache).fromCache)
    }

    @Test func `a response of a user who signs out while the cache is asked does not stay`() async throws {
        let gate = Gate()
        let store = AppStore { if $0 == "salt" { await gate.pass() } }
        let tokens = TokenAuthenticator("token") { _ in nil }
        async let response = send(HTTPCache(store: store)) { $0.authenticator = tokens }
        await gate.waitForArrivals()
        await tokens.setToken(nil)
        gate.open()
        _ = try await response
        #expect(store.keys.count == 1)
        try await waitUntil { store.keys.entries.allSatisfy { store.store.responses(for: $0).isEmpty } }
    }

    @Test func `a sign-out removes what an earlier run has stored, if this one has used it`() async throws {
        let directory = TemporaryDirectory()
        func cache() -> HTTPCache { .disk(megabytes: 10, in: directory.url.appending(component: "cache")) }
        func tokens() -> TokenAuthenticator { TokenAuthenticator("token") { _ in nil } }
        let first = tokens()
        _ = try await send(cache(), text: "old") { $0.authenticator = first }
        let (second, next) = (cache(), tokens())
        #expect(try await send(second) { $0.authenticator = next }.fromCache)
        await next.setToken(nil)
        let third = tokens()
        try await waitUntil { try await !send(cache()) { $0.authenticator = third }.fromCache }
    }

    @Test(arguments: ["X-UserId", "X-TenantID", "X-User-ID"])
    func `a field that names a user tells who asks, however it is written`(field: String) async throws {
        let cache = HTTPCache.memory(megabytes: 1)
        for user in ["7", "8"] {
            var request = request
            request.setValue(user, forHTTPHeaderField: field)
            #expect(try await send(cache, request, text: user).text() == user)
            #expect(try await send(cache, request, text: "other").text() == user)
        }
    }

    @Test func `a 304 that nobody has asked for is an error where the cache is bypassed, too`() async throws {
        var request = request
        request.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        let error = await expectError(.invalidResponse) {
            try await send(.memory(megabytes: 1), request) {
                $0.transport = Transport { _ in .init(status: .notModified) }
            }
        }
        #expect(error?.reason == "the server sent 304 to a request without conditions")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["If-None-Match": "\"1\""]
        let session = URLSession(configuration: configuration)
        let asked = try await session.response(for: request, config: .silent) {
            $0.cache = .memory(megabytes: 1)
            $0.transport = Transport { _ in .init(status: .notModified) }
        }
        #expect(asked.status == .notModified)
        request.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
        let response = try await send(.memory(megabytes: 1), request) {
            $0.transport = Transport { _ in .init(status: .notModified) }
        }
        #expect(response.status == .notModified)
    }
}
