#if Telemetry

import InMemoryTracing
import Metrics
import MetricsTestKit
import Testing
import Tracing
import URLConfigTesting

@testable import URLConfig

#if AsyncHTTPClient
import AsyncHTTPClient
#endif

/// Which requests continue a trace, what is hidden, and what a backend is not told.
@Suite(.inTime) struct TelemetryTests {
    private static let config = URLSession.Config.silent.with { $0.telemetry = .openTelemetry }
    private static let key = InMemoryTracer.spanIDKey

    /// A transport that responds at once, and what it has sent.
    private let sent = Recorder<URLRequest>()
    private var transport: Transport {
        Transport { [sent] request in
            sent.note(request.urlRequest)
            return .init(body: .init(Data("a".utf8)))
        }
    }

    @Test func `each attempt has the fields of its own span, once, in place of the request's`() async throws {
        let busy = FaultServer.Fault.raw("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        try await FaultServer.serving(.first(2, busy, then: .ok("{}"))) { server in
            try await InMemoryTelemetry.observing { telemetry in
                var request = server.request()
                request.setValue("own", forHTTPHeaderField: Self.key.uppercased())
                try await server.response(for: request, config: Self.config) { $0.retry = .standard.quick }
                let ids = telemetry.spans.map(\.spanID)
                #expect(Set(ids).count == 3)
                #expect(server.requests.map { $0.field(Self.key) } == ids)
                #expect(server.requests.allSatisfy { $0.head.lowercased().ranges(of: Self.key).count == 1 })
            }
        }
    }

    @Test(
        arguments: [
            (nil, "CONNECT,DELETE,GET,HEAD,OPTIONS,PATCH,POST,PUT,QUERY,TRACE"),
            ("", "CONNECT,DELETE,GET,HEAD,OPTIONS,PATCH,POST,PUT,QUERY,TRACE"), ("BREW, GET", "BREW,GET"),
        ] as [(String?, String)])
    func `the environment names the known methods, and an empty list is none`(list: String?, methods: String) {
        let environment = list.map { ["OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS": $0] } ?? [:]
        let known = URLSession.Config.Telemetry.knownMethods(environment)
        #expect(known.sorted().joined(separator: ",") == methods)
    }

    @Test(arguments: [false, true])
    func `other origins receive the fields of the trace only if they may`(isAllowed: Bool) async throws {
        try await Origins.serving { origins in
            try await InMemoryTelemetry.observing { telemetry in
                let way = origins.a.hop(to: origins.b.hop(to: origins.a.host))
                try await origins.a.response(for: origins.a.request(to: way), config: Self.config) {
                    if isAllowed { $0.telemetry = .openTelemetry(propagatesToOtherOrigins: true) }
                }
                #expect(origins.seen.map(\.origin) == ["a", "a", "b", "a"])
                let ids = telemetry.spans.map { Optional($0.spanID) }
                #expect(ids.count == 4)
                #expect(origins.seen.map { $0.field(Self.key) } == (isAllowed ? ids : ids.prefix(2) + [nil, nil]))
            }
        }
    }

    @Test func `a value that is no field of HTTP is not sent`() async throws {
        let hostile = InMemoryTracer.IDGenerator(nextTraceID: { "1\r\nX-Evil: 1" }, nextSpanID: { "7" })
        try await InMemoryTelemetry.observing(InMemoryTracer(idGenerator: hostile)) { _ in
            try await stubs.get(nil, config: Self.config) { $0.transport = transport }
        }
        #expect(sent.entries.map { $0.value(forHTTPHeaderField: InMemoryTracer.traceIDKey) } == [nil])
        #expect(sent.entries.map { $0.value(forHTTPHeaderField: Self.key) } == ["7"])
    }

    @Test func `each of a thousand calls at once has its own parent`() async throws {
        try await InMemoryTelemetry.observing { telemetry in
            try await concurrently(1000) { _ in
                try await withSpan("job") { _ in
                    _ = try await stubs.get(nil, config: Self.config) {
                        ($0.transport, $0.deadline) = (transport, .seconds(60))
                    }
                }
            }
            let (jobs, attempts) = (
                telemetry.spans.filter { $0.operationName == "job" }, telemetry.spans.filter { $0.kind == .client }
            )
            #expect(attempts.count == 1000)
            #expect(Set(attempts.map(\.parentSpanID)) == Set(jobs.map { Optional($0.spanID) }))
            #expect(Set(attempts.map(\.traceID)) == Set(jobs.map(\.traceID)))
            #expect(Set(sent.entries.map { $0.value(forHTTPHeaderField: Self.key) }) == Set(attempts.map(\.spanID)))
            #expect(telemetry.durations.values.map(\.count) == [1000])
        }
    }

