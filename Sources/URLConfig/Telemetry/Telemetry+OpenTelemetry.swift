#if Telemetry

import Metrics
import Tracing

extension URLSession.Config.Telemetry: RequestObserver {
    private typealias Value = any SpanAttributeConvertible & CustomStringConvertible & Sendable

    /// The methods that are no `_OTHER`.
    private static let methods = knownMethods(ProcessInfo.processInfo.environment)

    static func knownMethods(_ environment: [String: String]) -> Set<String> {
        let own = environment["OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS"] ?? ""
        let standard = "CONNECT,DELETE,GET,HEAD,OPTIONS,PATCH,POST,PUT,QUERY,TRACE"
        // The specification of OpenTelemetry: an empty value is none.
        return Set((own.isEmpty ? standard : own).split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    }

    /// The version of each protocol (RFC 7301 §6).
    private static let versions = ["http/1.0": "1.0", "http/1.1": "1.1", "h2": "2", "h3": "3"]

    func begin(
        _ request: inout Transport.Request, resends: Int, route: () -> String?
    ) -> (@Sendable (RequestOutcome) -> Void)? {
        let (instrument, factory) = (InstrumentationSystem.instrument, MetricsSystem.factory)
        let hasMetrics = !(factory is NOOPMetricsHandler)
        guard hasMetrics || !(instrument is NoOpInstrument) else { return nil }
        let elapsed = request.conditions.clock.stopwatch()
        let redaction = request.conditions.redaction
        let (url, sent, route) = (request.urlRequest.url, request.urlRequest.httpMethod ?? "GET", route())
        let method = Self.methods.contains(sent) ? sent : "_OTHER"
        let origin = Origin(url)
        var shared: [String: Value] = ["http.request.method": method, "url.scheme": origin.scheme ?? ""]
        (shared["server.address"], shared["server.port"]) = (origin.host ?? "", origin.port ?? 0)
        shared["url.template"] = route

        let name = [method == "_OTHER" ? "HTTP" : method, route].compactMap(\.self).joined(separator: " ")
        let span = InstrumentationSystem.tracer.startSpan(name, ofKind: .client)
        if span.isRecording {
            var attributes = shared
            attributes["url.full"] = url.map { redaction.fullURL($0.absoluteString) }
            if method != sent { attributes["http.request.method_original"] = sent }
            if resends > 0 { attributes["http.request.resend_count"] = resends }
            span.add(attributes)
        }
        if request.allowsSessionCredentials || propagatesToOtherOrigins {
            instrument.inject(span.context, into: &request.urlRequest, using: FieldInjector())
        }
        return { [shared] outcome in
            var result: [String: Value] = [:]
            result["http.response.status_code"] = outcome.status?.code
            result["network.protocol.version"] = outcome.protocolName.flatMap { Self.versions[$0] }
            result["error.type"] = outcome.errorType
            if hasMetrics {
                // A backend may keep a timer for each array. The order of a dictionary is another one each time.
                let dimensions = shared.merging(result) { $1 }.sorted { $0.key < $1.key }.map { ($0, "\($1)") }
                Metrics.Timer(label: "http.client.request.duration", dimensions: dimensions, factory: factory)
                    .record(duration: elapsed())
            }
            if span.isRecording {
                span.add(result)
                if let failure = outcome.failure {
                    let text = redaction.masked(failure)
                    span.recordError(
                        ShownError(description: text), attributes: ["exception.type": "\(type(of: failure))"])
                    span.setStatus(.init(code: .error, message: text))
                } else if outcome.errorType != nil {
                    span.setStatus(.init(code: .error))
                }
            }
            span.end()
        }
    }
}

extension Span {
    fileprivate func add(_ values: [String: any SpanAttributeConvertible & CustomStringConvertible & Sendable]) {
        updateAttributes { attributes in
            for (name, value) in values { attributes.set(name, value: value.toSpanAttribute()) }
        }
    }
}

extension RequestOutcome {
    /// The error, unless nobody wanted the response any more.
    fileprivate var failure: (any Error)? { error is CancellationError ? nil : error }

    /// The value of `error.type`; `nil` for a success.
    fileprivate var errorType: String? {
        switch failure {
        // The conventions have a name for this.
        case let error as URLError where error.code == .timedOut: "timeout"
        case let error?: error.name
        case nil: status.flatMap { 100..<400 ~= $0.code ? nil : "\($0.code)" }
        }
    }
}

/// An error without secrets.
private struct ShownError: Error, CustomStringConvertible {
    let description: String
}

/// Adds the fields of a trace in place of the request's own.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey name: String, into request: inout URLRequest) {
        // Baggage may come from another service's request.
        guard HTTPField.Name(name) != nil, HTTPField.isValidValue(value) else { return }
        request.setValue(value, forHTTPHeaderField: name)
    }
}

extension Redaction {
    private static let named: Set = [
        "AWSAccessKeyId", "Signature", "sig", "X-Amz-Credential", "X-Amz-Security-Token", "X-Amz-Signature",
        "X-Goog-Signature",
    ]
    private static let word = "REDACTED"

    /// The value of `url.full`: a URL without secrets, with the conventions' own word for those that they name.
    fileprivate func fullURL(_ url: String) -> String {
        let text = self.url(url)
        guard var parts = URLComponents(string: text) else { return text }
        if parts.percentEncodedUser != nil { (parts.user, parts.password) = (Self.word, Self.word) }
        parts.percentEncodedQueryItems = parts.percentEncodedQueryItems?.map { item in
            let isNamed = item.value != nil && Self.named.contains(item.name.removingPercentEncoding ?? item.name)
            return isNamed ? URLQueryItem(name: item.name, value: Self.word) : item
        }
        return parts.string ?? text
    }
}

#endif
