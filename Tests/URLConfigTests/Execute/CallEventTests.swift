import FlyingFox
import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// What an app is told of its calls, on every transport.
@Suite(.inTime) struct CallEventTests {
    private let events = Recorder<CallEvent>()

    /// The events of calls that have ended, one call after the other: each closure has a queue of its own.
    private func all(calls: Int = 1) async throws -> [CallEvent] {
        try await waitUntil { events.entries.count { $0.word.contains(" ended ") } >= calls }
        let byCall = Dictionary(grouping: events.entries, by: \.callID)
        return byCall.keys.sorted().flatMap { byCall[$0] ?? [] }
    }

    private func observe(_ config: inout URLSession.Config) { config.events = { [events] in events.note($0) } }

    /// Makes a call that is observed.
    @discardableResult
    private func get(
        _ path: URLRequest.Path = "/a", by transport: Transport,
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await stubs.get(path) {
            observe(&$0)
            $0.transport = transport
            configure(&$0)
        }
    }

    private static let plain = [
        "0 began", "1 sent", "1 head 200", "1 first", "1 body 5", "1 attempt 200", "1 accepted 200", "1 ended 200",
    ]

    @Test func `a call of each transport tells the same, in order, and when`() async throws {
        try await Loopback.serving(.status(.ok, "hello")) { server in
            let wrapped = Transport { request in try await TransportOfTests.transport.send(request) }
            for transport in [TransportOfTests.transport, wrapped] {
                let before = events.count
                try await server.get("/a") {
                    observe(&$0)
                    $0.transport = transport
                }
                try await waitUntil { events.count >= before + Self.plain.count }
                let told = events.entries.dropFirst(before)
                #expect(told.map(\.word) == Self.plain)
                #expect(told.map(\.time) == told.map(\.time).sorted())
                #expect(told.first?.time == .zero)
                #expect(Set(told.map(\.callID)).count == 1)
                #expect(told.allSatisfy { $0.method == "GET" && $0.url == server.host + "/a" })
                #expect(told.allSatisfy { $0.source.contains("/TestServer.swift:") })
            }
            #expect(Set(events.entries.map(\.callID)).count == 2)
        }
    }

    #if AsyncHTTPClient
    @Test func `the server transport tells of the connection`() async throws {
        try await Loopback.serving(.status(.ok, "hello")) { server in
            for isReused in [false, true] {
                let before = events.count
                try await server.get("/a") {
                    observe(&$0)
                    $0.transport = .asyncHTTPClient
                }
                try await waitUntil { events.count >= before + Self.plain.count }
                let told = events.entries.dropFirst(before)
                let connection = CallEvent.Connection(protocolName: "http/1.1", isReused: isReused)
                #expect(told.map(\.connection) == [nil, nil] + Array(repeating: connection, count: 4) + [nil, nil])
            }
        }
    }
    #endif

    @Test func `nothing is noted without a closure`() async throws {
        try await Loopback.serving(.status(.ok, "hello")) { server in
            let transport = Transport { request in
                #expect(request.arrival == nil)
                return try await TransportOfTests.transport.send(request)
            }
            try await server.get("/a") { $0.transport = transport }
        }
    }