    @Test func `a validation in the background belongs to the span of its caller, and a shared transfer, too`()
        async throws
    {
        let (clock, cache) = (TestClock(), HTTPCache.memory(megabytes: 1))
        let request = URLRequest.with { $0.url = URL(string: "https://api.test/\(UUID())") }
        @Sendable func get(_ job: String) async throws {
            try await withSpan(job) { _ in
                _ = try await stubs.response(for: request, config: Self.config) {
                    ($0.clock, $0.cache, $0.coalesces) = (clock, cache, true)
                    $0.transport = Transport { _ in
                        .init(
                            headerFields: [.cacheControl: "max-age=10, stale-while-revalidate=60"],
                            body: .init(Data("a".utf8)))
                    }
                }
            }
        }
        try await InMemoryTelemetry.observing { telemetry in
            try await get("first")
            await clock.advance(by: .seconds(20))
            try await get("second")
            await cache.finishRevalidations()
            let jobs = telemetry.spans.filter { $0.kind != .client }.map { Optional($0.spanID) }
            #expect(jobs.count == 2)
            #expect(telemetry.spans.filter { $0.kind == .client }.map(\.parentSpanID) == jobs)
        }
    }

    @Test func `the clock of the call measures the duration, in nanoseconds`() async throws {
        let clock = TestClock()
        try await InMemoryTelemetry.observing { telemetry in
            let call = Task {
                try await stubs.get(nil, config: Self.config) {
                    $0.clock = clock
                    $0.transport = Transport { request in
                        try await request.conditions.clock.sleep(for: .seconds(2))
                        return .init()
                    }
                }
            }
            await clock.waitForSleepers()
            await clock.advance(by: .seconds(2))
            _ = try await call.valueInTime
            #expect(Array(telemetry.durations.values) == [[2_000_000_000]])
        }
    }

    struct OwnError: Error, CustomStringConvertible {
        var description: String { "the key k-123456 is wrong" }
    }

    /// What ends a request, the value of `error.type`, and the status.
    @Test(
        arguments: [
            (URLError(.timedOut), "timeout"), (URLError(.cannotFindHost), "cannotFindHost"),
            (URLError(.unsupportedURL), "URLError(\(URLError.Code.unsupportedURL.rawValue))"), (OwnError(), "OwnError"),
            (RequestError(.invalidResponse, reason: "k-123456"), "invalidResponse"), (CancellationError(), nil),
        ] as [(any Error, String?)])
    func `an error has a type and a text without secrets`(error: any Error, type: String?) async throws {
        for isInBody in [false, true] {
            try await InMemoryTelemetry.observing { telemetry in
                _ = try? await stubs.get("/?api_key=k-123456", config: Self.config) {
                    $0.transport = Transport { _ in
                        guard isInBody else { throw error }
                        return .init(body: .init(AsyncThrowingStream<Data, any Error> { throw error }))
                    }
                }
                try await waitUntil { telemetry.spans.count == 1 }
                let span = telemetry.spans[0]
                #expect(span.texts["error.type"] == type)
                #expect(span.texts["http.response.status_code"] == (isInBody ? "200" : nil))
                #expect(span.status?.code == type.map { _ in .error })
                #expect(span.errors.count == (type == nil ? 0 : 1))
                #expect(span.errors.allSatisfy { "\($0.error)" == span.status?.message })
                #expect(telemetry.durations.keys.map { $0["error.type"] } == [type])
                #expect(!telemetry.shown.contains("123456"))
            }
        }
    }

    @Test(arguments: [(99, "99"), (100, nil), (399, nil), (400, "400"), (999, "999")] as [(Int, String?)])
    func `a status that is no success is an error`(status: Int, type: String?) async throws {
        try await InMemoryTelemetry.observing { telemetry in
            try await stubs.get(nil, config: Self.config) {
                $0.transport = Transport { _ in .init(status: .init(code: status)) }
            }
            #expect(telemetry.spans.map { $0.texts["error.type"] } == [type])
        }
    }

