#if AsyncHTTPClient && Telemetry && os(Linux)

import InMemoryLogging
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import Tracing
import URLConfig

/// Sends requests to the service, and checks what comes back.
struct Demo {
    private let service: URLRequest.Config
    private let standIns: StandIns
    private let log: InMemoryLogHandler
    private let tracer: InMemoryTracer
    private let metrics: TestMetrics

    static func run() async throws {
        let (log, tracer, metrics) = (InMemoryLogHandler(), InMemoryTracer(), TestMetrics())
        InstrumentationSystem.bootstrap(tracer)
        MetricsSystem.bootstrap(metrics)
        var logger = Logger(label: "demo") { _ in log }
        logger.logLevel = .debug
        Service.prepare(logger)
        try await StandIns.run { hosts in
            let router = ArticleRouter(upstreams: Upstreams(hosts)).router
            try await Server(router, logger: logger).run { host in
                let demo = Demo(
                    service: .init(host: host), standIns: hosts.standIns, log: log, tracer: tracer, metrics: metrics)
                try await demo.showAll()
            }
        }
        print("\nEverything is right.")
    }

    private func showAll() async throws {
        try await show("Two services, one response", article: 7, status: .ok, lines: 5)
        try await show("A service is busy, and says when to try again", article: 10, status: .ok, lines: 7)
        try await show("There is no such article", article: 999, status: .notFound, lines: 3)
        try await show("A service is too slow", article: 13, status: .gatewayTimeout, lines: 5)

        print("\nThe token is revoked, then a hundred requests arrive at once")
        let issued = await standIns.issuedTokens
        await standIns.revokeToken()
        try await withThrowingTaskGroup { group in
            for number in 0..<100 { group.addTask { try await page(21 + number % 9, "parallel", .ok) } }
            try await group.waitForAll()
        }
        let refreshes = await standIns.issuedTokens - issued
        await print("  100 responses with status 200, after \(standIns.refusals) refusals and \(refreshes) refresh")
        guard refreshes == 1 else { throw Surprise("There were \(refreshes) refreshes instead of one.") }
        try showDurations()
    }

    /// Shows how many durations of requests for authors a metrics backend has received.
    private func showDurations() throws {
        print("\nThe histogram http.client.request.duration, for authors")
        let template = [("url.template", "/authors/{id}")]
        let timers = metrics.timers(label: "http.client.request.duration", dimensions: template)
        guard !timers.isEmpty else { throw Surprise("There are no durations.") }
        for timer in timers {
            let dimensions = timer.dimensions.sorted { $0.0 < $1.0 }.map { "\($0)=\($1)" }
            print("  \(timer.values.count) with \(dimensions.joined(separator: " "))")
        }
    }

    /// Requests an article, and shows the response, what the service has logged, and the spans of its requests.
    ///
    /// - Parameter lines: How many messages with the ID of the request must be in the log.
    private func show(_ title: String, article: Int, status: HTTPResponse.Status, lines: Int) async throws {
        tracer.clearFinishedSpans()
        let id = "demo-\(article)"
        print("\n\(title)\n  GET /articles/\(article) with X-Request-ID: \(id)")
        let response = try await page(article, id, status)
        try print("  \(response.status.code) \(response.text())\n  The log of \(id):")
        let entries = log.entries.filter { $0.metadata["hb.request.id"] == .string(id) }
        for entry in entries {
            let details = ["url", "status", "duration", "error"].compactMap { name in
                entry.metadata[name].map { "\(name)=\($0)" }
            }
            print("    \(entry.message) \(details.joined(separator: " "))")
        }
        print("  The spans of the requests to other services:")
        let spans = tracer.finishedSpans.filter { $0.kind == .client && $0.attributes.get("url.template") != nil }
        guard !spans.isEmpty else { throw Surprise("There are no spans.") }
        for span in spans {
            var attributes: [String] = []
            func add(_ name: String, _ value: SpanAttribute) { attributes.append("\(name)=\(value.shown)") }
            span.attributes.forEach(add)
            print("    \(span.operationName) \(attributes.sorted().joined(separator: " "))")
        }
        guard entries.count == lines else { throw Surprise("There are \(entries.count) lines instead of \(lines).") }
    }

    @discardableResult
    private func page(_ article: Int, _ id: String, _ status: HTTPResponse.Status) async throws -> DataResponse {
        let request = URLRequest.with(service) {
            $0.path = "/articles/\(article)"
            $0.headers[.requestID] = id
        }
        let response = try await URLSession.service.response(for: request)
        guard response.status == status, response.headerFields[.requestID] == id else {
            throw Surprise("This response should have status \(status.code): \(response)")
        }
        guard status == .ok else { return response }
        let page: Page = try response.decode()
        guard page.id == article, page.author == "Author \(article % 20)" else {
            throw Surprise("This is another article: \(page)")
        }
        return response
    }
}

extension SpanAttribute {
    /// Text and numbers without their type.
    fileprivate var shown: String {
        switch self {
        case .string(let text): text
        case .int64(let number): "\(number)"
        default: "\(self)"
        }
    }
}

/// Something that is not as it should be.
private struct Surprise: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

#endif
