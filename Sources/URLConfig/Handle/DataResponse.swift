/// A response with its content: validate it, then decode it.
///
/// ```swift
/// let article: Article = try response.validated().decode()
/// ```
public struct DataResponse: Sendable, CustomStringConvertible {
    /// The request as it was sent, credentials included.
    public var request: URLRequest
    /// The URL of the response, after redirects.
    public var url: URL?
    /// The status (RFC 9110 §15).
    public var status: HTTPResponse.Status
    /// The header fields.
    public var headerFields: HTTPFields
    /// The content.
    public var data: Data
    /// The time from the call of `response(for:)` until the response was complete, authorization and retries included.
    public var duration: Duration
    /// The attempts of the call, redirects and retries included; the last one received this response.
    public var attempts: [Attempt] = []
    /// Whether Foundation took the response from its local cache; always `false` on Linux, where no cache is used.
    public var fromCache = false
    /// The decoder of the call's configuration.
    var decoder: (any ResponseDecoder)?
    /// What is hidden where the response is shown; `nil` if no call received it.
    var redaction: Redaction?
    /// The redaction of the call, or the default one with the secrets of the request.
    var shownRedaction: Redaction { redaction ?? URLSession.Config.default.redaction.knowing(request) }
    /// The request without the authenticator's changes; set only if the server refused it.
    var requestAsMade: URLRequest?

    /// Creates a response, such as in a test or a fallback; the parameters are the properties of the same names.
    ///
    /// By default, the URL is that of the request.
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

    /// The status, the request and the size; secrets are hidden.
    ///
    /// For example `200 GET https://api.example.com/users, 1.2 kB of application/json`.
    public var description: String {
        let content = data.count.shownAsBytes + (contentType.map { " of \($0.essence)" } ?? "")
        return "\(status.code) \(request.summary(shownRedaction)), \(content)"
    }

    /// Whether the status is 2xx.
    public var isSuccess: Bool { status.kind == .successful }

    /// The media type that `Content-Type` names; `nil` if it is missing or malformed.
    public var contentType: MediaType? { headerFields[.contentType].flatMap { MediaType($0) } }

    /// The content for logs: formatted JSON, text, or `<n bytes image/png>`; secrets are hidden.
    ///
    /// ``text()`` returns the unchanged content.
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
