#if Telemetry

import InMemoryTracing
import Metrics
import MetricsTestKit
import Tracing

/// A tracer and a metrics backend in memory, for the calls of one test.
struct InMemoryTelemetry {
    private let tracer: InMemoryTracer
    private let metrics = TestMetrics()

    @discardableResult
    static func observing<Value>(
        _ tracer: InMemoryTracer = InMemoryTracer(), _ body: (InMemoryTelemetry) async throws -> Value
    ) async throws -> Value {
        let telemetry = Self(tracer: tracer)
        return try await withTracer(tracer) {
            try await withMetricsFactory(telemetry.metrics) { try await body(telemetry) }
        }
    }

    /// The spans that have ended, in order.
    var spans: [FinishedInMemorySpan] { tracer.finishedSpans }

    /// The values of the histogram, by their attributes.
    var durations: [[String: String]: [Int64]] {
        metrics.timers(label: "http.client.request.duration").reduce(into: [:]) { all, timer in
            all[Dictionary(uniqueKeysWithValues: timer.dimensions)] = timer.values
        }
    }

    /// Everything that would be exported.
    var shown: String { "\(tracer.finishedSpans) \(metrics)" }
}

extension FinishedInMemorySpan {
    /// The attributes as text.
    var texts: [String: String] {
        var texts: [String: String] = [:]
        func add(_ name: String, _ value: SpanAttribute) {
            switch value {
            case .string(let text): texts[name] = text
            case .int64(let number): texts[name] = "\(number)"
            default: texts[name] = "\(value)"
            }
        }
        attributes.forEach(add)
        return texts
    }
}

#endif
