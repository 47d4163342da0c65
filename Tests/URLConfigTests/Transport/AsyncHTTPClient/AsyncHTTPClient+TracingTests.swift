#if AsyncHTTPClient

import AsyncHTTPClient
import InMemoryTracing
import Testing
import Tracing

@testable import URLConfig

/// What a tracer of the process sees.
///
/// Each test runs in a separate process, because a process has one tracer.
@Suite(.timeLimit(.minutes(10))) struct AsyncHTTPClientTracingTests {
    @Test func `each attempt has a span, without secrets`() async throws {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            try await FaultServer.serving(.ok("{}")) { server in
                for path in ["/plain", "/query?page=2", "/secret?api_key=k-123456", "/value/t-123456"] {
                    var request = server.request()
                    request.url = URL(string: server.host + path)
                    request.setValue("Bearer t-123456", forHTTPHeaderField: "Authorization")
                    try await server.response(for: request, config: .server)
                }
                let paths = ["/plain", "/query?page=2", "/secret?api_key=***", "/value/***"]
                #expect(tracer.texts("url.full") == paths.map { server.host + $0 })
                #expect(tracer.texts("http.request.method") == Array(repeating: "GET", count: 4))
                #expect(tracer.texts("server.address") == Array(repeating: "127.0.0.1", count: 4))
                #expect(tracer.attributes("http.response.status_code") == Array(repeating: .int64(200), count: 4))
                #expect(!"\(tracer.finishedSpans)".contains("123456"))
            }
        }
    }

    @Test func `the server receives the fields of the trace, and spans belong to the caller's`() async throws {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            try await FaultServer.serving(.ok("{}")) { server in
                _ = try await withSpan("job") { _ in try await server.get("/", config: .server) }
                let (attempt, job) = (tracer.finishedSpans.first, tracer.finishedSpans.last)
                #expect(attempt?.operationName == "GET")
                #expect(attempt?.kind == .client)
                #expect(attempt?.traceID == job?.traceID)
                #expect(attempt?.parentSpanID == job?.spanID)
                let field = InMemoryTracer.spanIDKey
                #expect(server.requests.first?.field(field) == attempt?.spanID)
                var request = server.request()
                request.setValue("own", forHTTPHeaderField: field)
                try await server.response(for: request, config: .server)
                #expect(server.requests.last?.field(field) == "own")
            }
        }
    }

    @Test func `the fields of the trace stay with the origin of the request`() async throws {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            try await Origins.serving { origins in
                let way = origins.a.hop(to: origins.b.hop(to: origins.a.host))
                try await origins.a.response(for: origins.a.request(to: way), config: .server)
                #expect(origins.seen.map(\.origin) == ["a", "a", "b", "a"])
                let ids = origins.seen.map { $0.field(InMemoryTracer.spanIDKey) }
                #expect(ids == tracer.finishedSpans.prefix(2).map(\.spanID) + [nil, nil])
                #expect(tracer.finishedSpans.count == 4)
            }
        }
    }

    @Test func `a failed attempt has its status or its error in the span`() async throws {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            let busy = FaultServer.Fault.raw("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            try await FaultServer.serving(.first(1, busy, then: .empty)) { server in
                for _ in 0..<2 {
                    var config = URLSession.Config.server
                    config.retry = .none
                    _ = try? await server.get("/?api_key=k-123456", config: config)
                }
                let leaking = Transport { request in
                    var request = request
                    request.body = .stream(length: nil) { throw LeakingError() }
                    return try await Transport.asyncHTTPClient.send(request)
                }
                _ = try? await server.get("/?api_key=k-123456", config: .server) { $0.transport = leaking }
                let spans = tracer.finishedSpans
                #expect(spans.map { $0.status?.code } == [.error, .error, .error])
                #expect(tracer.texts("error.type") == ["503", "URLError", "LeakingError"])
                #expect(spans.map(\.errors.count) == [0, 1, 1])
                #expect(!"\(spans)".contains("k-123456"))
            }
        }
    }

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
}

private struct LeakingError: Error, CustomStringConvertible {
    var description: String { "the key k-123456 is wrong" }
}

extension InMemoryTracer {
    fileprivate func attributes(_ name: String) -> [SpanAttribute?] { finishedSpans.map { $0.attributes.get(name) } }

    fileprivate func texts(_ name: String) -> [String?] {
        attributes(name).map { if case .string(let text) = $0 { text } else { nil } }
    }
}

#endif
