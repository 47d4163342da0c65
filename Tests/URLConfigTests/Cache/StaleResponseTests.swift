import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// A stale response in place of a failure of the server, the network, the deadline or the authorization.
@Suite(.inTime) struct StaleResponseTests {
    private let clock = TestClock()
    private let seen = Recorder<URLRequest>()
    private let request = URLRequest.with { $0.url = URL(string: "https://api.test/a") }
    private let lost: @Sendable () async throws -> Transport.Response = { throw URLError(.cannotConnectToHost) }

    /// - Parameter respond: The response of the server.
    @discardableResult
    private func get(
        _ cache: HTTPCache, as authenticator: (any Authenticator)? = nil,
        _ change: (inout URLSession.Config) -> Void = { _ in },
        _ respond: @escaping @Sendable () async throws -> Transport.Response
    ) async throws -> DataResponse {
        try await URLSession.shared.response(for: request, config: .silent) {
            ($0.cache, $0.clock, $0.authenticator) = (cache, clock, authenticator)
            $0.transport = Transport {
                seen.note($0.urlRequest)
                return try await respond()
            }
            change(&$0)
        }
    }

    private func reply(_ text: String = "old", _ control: String = "max-age=10") -> Transport.Response {
        .init(headerFields: [.cacheControl: control], body: .init(Data(text.utf8)))
    }

    /// A cache that may use every stale response.
    private func cache(_ store: (any CacheStore)? = nil) -> HTTPCache {
        var cache = store.map { HTTPCache(store: $0) } ?? .memory(megabytes: 1)
        cache.staleIfError = .seconds(100)
        return cache
    }

    @Test func `it is looked for during a second, also if the deadline passes during the first search`() async throws {
        let (gate, isSlow) = (Gate(), Locked(false))
        let store = AppStore {
            if $0 == "responses", isSlow.withLock(\.self), gate.arrivals == 0 { await gate.pass() }
        }
        let cache = cache(store)
        try await get(cache) { reply() }
        await clock.advance(by: .seconds(20))
        let call = Task {
            try await get(cache) {
                $0.deadline = .seconds(10)
            } _: {
                isSlow.set(\.self, true)
                throw URLError(.cannotConnectToHost)
            }
        }
        await gate.waitForArrivals()
        await clock.advance(by: .seconds(10))
        #expect(try await call.valueInTime.text() == "old")
        gate.open()
    }

