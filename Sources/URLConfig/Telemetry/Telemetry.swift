#if Telemetry

extension URLSession.Config {
    /// Spans and metrics of the requests that are sent, with the package trait `Telemetry`; by default, `nil`.
    ///
    /// ```swift
    /// URLSession.Config.default.telemetry = .openTelemetry        // before presets are made
    /// ```
    public var telemetry: Telemetry? {
        get { observer as? Telemetry }
        set { observer = newValue }
    }

    /// How requests are seen by the tracer of [swift-distributed-tracing](https://github.com/apple/swift-distributed-tracing)
    /// and the metrics backend of [swift-metrics](https://github.com/apple/swift-metrics) that the process has set up.
    ///
    /// Without these, a call does nothing for them.
    public struct Telemetry: Sendable, Hashable {
        /// Whether the fields of the trace are also sent to other origins, after a redirect or a server's link.
        let propagatesToOtherOrigins: Bool

        /// The conventions of OpenTelemetry for HTTP clients.
        ///
        /// Each request that is sent, even a retry, has:
        /// - a [span](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span), whose parent is
        ///   the current span of the caller,
        /// - a value of the histogram
        ///   [`http.client.request.duration`](https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#metric-httpclientrequestduration).
        ///
        /// Both end with the body of the response, or with the head if the caller reads the body in pieces. The fields
        /// of the trace, such as `traceparent`, replace the request's own. They stay with the origin of the request.
        /// Secrets in URLs and errors are hidden as ``Foundation/URLSession/Config/redaction`` says.
        ///
        /// The histogram is a `Timer`, whose backends convert it to seconds. The time is measured by
        /// ``Foundation/URLSession/Config/clock``.
        public static let openTelemetry = openTelemetry(propagatesToOtherOrigins: false)

        /// The same, with a choice of the servers that receive the fields of the trace.
        ///
        /// - Parameter propagatesToOtherOrigins: Whether requests to another origin, to which a redirect or a link of a
        ///   server has led, also have the fields of the trace.
        public static func openTelemetry(propagatesToOtherOrigins: Bool) -> Self {
            Self(propagatesToOtherOrigins: propagatesToOtherOrigins)
        }
    }
}

#endif