    @Test func `a deadline that passes is an error, also in the body`() async throws {
        let clock = TestClock()
        try await FaultServer.serving(.hangInBody) { server in
            try await InMemoryTelemetry.observing { telemetry in
                let call = Task {
                    try await server.get(config: Self.config) { ($0.clock, $0.deadline) = (clock, .seconds(5)) }
                }
                try await waitUntil { server.requests.count == 1 }
                await clock.advance(by: .seconds(5))
                await expectError(.deadlineExceeded) { try await call.valueInTime }
                try await waitUntil { telemetry.spans.count == 1 }
                #expect(telemetry.spans[0].texts["error.type"] == "deadlineExceeded")
            }
        }
    }

    @Test(arguments: [Redaction.standard, .none])
    func `nothing that is exported contains a secret of a request`(redaction: Redaction) async throws {
        let canary = "c4n4ry-123456"
        try await InMemoryTelemetry.observing { telemetry in
            var request = URLRequest(
                url: URL(string: "https://\(canary):\(canary)@api.test/a/\(canary)?%73ig=\(canary)&token=\(canary)")!)
            request.setValue("Bearer \(canary)", forHTTPHeaderField: "Authorization")
            for status in [200, 500, 0] {
                _ = try? await stubs.response(for: request, config: Self.config) {
                    $0.redaction = redaction
                    $0.route = "/a/{id}?x=\(canary)"
                    $0.transport = Transport { _ in
                        if status == 0 { throw URLError(.timedOut, userInfo: [NSLocalizedDescriptionKey: canary]) }
                        return .init(status: .init(code: status))
                    }
                }
            }
            let urls = telemetry.spans.map { $0.texts["url.full"] ?? "" }
            #expect(urls.count == 3)
            #expect(urls.allSatisfy { $0.hasPrefix("https://REDACTED:REDACTED@api.test/a/") })
            #expect(urls.allSatisfy { $0.contains("?%73ig=REDACTED&token=") })
            // Without redaction, only what the conventions forbid is hidden.
            #expect(telemetry.shown.contains(canary) == (redaction == .none))
        }
    }

    @Test func `without a backend, nothing is done`() async throws {
        var request = Transport.Request(for: stubs.request())
        let end = URLSession.Config.Telemetry.openTelemetry.begin(&request, resends: 0) {
            Issue.record("The route is not needed.")
            return nil
        }
        #expect(end == nil)
        try await stubs.get(nil, config: Self.config) { $0.transport = transport }
        #expect(sent.entries.first?.allHTTPHeaderFields ?? [:] == request.urlRequest.allHTTPHeaderFields ?? [:])
        #expect(Self.config.telemetry == .openTelemetry)
        #expect(URLSession.Config.silent.telemetry == nil)
    }

    @Test func `one backend is enough`() async throws {
        let (tracer, metrics) = (InMemoryTracer(), TestMetrics())
        func get() async throws { _ = try await stubs.get(nil, config: Self.config) { $0.transport = transport } }
        try await withTracer(tracer) { try await get() }
        #expect(tracer.finishedSpans.count == 1)
        #expect(metrics.timers.isEmpty)
        try await withMetricsFactory(metrics) { try await get() }
        #expect(tracer.finishedSpans.count == 1)
        #expect(metrics.timers.map(\.values.count) == [1])
        // A backend may keep a timer for each array of them.
        #expect(metrics.timers.allSatisfy { $0.dimensions.map(\.0) == $0.dimensions.map(\.0).sorted() })
        #expect(sent.entries.map { $0.value(forHTTPHeaderField: Self.key) != nil } == [true, false])
    }

    @Test func `an app may name the methods that it knows`() async throws {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            setenv("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS", "GET, BREW", 1)
            try await InMemoryTelemetry.observing { telemetry in
                for method in ["GET", "BREW", "PATCH"] {
                    var request = URLRequest(url: URL(string: "https://api.test")!)
                    request.httpMethod = method
                    try await URLSession.shared.response(for: request) {
                        ($0.telemetry, $0.logger) = (.openTelemetry, nil)
                        $0.transport = Transport { _ in .init() }
                    }
                }
                #expect(telemetry.spans.map(\.operationName) == ["GET", "BREW", "HTTP"])
            }
        }
    }

    #if AsyncHTTPClient
    @Test func `a client that has a tracer is refused, because its spans would contain secrets`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            try await HTTPClient.lending {
                $0.tracing.tracer = InMemoryTracer()
            } _: { client in
                await #expect(throws: RequestError.self) { try await server.get("/", config: .onServer(client)) }
                #expect(server.requests.isEmpty)
            }
        }
    }
    #endif
}

#endif
