import Testing
import URLConfigTesting

@testable import URLConfig

/// What is told of each request that is sent.
@Suite(.inTime, .silentByDefault) struct RequestObserverTests {
    /// Records what begins and what ends.
    private final class Observer: RequestObserver {
        struct Begin: Equatable {
            var path = ""
            var route: String?
            var resends = 0
        }

        let begun = Recorder<Begin>()
        let ended = Recorder<RequestOutcome>()

        func begin(
            _ request: inout Transport.Request, resends: Int, route: () -> String?
        ) -> (@Sendable (RequestOutcome) -> Void)? {
            begun.note(.init(path: request.urlRequest.url?.path() ?? "", route: route(), resends: resends))
            return { [ended] in ended.note($0) }
        }

        /// The statuses, or the errors as text.
        var summary: [String] {
            ended.entries.map { outcome in
                let error = outcome.error.map { ($0 as? RequestError)?.code.rawValue ?? "\(type(of: $0))" }
                return [outcome.status.map { "\($0.code)" }, error].compactMap(\.self).joined(separator: " ")
            }
        }
    }

    private let observer = Observer()
    private var config: URLSession.Config {
        .silent.with { $0.observer = observer }
    }

    private static let busy = FaultServer.Fault.raw(
        "HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    @Test(arguments: [
        (FaultServer.Fault.ok("{}"), "200"), (.truncated, "200 URLError"),
        (.ok("longer than twenty bytes"), "200 responseTooLarge"),
        (busy, "503"), (.garbage, "URLError"),
    ]) func `the end has the status, and what has ended the body`(fault: FaultServer.Fault, outcome: String)
        async throws
    {
        try await FaultServer.serving(fault) { server in
            _ = try? await server.get(config: config) { $0.responseLimit = 20 }
            try await waitUntil { observer.ended.count > 0 }
            #expect(observer.summary.last == outcome)
            // A lost connection may have been tried again.
            #expect(observer.begun.count == observer.ended.count)
        }
    }

    @Test func `an observer that blocks does not hold up the thread that ends a body`() async throws {
        struct Blocking: RequestObserver {
            let gate = DispatchSemaphore(value: 0)

            func begin(
                _ request: inout Transport.Request, resends: Int, route: () -> String?
            ) -> (@Sendable (RequestOutcome) -> Void)? {
                { [gate] _ in gate.wait() }
            }
        }
        let (observer, body, finished) = (Blocking(), ReceivedBody(), Recorder<Void>())
        let reports = Recorder<TransferProgress>()
        body.receive(Data("{}".utf8))
        let call = Task {
            try await URLSession.shared.response(for: .with(.init(host: "https://h.example")), config: .silent) {
                ($0.observer, $0.transport) = (observer, Transport { _ in .init(body: ResponseBody(body)) })
                $0.progress = { reports.note($0) }
            }
        }
        // The call reads.
        try await waitUntil { reports.entries.last?.bytesReceived == 2 }
        DispatchQueue.global().async {
            body.finish()
            finished.note(())
        }
        try await waitUntil { finished.count == 1 }
        #expect(try await call.valueInTime.data.count == 2)
        observer.gate.signal()
    }

    @Test func `of a stream, the end is its head`() async throws {
        try await FaultServer.serving(.hangInBody) { server in
            let stream = try await server.session.stream(for: server.request(), config: config)
            #expect(observer.summary == ["200"])
            withExtendedLifetime(stream) {}
        }
        #expect(observer.ended.count == 1)
    }

    @Test(arguments: [FaultServer.Fault.hangBeforeHead, .hangInBody])
    func `a cancelled call ends with its cancellation`(fault: FaultServer.Fault) async throws {
        try await FaultServer.serving(fault) { server in
            let call = Task { try await server.get(config: config) }
            try await waitUntil { server.requests.count == 1 }
            await call.expectCancelled()
        }
        try await waitUntil { observer.ended.count > 0 }
        #expect(observer.ended.entries.map { $0.error is CancellationError } == [true])
    }

    /// A transport that sends this body.
    private func respond(_ body: @escaping @Sendable () -> ResponseBody) -> Transport {
        Transport { _ in .init(body: body()) }
    }

    @Test func `bodies in memory, in pieces and released ones have one end`() async throws {
        let (pieces, continuation) = AsyncThrowingStream.makeStream(of: Data.self)
        continuation.yield(Data("a".utf8))
        try await stubs.get(.text("a"))
        _ = try await stubs.get(nil, config: config) { $0.transport = respond { .init(Data("a".utf8)) } }
        let call = Task { [config] in
            try await stubs.get(nil, config: config) { $0.transport = respond { .init(pieces) } }
        }
        try await waitUntil { observer.begun.count == 2 }
        #expect(observer.summary == ["200"])
        continuation.finish(throwing: URLError(.networkConnectionLost))
        await #expect(throws: URLError.self) { try await call.valueInTime }
        try await waitUntil { observer.summary == ["200", "200 URLError"] }

        let body = Locked<ResponseBody?>(.init(AsyncThrowingStream<Data, any Error> { nil }))
        let ends = Recorder<Bool>()
        body.withLock { $0?.received.onEnd { _ in ends.note(false) } }
        body.set(\.self, nil)
        #expect(ends.count == 1)
        let ended = ReceivedBody(Data())
        ended.onEnd { ends.note((try? $0.get()) != nil) }
        ended.cancel()
        #expect(ends.entries == [false, true])
    }

    @Test func `each request of a call is counted`() async throws {
        try await Origins.serving { origins in
            let way = origins.a.hop(to: origins.b.hop(to: origins.a.host + "/end"))
            try await origins.a.response(for: origins.a.request(to: way), config: config)
        }
        #expect(observer.begun.entries.map(\.resends) == [0, 1, 2, 3])
        #expect(observer.summary == ["302", "302", "302", "200"])
        try await FaultServer.serving(.first(1, Self.busy, then: .ok("{}"))) { server in
            try await server.get(config: config) { $0.retry = .standard.quick }
        }
        #expect(observer.begun.entries.suffix(2).map(\.resends) == [0, 1])
        #expect(observer.summary.suffix(2) == ["503", "200"])
    }

    @Test func `a stored response is not sent, and a validation in the background is`() async throws {
        let (clock, cache) = (TestClock(), HTTPCache.memory(megabytes: 1))
        @Sendable func get() async throws {
            try await stubs.get(nil, config: config) {
                ($0.clock, $0.cache) = (clock, cache)
                $0.transport = Transport { _ in
                    .init(
                        headerFields: [.cacheControl: "max-age=10, stale-while-revalidate=60"],
                        body: .init(Data("a".utf8)))
                }
            }
        }
        for _ in 0..<3 { try await get() }
        #expect(observer.summary == ["200"])
        await clock.advance(by: .seconds(20))
        try await get()
        await cache.finishRevalidations()
        #expect(observer.summary == ["200", "200"])
        #expect(observer.begun.entries == [.init(), .init()])
    }

    @Test func `a shared transfer is one request`() async throws {
        let (gate, request) = (Gate(), URLRequest.with { $0.url = URL(string: "https://api.test/\(UUID())") })
        var config = config
        config.coalesces = true
        config.transport = Transport { _ in
            await gate.pass()
            return .init(body: .init(Data("a".utf8)))
        }
        let calls = (0..<20).map { _ in
            Task { [config] in try await stubs.response(for: request, config: config) }
        }
        try await waitUntil { SharedTransfer.waiters(for: request.url) == 20 }
        gate.open()
        for call in calls { #expect(try await call.valueInTime.data == Data("a".utf8)) }
        #expect(observer.summary == ["200"])
    }

    @Test(arguments: [false, true], [false, true])
    func `the deadline of a call is the error of its request, even if it could be shared`(
        coalesces: Bool, hasHead: Bool
    ) async throws {
        let (gate, clock) = (Gate(), TestClock())
        let request = URLRequest.with { $0.url = URL(string: "https://api.test/\(UUID())") }
        let pieces = AsyncThrowingStream<Data, any Error> {
            await gate.pass()
            return nil
        }
        let transport = Transport { _ in
            if !hasHead { await gate.pass() }
            return .init(body: .init(pieces))
        }
        let call = Task { [config] in
            try await stubs.response(for: request, config: config) {
                ($0.coalesces, $0.clock, $0.deadline, $0.transport) = (coalesces, clock, .seconds(5), transport)
            }
        }
        await gate.waitForArrivals()
        clock.move(by: .seconds(5))
        await expectError(.deadlineExceeded) { try await call.valueInTime }
        try await waitUntil { observer.ended.count > 0 }
        #expect(observer.summary == [hasHead ? "200 deadlineExceeded" : "deadlineExceeded"])
        gate.open()
    }

    /// The route of the call, the routes of the preset, the path, and which route is told.
    @Test(
        arguments: [
            (nil, [], "/users/7", nil), ("/users/{id}", [], "/users/7", "/users/{id}"),
            ("/users/{id}?page={page}", ["/users/{name}"], "/users/7", "/users/{id}"),
            (nil, ["/users/me", "/users/{id}", "/{any}/{id}"], "/users/7", "/users/{id}"),
            (nil, ["/users/{id}", "/users/me"], "/users/me", "/users/{id}"),
            (nil, ["/users/{id}"], "/users/7/posts", nil), (nil, ["/users/{id}"], "/users", nil),
            (nil, ["/users/{id}"], "/users/", nil), (nil, ["/files/*"], "/files/a/b", "/files/*"),
            (nil, ["/a b/{c}#x", "/"], "/a%20b/c%2Fd", "/a b/{c}"), (nil, ["/", "/x"], "", "/"),
            (nil, ["users/{id}", "/{id}/{id}", "/{id", "/x{id}", "/{a}/{b}"], "/users/7", "/{a}/{b}"),
        ] as [(String?, [String], String, String?)])
    func `a request has the route of the call, or else the first of the preset that fits`(
        route: String?, routes: [String], path: String, expected: String?
    ) async throws {
        var config = config
        (config.route, config.routes, config.logger) = (route, routes, nil)
        config.transport = respond { .init() }
        try await stubs.response(for: URLRequest(url: URL(string: stubs.host + path)!), config: config)
        #expect(observer.begun.entries.map(\.route) == [expected])
        #expect(config.routes == routes)
    }

    @Test(arguments: [("/a?page=2", "/a"), ("/b", "/{table}"), ("https://other.test/a", "/{table}")])
    func `the route of the call names no other path after a redirect`(target: String, route: String) async throws {
        try await stubs.get("/a", config: config) {
            ($0.route, $0.routes) = ("/a", ["/{table}"])
            $0.transport = Transport { request in
                request.urlRequest.url?.absoluteString == "https://api.test/a"
                    ? .init(status: .found, headerFields: [.location: target]) : .init()
            }
        }
        #expect(observer.begun.entries.map(\.route) == ["/a", route])
    }

    @Test func `a typed request has its route`() async throws {
        let requests = [
            TypedRequest<String>.with(stubs.config, route: "/users/{id}") { $0.path = "/users/7" },
            .init(stubs.request("/users/8"), route: "/users/{id}", reader: .text), .with(stubs.config) { _ in },
        ]
        for request in requests {
            _ = try await stubs.session.value(for: request, config: config) {
                $0.route = $0.route ?? "/none"
                $0.transport = respond { .init(Data("a".utf8)) }
            }
        }
        try await stubs.session.value(
            for: TypedRequest<Void>.with(stubs.config, route: "/void") { _ in }, config: config
        ) {
            $0.transport = respond { .init() }
        }
        #expect(observer.begun.entries.map(\.route) == ["/users/{id}", "/users/{id}", "/none", "/void"])
    }
}
