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
    @Test func `a request has a span, unless its URL has a secret`() async throws {
        await #expect(processExitsWith: .success) {
            try await FaultServer.serving(.ok("{}")) { server in
                // Its client exists before the tracer.
                try await server.get("/untraced", config: .server)
                let tracer = InMemoryTracer()
                InstrumentationSystem.bootstrap(tracer)
                for path in ["/plain", "/query?page=2", "/secret?api_key=k-123456", "/value/t-123456"] {
                    var request = server.request()
                    request.url = URL(string: server.host + path)
                    request.setValue("Bearer t-123456", forHTTPHeaderField: "Authorization")
                    try await server.response(for: request, config: .server)
                }
                #expect(tracer.paths == ["/plain", "/query"])
                #expect(server.requests.count == 5)
            }
        }
    }

    @Test func `a client of one's own has a tracer only if its owner sets one`() async throws {
        await #expect(processExitsWith: .success) {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            try await FaultServer.serving(.ok("{}")) { server in
                try await HTTPClient.lending { try await server.get("/no", config: .onServer($0)) }
                #expect(tracer.paths.isEmpty)
                try await HTTPClient.lending {
                    $0.tracing.tracer = tracer
                } _: {
                    try await server.get("/yes", config: .onServer($0))
                }
                #expect(tracer.paths == ["/yes"])
            }
        }
    }
}

extension InMemoryTracer {
    /// The paths of the URLs in all spans.
    fileprivate var paths: [String?] {
        finishedSpans.map { span in
            guard case .string(let path) = span.attributes.get("url.path") else { return nil }
            return path
        }
    }
}

#endif
