/// A whole response: check it first, then decode it.
///
/// ```swift
/// let article: Article = try response.validated().decode()
/// ```
public struct DataResponse: Sendable, CustomStringConvertible {
    /// The request as it was sent, credentials included.
    public var request: URLRequest
    /// Where the response came from, after redirects.
    public var url: URL?
    /// The status (RFC 9110 §15).
    public var status: HTTPResponse.Status
    /// The header fields.
    public var headerFields: HTTPFields
    /// The content.
    public var data: Data
    /// From the call of `response(for:)` until the response was complete, authorization and retries included.
    public var duration: Duration
    /// What was sent, redirects and retries included; the last one received this response.
    public var attempts: [Attempt] = []
    /// Whether Foundation took the response from its local cache; always `false` on Linux, where no cache is used.
    public var fromCache = false
    /// The decoder of the call's configuration.
    var decoder: (any ResponseDecoder)?
    /// What ``bodyString`` hides; `nil` if no call received the response.
    var redaction: Redaction?
    /// The same, or the default with what the request knows.
    var shownRedaction: Redaction { redaction ?? URLSession.Config.default.redaction.knowing(request) }
    /// The request without what an authenticator put on it; only if the server refused it.
    var requestAsMade: URLRequest?

    /// A response, such as a test, a validator or a fallback makes.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - url: Where it comes from; by default the URL of the request.
    ///   - status: The status.
    ///   - headerFields: The header fields.
    ///   - data: The content.
    ///   - duration: How long it took.
    public init(
        request: URLRequest, url: URL? = nil, status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:],
        data: Data = Data(), duration: Duration = .zero
    ) {
        self.request = request
        self.url = url ?? request.url
        self.status = status
        self.headerFields = headerFields
        self.data = data
        self.duration = duration
    }

    /// Status, request and size, such as `200 GET https://api.example.com/users, 1.2 kB of application/json`; secrets
    /// are hidden.
    public var description: String {
        let content = data.count.shownAsBytes + (contentType.map { " of \($0.essence)" } ?? "")
        return "\(status.code) \(request.summary(shownRedaction)), \(content)"
    }

    /// Whether the status is 2xx.
    public var isSuccess: Bool { status.kind == .successful }

    /// The media type that `Content-Type` names; `nil` if it is missing or malformed.
    public var contentType: MediaType? { headerFields[.contentType].flatMap { MediaType($0) } }

    /// The content for people: formatted JSON, text, or `<n bytes image/png>`; secrets are hidden.
    ///
    /// ``text()`` is the content as it is.
    public var bodyString: String { shownRedaction.body(data, contentType) }
}

extension DataResponse: RedactedReflectable {
    var shownChildren: [(String, Any?)] {
        let redaction = shownRedaction
        return [
            ("status", status.code), ("request", request.summary(redaction)),
            ("url", redaction.url(url?.absoluteString ?? "")), ("headerFields", redaction.masked(headerFields)),
            ("data", redaction.body(data, contentType, limit: 4096)), ("duration", duration), ("attempts", attempts),
        ]
    }
}
