#if AsyncHTTPClient

import Tracing

extension Transport.Request {
    /// Sends a request in a span of the process's tracer, if there is one.
    ///
    /// AsyncHTTPClient's own spans contain the whole URL, with its secrets. The attributes have the names of
    /// [OpenTelemetry](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client).
    ///
    /// - Parameters:
    ///   - complete: The request as it is sent.
    ///   - send: Receives the request with the fields of the trace, unless a redirect has left the origin.
    func traced(
        _ complete: URLRequest, _ send: (URLRequest) async throws -> Transport.Response
    ) async throws -> Transport.Response {
        let tracer = InstrumentationSystem.tracer
        if tracer is NoOpTracer { return try await send(complete) }
        let redaction = conditions.redaction
        let method = complete.httpMethod ?? "GET"
        let span = tracer.startSpan(method, ofKind: .client)
        defer { span.end() }
        span.attributes["http.request.method"] = method
        span.attributes["url.full"] = complete.url.map { redaction.url($0.absoluteString) }
        span.attributes["server.address"] = complete.url?.host()
        span.attributes["server.port"] = complete.url?.port
        var traced = complete
        if allowsSessionCredentials { tracer.inject(span.context, into: &traced, using: FieldInjector()) }
        do {
            let response = try await send(traced)
            span.attributes["http.response.status_code"] = response.status.code
            if response.status.code >= 400 { span.fail("\(response.status.code)") }
            return response
        } catch {
            span.fail("\(type(of: error as Any))")
            span.recordError(RecordedError(description: redaction.masked(error)))
            throw error
        }
    }
}

extension Span {
    fileprivate func fail(_ errorType: String) {
        attributes["error.type"] = errorType
        setStatus(.init(code: .error))
    }
}

/// An error without secrets.
private struct RecordedError: Error, CustomStringConvertible {
    let description: String
}

/// Adds the fields of a trace, unless the caller has set them.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey name: String, into request: inout URLRequest) {
        guard request.value(forHTTPHeaderField: name) == nil else { return }
        request.setValue(value, forHTTPHeaderField: name)
    }
}

#endif
