/// A response with its content: validate it, then decode it.
///
/// ```swift
/// let article: Article = try response.validated().decode()
/// ```
///
/// `print` shows `200 GET https://api.example.com/users, 1.2 kB of application/json`, without secrets.
public struct DataResponse: Sendable {
    private struct Values {
        var request: URLRequest
        var url: URL?
        var status: HTTPResponse.Status
        var headerFields: HTTPFields
        var data: Data
        var duration: Duration
        var attempts: [Attempt] = []
        var fromCache = false
        var cacheStatus: CacheStatus?
        var decoder: (any ResponseDecoder)?
        var redaction: Redaction?
        var requestAsMade: URLRequest?
    }

    @Shared private var values: Values

    /// The request as it was sent, credentials included.
    public var request: URLRequest {
        get { values.request }
        _modify { yield &values.request }
    }
    /// The URL of the response, after redirects.
    public var url: URL? {
        get { values.url }
        _modify { yield &values.url }
    }
    /// The status (RFC 9110 §15).
    public var status: HTTPResponse.Status {
        get { values.status }
        _modify { yield &values.status }
    }
    /// The header fields.
    public var headerFields: HTTPFields {
        get { values.headerFields }
        _modify { yield &values.headerFields }
    }
    /// The content.
    public var data: Data {
        get { values.data }
        _modify { yield &values.data }
    }
    /// The time from the call of `response(for:)` until the response was complete, authorization and retries included.
    public var duration: Duration {
        get { values.duration }
        _modify { yield &values.duration }
    }
    /// The attempts of the call, redirects and retries included; the last one received this response.
    ///
    /// If the response comes from the ``Foundation/URLSession/Config/fallback``, they are the ones that failed.
    public var attempts: [Attempt] {
        get { values.attempts }
        _modify { yield &values.attempts }
    }
    /// Whether the content comes from a cache, even if the server has validated it.
    ///
    /// It is the cache of the call (``Foundation/URLSession/Config/cache``) or, on Apple platforms, of the session.
    public var fromCache: Bool {
        get { values.fromCache }
        _modify { yield &values.fromCache }
    }
    /// What the cache of the call did; `nil` if it has none.
    public var cacheStatus: CacheStatus? {
        get { values.cacheStatus }
        _modify { yield &values.cacheStatus }
    }
    /// The decoder of the call's configuration.
    var decoder: (any ResponseDecoder)? {
        get { values.decoder }
        _modify { yield &values.decoder }
    }
    /// Hides secrets where the response is shown; `nil` if no call received it.
    var redaction: Redaction? {
        get { values.redaction }
        _modify { yield &values.redaction }
    }
    /// The redaction of the call, or the default one with the secrets of the request.
    var shownRedaction: Redaction { redaction ?? request.shownRedaction }
    /// The request without the authenticator's changes; set only if the server refused it.
    var requestAsMade: URLRequest? {
        get { values.requestAsMade }
        _modify { yield &values.requestAsMade }
    }

    /// Creates a response, such as in a test or a fallback; the parameters are the properties of the same names.
    ///
    /// The URL is by default the request's.
    public init(
        request: URLRequest, url: URL? = nil, status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:],
        data: Data = Data(), duration: Duration = .zero
    ) {
        values = Values(
            request: request, url: url ?? request.url, status: status, headerFields: headerFields, data: data,
            duration: duration)
    }

    var shownText: String {
        let content = data.count.shownAsBytes + (contentType.map { " of \($0.essence)" } ?? "")
        return "\(status.code) \(request.summary(shownRedaction)), \(content)"
    }

    /// Whether the status is 2xx.
    public var isSuccess: Bool { status.kind == .successful }

    /// The media type that `Content-Type` names; `nil` if it is missing or malformed.
    ///
    /// Several fields with the same value count as one (RFC 9110 §8.3).
    public var contentType: MediaType? { headerFields.single(.contentType).flatMap { MediaType($0) } }

    /// The content for logs: formatted JSON, text, or `<n bytes image/png>`; secrets are hidden.
    ///
    /// ``text(encoding:)`` returns the unchanged content.
    public var bodyString: String { shownRedaction.body(data, contentType) }
}

extension DataResponse: RedactedDescribable {
    var shownChildren: [(String, Any?)] {
        let redaction = shownRedaction
        return [
            ("status", status.code), ("request", request.summary(redaction)),
            ("url", redaction.url(url?.absoluteString ?? "")), ("headerFields", redaction.masked(headerFields)),
            ("data", redaction.body(data, contentType, limit: 4096)), ("duration", duration), ("attempts", attempts),
        ]
    }
}