    @Test(
        .stubs {
            $0.get("/a", .status(.found).field(.location, "/b"))
            $0.get("/b", .status(.unauthorized), .status(.serviceUnavailable).field(.retryAfter, "3"), .text("hello"))
            $0.clock = .immediate
        })
    func `each decision has its reason, and times are measured by the config's clock`() async throws {
        let response = try await stubs.get("/a") {
            observe(&$0)
            ($0.authenticator, $0.retry) = (CountingAuthenticator(), .standard)
            $0.clock = HTTPStubs.clock ?? ContinuousClock()
        }
        let told = try await all()
        #expect(
            told.map(\.word) == [
                "0 began", "1 sent", "1 head 302", "1 body 0", "1 attempt 302", "1 redirected to https://api.test/b",
                "2 sent",
                "2 head 401", "2 body 0", "2 attempt 401", "2 renewed credentials refreshed", "3 sent", "3 head 503",
                "3 body 0", "3 attempt 503", "3 retried(after: 3.0 seconds) waiting 3.0 s: Retry-After", "4 sent",
                "4 head 200", "4 first", "4 body 5", "4 attempt 200", "4 accepted 200", "4 ended 200",
            ])
        #expect(told.last?.time == .seconds(3))
        #expect(response.attempts.map(\.status?.code) == [302, 401, 503, 200])
    }

    /// Redirects the first request of a call, refuses the second, and is busy for the third.
    private static let decided: @Sendable (Loopback.Request) -> Loopback.Response = { request in
        switch request.headers[.authorization] ?? "" {
        case "1": .redirect(.found, to: "/b")
        case "2": .status(.unauthorized)
        case "3": .status(.serviceUnavailable).with(["Retry-After": "3"])
        default: .status(.ok, "hello")
        }
    }

    @Test func `each decision about a real server has its reason, on each transport`() async throws {
        try await Loopback.serving(Self.decided) { server in
            let response = try await server.get("/a") {
                observe(&$0)
                $0.authenticator = CountingAuthenticator()
                $0.retry = .standard.quick
                $0.clock = TestClock.immediate
            }
            #expect(response.attempts.map(\.status?.code) == [302, 401, 503, 200])
            let told = try await all()
            #expect(
                told.map(\.word) == [
                    "0 began", "1 sent", "1 head 302", "1 body 0", "1 attempt 302",
                    "1 redirected to \(server.host)/b", "2 sent", "2 head 401", "2 body 0", "2 attempt 401",
                    "2 renewed credentials refreshed", "3 sent", "3 head 503", "3 body 0", "3 attempt 503",
                    "3 retried(after: 3.0 seconds) waiting 3.0 s: Retry-After", "4 sent", "4 head 200", "4 first",
                    "4 body 5", "4 attempt 200", "4 accepted 200", "4 ended 200",
                ])
            #expect(told.last?.time == .seconds(3))
        }
    }

    #if canImport(FoundationNetworking)
    // Apple platforms send it again themselves. On Linux, libcurl asks before, if there is a body.
    @Test func `a kept connection that a real server closes is told, on each transport`() async throws {
        try await FaultServer.serving(.losingSecond()) { server in
            // With more connections, the second request may have a new one.
            try await URLSession.with {
                $0.httpMaximumConnectionsPerHost = 1
            } _: { session in
                _ = try await session.response(for: server.request(), config: .silent)
                let request = server.request {
                    ($0.method, $0.body) = (.put, .data(Data.sample(100_000), contentType: .png))
                }
                _ = try await session.response(for: request, config: .silent, observe)
            }
            #expect(
                try await all().map(\.word) == [
                    "0 began", "1 sent", "1 attempt networkConnectionLost", "1 repeated again on another connection",
                    "2 sent", "2 head 200", "2 first", "2 body 2", "2 attempt 200", "2 accepted 200", "2 ended 200",
                ])
        }
    }
    #endif

    @Test(.stubs { $0.get("/a", .lostConnection, .text("hello")) })
    func `a lost connection is repeated, and a refused retry says why`() async throws {
        try await stubs.get("/a", observe)
        #expect(
            try await all().map(\.word).prefix(4) == [
                "0 began", "1 sent", "1 attempt networkConnectionLost", "1 repeated again on another connection",
            ])
        try await stubs.get(.status(.serviceUnavailable)) {
            observe(&$0)
            $0.retry = .atOnce()
            while $0.retry.budget.spend("api.test") {}
        }
        let words = try await all(calls: 2).map(\.word)
        #expect(words.contains("1 notRetried not retried: the retry budget is spent"))
    }

    @Test func `what the cache did is told of the attempt`() async throws {
        let cache = HTTPCache.memory(megabytes: 1)
        let transport = Transport { _ in .init(headerFields: [.cacheControl: "max-age=60"], body: .init(Data("a".utf8)))
        }
        for _ in 1...2 { try await get(by: transport) { $0.cache = cache } }
        let told = try await cacheStatuses(calls: 2)
        #expect(told.count == 2)
        #expect(told.first == "fwd=uri-miss; stored")
        #expect(told.last?.hasPrefix("hit") == true)
    }

    /// What the cache did for each attempt of calls that have ended.
    private func cacheStatuses(calls: Int) async throws -> [String] {
        try await all(calls: calls).compactMap { event -> String? in
            if case .attemptEnded(_, let cache) = event.kind { cache.map { "\($0)" } ?? "none" } else { nil }
        }
    }

    @Test func `a stored response that the server has validated is told of the attempt`() async throws {
        let cache = HTTPCache.memory(megabytes: 1)
        let transport = Transport { request in
            let isCondition = request.urlRequest.field("If-None-Match") == "\"a\""
            return .init(
                status: isCondition ? .notModified : .ok, headerFields: [.eTag: "\"a\"", .cacheControl: "max-age=0"],
                body: .init(Data((isCondition ? "" : "hello").utf8)))
        }
        for _ in 1...2 { try await get(by: transport) { $0.cache = cache } }
        #expect(try await cacheStatuses(calls: 2) == ["fwd=uri-miss; stored", "fwd=stale; fwd-status=304"])
    }

    @Test func `a transfer that two calls share is told of both attempts`() async throws {
        let gate = Gate()
        let transport = Transport { _ in
            await gate.pass()
            return .init(body: .init(Data("hello".utf8)))
        }
        // Other tests have other URLs.
        let request = stubs.request("/\(UUID().uuidString)")
        let calls = (0..<2).map { _ in
            Task {
                try await stubs.response(for: request) {
                    observe(&$0)
                    ($0.coalesces, $0.transport) = (true, transport)
                }
            }
        }
        try await waitUntil { SharedTransfer.waiters(for: request.url) == 2 }
        gate.open()
        for call in calls { _ = try await call.valueInTime }
        #expect(try await cacheStatuses(calls: 2).sorted() == ["fwd=miss", "fwd=miss; collapsed"])
    }

    @Test func `a failure, a cancellation, a passed deadline and an unsendable request end the call once`() async throws
    {
        func words(_ request: URLRequest, _ transport: Transport, deadline: Duration? = nil) async throws -> [String] {
            let own = Recorder<CallEvent>()
            _ = try? await stubs.response(for: request) {
                ($0.transport, $0.deadline) = (transport, deadline)
                $0.events = { own.note($0) }
            }
            try await waitUntil { own.entries.last?.word.contains("ended") == true }
            return own.entries.map(\.word)
        }
        let lost = Transport { _ in throw URLError(.cannotFindHost) }
        #expect(
            try await words(stubs.request("/a"), lost) == [
                "0 began", "1 sent", "1 attempt cannotFindHost", "1 failed cannotFindHost", "1 ended cannotFindHost",
            ])
        let unavailable = Transport { _ in throw URLError(.resourceUnavailable) }
        #expect(try await words(stubs.request("/a"), unavailable).last == "1 ended resourceUnavailable")
        let silent = Transport { _ in
            try await Task.sleep(for: .seconds(600))
            throw CancellationError()
        }
        #expect(
            try await words(stubs.request("/a"), silent, deadline: .milliseconds(20)) == [
                "0 began", "1 sent", "1 attempt deadlineExceeded", "1 failed deadlineExceeded",
                "1 ended deadlineExceeded",
            ])
        let late = try await words(stubs.request("/a"), silent, deadline: .zero)
        #expect(late == ["0 began", "0 failed deadlineExceeded", "0 ended deadlineExceeded"])
        let unsendable = try await words(URLRequest.with { $0.path = "/../a" }, lost)
        #expect(unsendable == ["0 began", "0 failed invalidURL", "0 ended invalidURL"])
    }

    @Test func `a cancelled call ends as cancelled`() async throws {
        let gate = Gate()
        let transport = Transport { _ in
            await gate.pass()
            throw CancellationError()
        }
        let call = Task { try await get(by: transport) }
        await gate.waitForArrivals()
        call.cancel()
        gate.open()
        #expect(
            try await all().map(\.word) == [
                "0 began", "1 sent", "1 attempt cancelled", "1 failed CancellationError", "1 ended cancelled",
            ])
    }

    @Test func `a fallback and a stale response are the end after a failure`() async throws {
        let response = try await stubs.get(.error(.timedOut)) {
            observe(&$0)
            $0.fallback = { _, request in DataResponse(request: request, status: .ok) }
        }
        #expect(response.status == .ok)
        #expect(try await all().map(\.word).suffix(2) == ["1 failed timedOut", "1 ended 200"])

        let (cache, isDown) = (HTTPCache.memory(megabytes: 1), Locked(false))
        let transport = Transport { _ in
            if isDown.withLock(\.self) { throw URLError(.cannotFindHost) }
            return .init(headerFields: [.cacheControl: "max-age=0"], body: .init(Data("a".utf8)))
        }
        for _ in 1...2 {
            try await get(by: transport) {
                $0.cache = cache
                $0.cache?.staleIfError = .seconds(60)
            }
            isDown.set(\.self, true)
        }
        #expect(
            try await all(calls: 3).map(\.word).suffix(3) == [
                "1 attempt cannotFindHost", "1 accepted 200", "1 ended 200",
            ])
    }

    @Test func `a stream ends with its head, and tells of its body when it is read`() async throws {
        try await Loopback.serving(.status(.ok, "hello")) { server in
            let stream = try await server.session.stream(for: server.request("/a"), config: .silent, observe)
            #expect(try await stream.collect(upTo: .max).data.count == 5)
            try await waitUntil { events.entries.last?.word == "1 body 5" }
            #expect(
                events.entries.map(\.word) == [
                    "0 began", "1 sent", "1 head 200", "1 attempt 200", "1 accepted 200", "1 ended 200", "1 first",
                    "1 body 5",
                ])
        }
    }

    @Test func `the body of a stream that breaks off is told`() async throws {
        let body = FaultServer.Fault.raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
        try await FaultServer.serving(body) { server in
            let stream = try await server.session.stream(for: server.request("/a"), config: .silent, observe)
            await #expect(throws: URLError.self) { try await stream.collect(upTo: .max) }
            try await waitUntil { events.entries.last?.word.contains(" failed ") == true }
            #expect(
                events.entries.map(\.word).suffix(3) == [
                    "1 first", "1 body networkConnectionLost", "1 failed networkConnectionLost",
                ])
        }
    }

    @Test func `a download tells of each attempt and of its body`() async throws {
        let directory = TemporaryDirectory()
        try await Loopback.serving(.status(.ok, "hello")) { server in
            let target = directory.url.appending(path: "file")
            let file = try await server.session.download(
                for: server.request("/a"), to: target, config: .silent, observe)
            #expect(file.byteCount == 5)
            #expect(file.head.attempts.count == 1)
            #expect(
                try await all().map(\.word) == [
                    "0 began", "1 sent", "1 head 200", "1 attempt 200", "1 accepted 200", "1 first", "1 body 5",
                    "1 ended 200",
                ])
        }
    }

    @Test(arguments: [1, 2, 3, 4]) func `attempts and log say what the events say`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let statuses = (0..<6).map { _ in [200, 302, 401, 404, 503].randomElement(using: &random) ?? 200 } + [200]
        let (logger, log) = Logger.recording()
        let count = Recorder<Void>()
        let transport = Transport { _ in
            let status = statuses[min(count.note(()), statuses.count) - 1]
            return .init(status: .init(code: status), headerFields: status == 302 ? [.location: "/b"] : [:])
        }
        let response = try? await get(by: transport) {
            ($0.logger, $0.retry) = (logger, .atOnce())
            ($0.authenticator, $0.clock) = (CountingAuthenticator(), TestClock.immediate)
        }
        let told = try await all()
        let (ends, reasons) = (told.compactMap(\.status), told.compactMap(\.reason))
        #expect(log.entries.count { "\($0.message)".hasPrefix("🛫") } == ends.count, "seed \(seed)")
        #expect(
            log.entries.map { "\($0.message)" }.filter { $0.hasPrefix("🔁") } == reasons.map { "🔁 " + $0 },
            "seed \(seed)")
        guard let response else { return }
        #expect(response.attempts.map(\.status?.code) == ends, "seed \(seed)")
        #expect(response.attempts.compactMap(\.reason) == reasons, "seed \(seed)")
    }

    @Test func `a validated response from the memory arrives in order`() async throws {
        func reply(_ head: String, _ body: String = "") -> FaultServer.Fault {
            .raw("HTTP/1.1 \(head)\r\nETag: \"a\"\r\nCache-Control: no-cache\r\nConnection: close\r\n\(body)")
        }
        let stored = reply("200 OK", "Content-Length: 5\r\n\r\nhello")
        try await FaultServer.serving(.first(1, stored, then: reply("304 Not Modified", "\r\n"))) { server in
            let cache = HTTPCache.memory(megabytes: 1)
            for _ in 1...2 {
                try await server.get("/a") {
                    observe(&$0)
                    $0.cache = cache
                }
            }
        }
        let told = try await all(calls: 2).suffix(Self.plain.count)
        #expect(told.map(\.word) == Self.plain)
        #expect(told.map(\.time) == told.map(\.time).sorted())
    }

    @Test func `an object that collects events is released`() async throws {
        try await Loopback.serving(.status(.ok, "hello")) { server in
            for transport in [TransportOfTests.transport, Transport { _ in .init() }] {
                weak var kept: Recorder<CallEvent>?
                do {
                    let own = Recorder<CallEvent>()
                    kept = own
                    try await server.get("/a") {
                        ($0.transport, $0.deadline) = (transport, .seconds(60))
                        $0.progress = { _ in own.count > 0 ? () : () }
                        $0.events = { own.note($0) }
                    }
                    try await waitUntil { own.entries.last?.word == "1 ended 200" }
                }
                try await waitUntil { kept == nil }
            }
        }
    }

    @Test func `events do not keep the content of a response`() async throws {
        let freed = Recorder<Void>()
        let transport = Transport { _ in
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 100_000, alignment: 1)
            bytes.initializeMemory(as: UInt8.self, repeating: 97, count: 100_000)
            let content = Data(
                bytesNoCopy: bytes, count: 100_000,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    freed.note(())
                })
            return .init(body: .init(content))
        }
        try await get(by: transport)
        #expect(try await all().map(\.word) == Self.plain.map { $0 == "1 body 5" ? "1 body 100000" : $0 })
        try await waitUntil { freed.count == 1 }
    }

    /// A configuration whose closure blocks at the first event, a gate that it opens before, and what ends that.
    private func blocking() -> (URLSession.Config, isBlocked: Gate, end: DispatchSemaphore) {
        let (isBlocked, end) = (Gate(), DispatchSemaphore(value: 0))
        let config = URLSession.Config.silent.with {
            $0.transport = Transport { _ in .init() }
            $0.events = { [events] event in
                if events.count == 0 {
                    isBlocked.open()
                    end.wait()
                }
                events.note(event)
            }
        }
        return (config, isBlocked, end)
    }

    @Test func `a closure that blocks delays no call, and what it misses is bounded`() async throws {
        let (config, isBlocked, end) = blocking()
        try await stubs.get("/a", config: config)
        await isBlocked.pass()
        for _ in 0..<10_000 { try await stubs.get("/a", config: config) }
        #expect(events.count == 0)
        // Another closure is called meanwhile.
        let others = Recorder<CallEvent>()
        try await stubs.get("/a", config: config) { $0.events = { others.note($0) } }
        try await waitUntil { others.count == 7 }
        end.signal()
        // 10,000 calls have 70,000 events. Only 65,536 may wait.
        try await waitUntil { events.count >= 1 << 16 }
        try await stubs.get("/b", config: config)
        try await waitUntil {
            events.entries.last.map { $0.word == "1 ended 200" && $0.url?.hasSuffix("/b") == true } == true
        }
        // Some were passed on before the closure blocked.
        #expect(events.count <= (1 << 16) + 14)
    }

    @Test(arguments: ["requests", "failed calls", "problems", "errors of fallbacks"])
    func `the bodies of calls whose events wait are bounded`(place: String) async throws {
        var (config, isBlocked, end) = blocking()
        var request = stubs.request("/a")
        switch place {
        case "requests": request = stubs.request("/a") { ($0.method, $0.body) = (.post, .data(Data(count: 1 << 24))) }
        case "failed calls":
            config.transport = Transport { _ in .init(status: .internalServerError, body: .init(Data(count: 1 << 24))) }
            config.validators = [.success]
        case "problems":
            let text = #"{"title": "x", "pad": "\#(String(repeating: "x", count: (1 << 24) - 100))"}"#
            config.transport = Transport { _ in
                .init(
                    status: .internalServerError, headerFields: [.contentType: "application/problem+json"],
                    body: .init(Data(text.utf8)))
            }
            config.validators = [.orThrow(Problem.self)]
        default:
            config.transport = Transport { _ in throw URLError(.cannotFindHost) }
            config.fallback = { _, request in
                let response = DataResponse(request: request, status: .notFound, data: Data(count: 1 << 24))
                let error = RequestError(.unacceptableStatus, reason: "not found", response: response)
                // The content may also be in the error that has led to this one.
                throw RequestError(.invalidResponse, reason: "no fallback", underlyingError: error)
            }
        }
        _ = try? await stubs.response(for: request, config: config)
        await isBlocked.pass()
        // To decode a long problem takes long.
        for _ in 0..<(place == "problems" ? 12 : 100) { _ = try? await stubs.response(for: request, config: config) }
        end.signal()
        let last = place == "failed calls" ? "failed" : "ended"
        try await waitUntil { events.entries.count { "\($0.kind)".hasPrefix(last) } >= 4 }
        (config.transport, config.fallback) = (Transport { _ in .init() }, nil)
        try await stubs.get("/b", config: config)
        try await waitUntil { events.entries.last?.url?.hasSuffix("/b") == true }
        // The first call, four with 64 MB, the one that is too much, and the last one.
        #expect(Set(events.entries.map(\.callID)).count <= 7)
    }

    @Test func `the bodies of uploads whose events wait are bounded`() async throws {
        let (config, isBlocked, end) = blocking()
        let post = stubs.request("/a") { $0.method = .post }
        // One MiB is searched for secrets, so the call keeps it; more is not kept.
        for index in 0...200 {
            try await URLSession.shared.upload(.data(Data(count: 1 << 20)), for: post, config: config)
            if index == 0 { await isBlocked.pass() }
        }
        #expect(events.count == 0)
        end.signal()
        try await waitUntil { events.entries.count { "\($0.kind)".hasPrefix("ended") } >= 64 }
        try await stubs.get("/b", config: config)
        try await waitUntil { events.entries.last?.url?.hasSuffix("/b") == true }
        #expect(Set(events.entries.map(\.callID)).count <= 67)
    }

    @Test func `a thousand calls at once: each begins and ends once, one event at a time`() async throws {
        let running = Locked(0)
        var config = URLSession.Config.silent
        config.transport = Transport { _ in .init(body: .init(Data("hello".utf8))) }
        config.events = { [events] event in
            let count = running.withLock { count in
                count += 1
                return count
            }
            #expect(count == 1)
            events.note(event)
            running.withLock { $0 -= 1 }
        }
        try await concurrently(1_000) { [config] in try await stubs.get("/\($0)", config: config) }
        let calls = Dictionary(grouping: try await all(calls: 1_000), by: \.callID)
        #expect(calls.count == 1_000)
        #expect(calls.values.allSatisfy { $0.map(\.word) == Self.plain && Set($0.map(\.url)).count == 1 })
    }

    @Test func `a closure may make calls itself`() async throws {
        var config = URLSession.Config.silent
        config.transport = Transport { _ in .init() }
        let inner = Recorder<Int>()
        config.events = { [config, events] event in
            events.note(event)
            guard event.word == "1 ended 200" else { return }
            Task { inner.note(try await stubs.get("/b", config: config).status.code) }
        }
        try await stubs.get("/a", config: config)
        try await waitUntil { inner.count == 1 }
    }

    @Test func `nothing that an event shows has a secret`() async throws {
        let canaries = (1...6).map { "canary-\($0)-\(UUID())" }
        let request = URLRequest.with {
            $0.url = URL(string: "https://api.test/a?access_token=\(canaries[0])")
            $0.headers[.authorization] = "Bearer \(canaries[1])"
            $0.headers[.cookie] = "session=\(canaries[2])"
            ($0.method, $0.body) = (.post, .form(["password": canaries[3]]))
        }
        struct Failed: LocalizedError {
            let errorDescription: String?
        }
        let transport = Transport { sent in
            if sent.urlRequest.url?.path() == "/b" {
                throw Failed(errorDescription: "no \(canaries[1]), \(canaries[4])")
            }
            return .init(
                status: .temporaryRedirect, headerFields: [.location: "/b?access_token=\(canaries[4])"],
                body: .init(Data(canaries[5].utf8)))
        }
        _ = try? await stubs.response(for: request) {
            observe(&$0)
            $0.transport = transport
        }
        for event in try await all() {
            var shown = "\(event) \(event.kind) \(event.url ?? "") \(event.method) \(event.source)"
            dump(event, to: &shown)
            dump(event.kind, to: &shown)
            #expect(!canaries.contains { shown.contains($0) }, "\(shown)")
        }
        #expect(try await all().map { "\($0)" }.contains { $0.contains("failed: no ***") })
    }

    @Test(arguments: [true, false])
    func `an event quotes the content of a response as the log does`(logsBody: Bool) async throws {
        _ = try? await stubs.get(.text("Jane Doe is unknown", status: .badRequest)) {
            observe(&$0)
            ($0.validators, $0.logBody) = ([.success], .init(logsBody ? 4096 : 0))
        }
        #expect(try await all().contains { "\($0)".contains("Jane Doe") } == logsBody)
    }

    @Test func `a hostile path takes linear time to compare`() throws {
        let template = try PathTemplate("/caf\u{E9}/{id}")
        #expect(template.match("/caf%C3%A9/7").fits)
        expectLinearTime(from: 2000) { count in
            let marks = String(repeating: "%CC%81%CC%A3", count: count / 2)
            #expect(!template.match("/caf\(marks)/7").fits)
        }
    }

    @Test func `a hostile path is decoded once, however many routes there are`() throws {
        try expectLinearTime(from: 100) { count in
            let templates = try (0..<count).map { try PathTemplate("/v2/thing\($0)/{id}") }
            let url = URL(string: "https://api.test" + String(repeating: "/a", count: 30 * count))
            let request = URLRequest(url: try #require(url))
            #expect(RouteTable(own: nil, templates: templates).route(of: request, after: nil) == nil)
        }
    }

    @Test func `an event has the route of its request`() async throws {
        let transport = Transport { request in
            let isFirst = request.urlRequest.url?.path() == "/users/7"
            return .init(status: isFirst ? .found : .ok, headerFields: isFirst ? [.location: "/groups/8"] : [:])
        }
        for route in [nil, "/u/{id}"] {
            try await get("/users/7", by: transport) {
                ($0.route, $0.routes) = (route, ["/users/{id}", "/groups/{id}"])
            }
        }
        let routes = try await all(calls: 2).map { $0.route ?? "none" }
        let (table, own) = (routes.prefix(routes.count / 2), routes.suffix(routes.count / 2))
        #expect(Set(table) == ["/users/{id}", "/groups/{id}"])
        #expect(Set(own) == ["/u/{id}", "/groups/{id}"])
    }

    @Test func `an event is one line`() async throws {
        try await stubs.get(.text("hello"), observe)
        let lines = try await all().map { "\($0)" }
        #expect(lines.first == "0 ms: began: GET https://api.test")
        #expect(lines.contains { $0.contains(", attempt 1: body: 5") })
        #expect(lines.last?.hasSuffix(", attempt 1: ended: 200") == true)
        #expect(!lines.contains { $0.contains("\n") })
    }
}