    @Test(arguments: [true, false]) func `it hides what the call hides`(isLost: Bool) async throws {
        let cache = cache()
        let json: HTTPFields = [.contentType: "application/json", .cacheControl: "max-age=10"]
        try await get(cache) { .init(headerFields: json, body: .init(Data(#"{"birthday":"1815-12-10"}"#.utf8))) }
        await clock.advance(by: .seconds(20))
        let response = try await get(cache) {
            $0.redaction = .standard.adding("birthday")
        } _: {
            if isLost { throw URLError(.cannotConnectToHost) }
            return .init(status: .serviceUnavailable)
        }
        #expect(response.cacheStatus?.detail == "stale-if-error")
        #expect(response.attempts.count == 1)
        var shown = "\(response) \(response.bodyString)"
        dump(response, to: &shown)
        #expect(!shown.contains("1815"))
    }

    @Test(
        arguments: [
            (503, "private"), (503, "max-age=5"), (500, "public, max-age=0"), (429, "max-age=5"), (403, "private"),
            (408, "max-age=5"),
        ])
    func `a failure that may be stored does not take the place of the response`(
        status: Int, control: String
    ) async throws {
        let cache = cache()
        try await get(cache) { reply() }
        await clock.advance(by: .seconds(20))
        for _ in 0..<2 {
            let response = try await get(cache) {
                .init(status: .init(code: status), headerFields: [.cacheControl: control])
            }
            #expect(response.status.code == (status < 500 ? status : 200))
        }
        let offline = try await get(cache, { _ in }, lost)
        #expect(try offline.text() == "old")
        #expect(offline.cacheStatus?.detail == "stale-if-error")
    }

    @Test func `the deadline of a call that an authenticator made is not the call's own`() async throws {
        let clock = TestClock.immediate
        struct Late: Authenticator {
            func authorize(_ request: inout URLRequest) async throws {
                throw RequestError(.deadlineExceeded, reason: "the token did not come")
            }
        }
        let response = try await get(cache(), as: Late()) {
            ($0.clock, $0.deadline) = (clock, .seconds(20))
            $0.fallback = { _, request in
                try await clock.sleep(for: .seconds(15))
                return DataResponse(request: request, data: Data("fallback".utf8))
            }
        } _: {
            reply()
        }
        #expect(try response.text() == "fallback")
    }

    @Test(arguments: [429, 403, 501])
    func `an old refusal is no response instead of a failure`(status: Int) async throws {
        let cache = cache()
        let refusal = { @Sendable () -> Transport.Response in
            .init(status: .init(code: status), headerFields: [.cacheControl: "max-age=5"])
        }
        let response = try await get(cache, { _ in }, refusal)
        #expect(response.cacheStatus?.isStored == true)
        await clock.advance(by: .seconds(20))
        await #expect(throws: URLError.self) { try await get(cache, { _ in }, lost) }
    }

    @Test func `it is used if a refresh of the token hangs`() async throws {
        let (cache, gate) = (cache(), Gate())
        let authenticator = TokenAuthenticator(hosts: ["api.test"], renewalLimit: .zero) {
            nil
        } refresh: { _ in
            await gate.pass()
            return nil
        }
        await authenticator.setToken(.init("one"))
        try await get(cache, as: authenticator) { reply() }
        await clock.advance(by: .seconds(20))
        // The same token, but it has to be refreshed.
        await authenticator.setToken(.init("one", expiry: .distantPast))
        let response = try await get(cache, as: authenticator) { reply("new") }
        #expect(seen.count == 1)
        #expect(try response.text() == "old")
        gate.open()
    }

    @Test(arguments: [false, true])
    func `if the server refuses a validation in the background, the next call renews the token`(
        coalesces: Bool
    ) async throws {
        let cache = cache()
        let authenticator = TokenAuthenticator("one") { _ in "two" }
        try await get(cache, as: authenticator) { reply("old", "max-age=10, stale-while-revalidate=900") }
        await clock.advance(by: .seconds(20))
        var texts: [String] = []
        for _ in 0..<2 {
            let response = try await get(cache) {
                ($0.authenticator, $0.coalesces) = (authenticator, coalesces)
            } _: {
                let isNew = seen.entries.last?.value(forHTTPHeaderField: "Authorization") == "Bearer two"
                return isNew ? reply("new") : .init(status: .unauthorized)
            }
            await cache.finishRevalidations()
            texts.append(try response.text())
        }
        #expect(texts == ["old", "new"])
    }

    @Test func `a refusal after a 304 about another response counts, too`() async throws {
        let cache = cache()
        let control = "max-age=10, stale-while-revalidate=900"
        try await get(cache) { .init(headerFields: [.cacheControl: control, .eTag: #""1""#]) }
        await clock.advance(by: .seconds(20))
        for _ in 0..<2 {
            let response = try await get(cache) {
                let hasConditions = seen.entries.last?.value(forHTTPHeaderField: "If-None-Match") != nil
                return hasConditions
                    ? .init(status: .notModified, headerFields: [.eTag: #""2""#])
                    : .init(status: .unauthorized)
            }
            await cache.finishRevalidations()
            if response.status == .unauthorized { return }
        }
        Issue.record("the stale response was used after the refusal")
    }

    @Test(arguments: [
        (500, ["500"]), (404, ["404"]), (200, []), (304, []),
        // The next call renews the token.
        (401, []),
    ])
    func `a failure of a validation in the background is one error in the log`(
        status: Int, logged: [String]
    ) async throws {
        let cache = cache()
        try await get(cache) {
            .init(
                headerFields: [.cacheControl: "max-age=10, stale-while-revalidate=900", .eTag: #""1""#],
                body: .init(Data("old".utf8)))
        }
        await clock.advance(by: .seconds(20))
        let (logger, log) = Logger.recording(level: .info)
        let response = try await get(cache, { $0.logger = logger }, { .init(status: .init(code: status)) })
        #expect(try response.text() == "old")
        await cache.finishRevalidations()
        #expect(log.entries.map { $0.metadata["status"].map { "\($0)" } } == logged)
        #expect(log.entries.allSatisfy { $0.level == .error })
    }

    // MARK: After the deadline

    @Test(arguments: [true, false])
    func `after a deadline, it is found in each store, and after a refresh of the token`(isOwn: Bool) async throws {
        let cache = cache(isOwn ? nil : MemoryStore(capacity: 1_000_000))
        let authenticator = TokenAuthenticator("one") { _ in "two" }
        try await get(cache, as: authenticator) { reply() }
        #expect(try await authenticator.refuse("one"))
        await clock.advance(by: .seconds(20))
        let gate = Gate()
        let call = Task {
            try await get(cache) {
                ($0.authenticator, $0.deadline) = (authenticator, .seconds(5))
            } _: {
                await gate.pass()
                return reply("new")
            }
        }
        await gate.waitForArrivals()
        await clock.advance(by: .seconds(5))
        #expect(try await call.valueInTime.text() == "old")
        #expect(seen.entries.map { $0.field("Authorization") } == ["Bearer one", "Bearer two"])
        gate.open()
    }

    @Test func `after a deadline, the store and the validators have one second together`() async throws {
        let (read, server, validator, isSlow) = (Gate(), Gate(), Gate(), Locked(false))
        let cache = cache(AppStore { if $0 == "responses", isSlow.withLock(\.self) { await read.pass() } })
        try await get(cache) { reply() }
        await clock.advance(by: .seconds(20))
        let before = clock.asked.count
        let call = Task {
            try await get(cache) {
                $0.deadline = .seconds(5)
                $0.validators = [.init { _ in await validator.pass() }]
            } _: {
                await server.pass()
                return reply("new")
            }
        }
        await server.waitForArrivals()
        isSlow.set(\.self, true)
        clock.move(by: .seconds(5))
        await read.waitForArrivals()
        clock.move(by: .milliseconds(600))
        read.open()
        await validator.waitForArrivals()
        clock.move(by: .milliseconds(400))
        await expectError(.deadlineExceeded) { try await call.valueInTime }
        #expect(clock.asked.dropFirst(before) == [.seconds(5), .seconds(1)])
        for gate in [server, validator] { gate.open() }
    }

    // MARK: Without an authorization

    /// An authenticator whose token is valid for some seconds, and whose refresh fails.
    private func offline(
        _ token: String = "one", for seconds: Double = 15, _ failure: any Error = URLError(.notConnectedToInternet)
    ) async -> TokenAuthenticator {
        let expiry = clock.date + seconds
        return await TokenAuthenticator(
            leeway: .zero, now: { [clock] in clock.date }, load: { .init(token, expiry: expiry) },
            refresh: { _ in throw failure })
    }

    /// What the server allows, what the call allows, and whether the response is used after 20 seconds.
    @Test(arguments: [
        ("max-age=10", Duration.seconds(100), true), ("max-age=10", nil, false), ("max-age=60", nil, true),
        ("max-age=10, stale-while-revalidate=60", nil, true), ("max-age=10, must-revalidate", .seconds(100), false),
        ("no-cache", .seconds(100), false),
    ])
    func `it replaces a refresh that fails without a network`(
        control: String, limit: Duration?, isUsed: Bool
    ) async throws {
        let (cache, authenticator) = (cache(), await offline())
        func get() async throws -> DataResponse {
            try await self.get(cache, as: authenticator) {
                $0.cache?.staleIfError = limit
                $0.fallback = { _, request in DataResponse(request: request, data: Data("fallback".utf8)) }
            } _: {
                reply("old", control)
            }
        }
        _ = try await get()
        await clock.advance(by: .seconds(20))
        #expect(try await get().text() == (isUsed ? "old" : "fallback"))
        await cache.finishRevalidations()
        #expect(seen.count == 1)
    }

    @Test func `it replaces a refresh that does not end before the deadline`() async throws {
        let (cache, gate, expiry) = (cache(), Gate(), clock.date + 15)
        let authenticator = await TokenAuthenticator(
            leeway: .zero, now: { [clock] in clock.date }, load: { .init("one", expiry: expiry) },
            refresh: { _ in
                await gate.pass()
                return "two"
            })
        try await get(cache, as: authenticator) { reply() }
        await clock.advance(by: .seconds(20))
        let call = Task {
            try await get(cache, as: authenticator, { $0.deadline = .seconds(5) }, { reply("new") })
        }
        await gate.waitForArrivals()
        clock.move(by: .seconds(5))
        #expect(try await call.valueInTime.text() == "old")
        #expect(seen.count == 1)
        gate.open()
    }

    private struct OwnAuthenticator: Authenticator {
        let isOffline: Bool

        func authorize(_ request: inout URLRequest) async throws {
            if isOffline { throw URLError(.notConnectedToInternet) }
            request.setValue("Bearer one", forHTTPHeaderField: "Authorization")
        }
    }

    /// Ada has stored a response, and then somebody asks without a network.
    @Test(arguments: ["Bob", "Bob signs in", "signed out", "never signed in", "own", "refused"])
    func `it is never another one's`(who: String) async throws {
        let (cache, ada) = (cache(), await offline())
        try await get(cache, as: ada) { reply("Ada") }
        try await get(cache) { reply("nobody") }
        await clock.advance(by: .seconds(20))
        var authenticator: any Authenticator = ada
        switch who {
        case "Bob": authenticator = await offline("Bob", for: 0)
        case "Bob signs in": await ada.setToken(.init("Bob", expiry: clock.date))
        case "own": authenticator = OwnAuthenticator(isOffline: true)
        case "refused": authenticator = await offline("one", for: 0, RequestError(.unauthorized, reason: "revoked"))
        case "never signed in":
            authenticator = TokenAuthenticator(
                hosts: ["api.test"], load: { throw URLError(.notConnectedToInternet) }, refresh: { _ in nil })
        default: await ada.setToken(nil)
        }
        if who == "signed out" {
            // The request needs no token to be sent.
            let response = try await get(cache, as: authenticator) { reply("signed out") }
            #expect(try response.text() == "signed out")
        } else {
            let result = await Result { [authenticator] in
                try await get(cache, as: authenticator) { reply("new") }
            }
            #expect(throws: (any Error).self) { try result.get() }
            #expect(seen.count == 2)
        }
    }

    @Test func `a requester that is named needs no token`() async throws {
        let cache = cache()
        for (name, isOffline) in [("Ada", false), ("Ada", true), ("Bob", true)] {
            let result = await Result {
                let authenticator = OwnAuthenticator(isOffline: isOffline)
                return try await get(cache, as: authenticator, { $0.cache?.requester = name }, { reply(name) })
            }
            if name == "Ada" {
                #expect(try result.get().text() == "Ada")
            } else {
                #expect(throws: URLError.self) { try result.get() }
            }
            await clock.advance(by: .seconds(20))
        }
        #expect(seen.count == 1)
    }
}