extension CallEvent {
    /// The number of the attempt and what has happened.
    fileprivate var word: String {
        let word =
            switch kind {
            case .began: "began"
            case .attemptBegan: "sent"
            case .headReceived(let status): "head \(status.code)"
            case .firstByteReceived: "first"
            case .bodyReceived(let count): "body \(count)"
            case .bodyFailed(let failure): "body \(failure.name)"
            case .attemptEnded(let outcome, _): "attempt \(outcome.word)"
            case .decided(let decision, let reason): "\(decision) \(reason)"
            case .accepted(let status): "accepted \(status.code)"
            case .failed(let failure): "failed \(failure.name)"
            case .ended(let outcome): "ended \(outcome.word)"
            }
        return "\(attempt) \(word)"
    }

    /// The status of an attempt that has ended; `nil` for other events.
    fileprivate var status: Int?? {
        guard case .attemptEnded(let outcome, _) = kind else { return nil }
        if case .response(let status) = outcome { return .some(status.code) }
        return .some(nil)
    }

    fileprivate var reason: String? { if case .decided(_, let reason) = kind { reason } else { nil } }
}

extension CallEvent.Outcome {
    fileprivate var word: String {
        switch self {
        case .response(let status): "\(status.code)"
        case .failure(let failure): failure.name
        case .cancelled: "cancelled"
        }
    }
}
