/// An error of a request or its response.
///
/// ```swift
/// do {
///     let user: User = try await URLSession.shared.response(for: request).validated().decode()
/// } catch let error as RequestError where error.code == .unacceptableStatus {
///     show(error.response?.status)
/// }
/// ```
///
/// `print` shows the request, the status and the ``reason`` without secrets. Lines of the content follow if it could
/// not be decoded, and a line for each attempt if there were several.
///
/// Transport failures are `URLError`, and a cancelled task throws `CancellationError`. Errors that the app's closures
/// throw are rethrown.
public struct RequestError: Error, Sendable {
    /// The kind of failure; an app adds codes as static members.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// Creates a code with a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The host, path and query do not form a URL that may be requested.
        public static let invalidURL = Self(rawValue: "invalidURL")
        /// The method, a header field, the credentials, the body, the time limit, the session, or the file of an upload
        /// or download cannot be used.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// The response is not HTTP, its link to the next page cannot be followed, its body was already read, or its
        /// events end too early.
        public static let invalidResponse = Self(rawValue: "invalidResponse")
        /// The body is longer than ``Foundation/URLSession/Config/responseLimit`` or the limit of `collect`, or a line
        /// or event of a stream is longer than 16 MB.
        public static let responseTooLarge = Self(rawValue: "responseTooLarge")
        /// A redirect leads to a URL that may not be requested, it is the 21st redirect of a call, or it needs the
        /// sequence of an upload again.
        public static let refusedRedirect = Self(rawValue: "refusedRedirect")
        /// The call took longer than ``Foundation/URLSession/Config/deadline``.
        public static let deadlineExceeded = Self(rawValue: "deadlineExceeded")
        /// `load` or `refresh` of a ``TokenAuthenticator`` did not return in time.
        public static let authenticationTimedOut = Self(rawValue: "authenticationTimedOut")
        /// The server refused the credentials, and there are no others; or the request had none.
        public static let unauthorized = Self(rawValue: "unauthorized")
        /// The status is not accepted.
        public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")
        /// The content type is not accepted.
        public static let unacceptableContentType = Self(rawValue: "unacceptableContentType")
        /// The content, or a line or an event of a stream, cannot be decoded.
        public static let decoding = Self(rawValue: "decoding")
    }

    private struct Values {
        var code: Code
        var text: String
        var isDiagnosed = false
        var readsMoreThanJSON = false
        var request: URLRequest?
        var response: DataResponse?
        var attempts: [Attempt]
        var underlyingError: (any Error)?
        var redaction: Redaction?
    }

    @Shared private var values: Values

    /// The kind of failure.
    public var code: Code {
        get { values.code }
        _modify { yield &values.code }
    }
    /// What is wrong and what to do; secrets are hidden.
    public var reason: String {
        get { shownRedaction.maskedByValue(values.text) + (diagnosis?.sentence ?? "") }
        set { (values.text, values.isDiagnosed) = (newValue, false) }
    }
    /// Whether the content is read to explain the error when it is shown.
    var isDiagnosed: Bool {
        get { values.isDiagnosed }
        _modify { yield &values.isDiagnosed }
    }
    /// Whether the decoder also reads content that is not JSON.
    var readsMoreThanJSON: Bool {
        get { values.readsMoreThanJSON }
        _modify { yield &values.readsMoreThanJSON }
    }
    /// The request; `nil` if it could not be built.
    public var request: URLRequest? {
        get { values.request }
        _modify { yield &values.request }
    }
    /// The response with its content, if there was one.
    public var response: DataResponse? {
        get { values.response }
        _modify { yield &values.response }
    }
    /// The attempts of the call before the error.
    public var attempts: [Attempt] {
        get { values.attempts }
        _modify { yield &values.attempts }
    }
    /// The error that caused this one.
    public var underlyingError: (any Error)? {
        get { values.underlyingError }
        _modify { yield &values.underlyingError }
    }
    /// Hides secrets where the error is shown.
    var redaction: Redaction? {
        get { values.redaction }
        _modify { yield &values.redaction }
    }
    /// The redaction of the call, or the default one with the secrets of the request.
    var shownRedaction: Redaction {
        redaction ?? response?.shownRedaction ?? request?.shownRedaction ?? URLSession.Config.default.redaction
    }

    // Inlined, it would be most of the machine code of each `throw`.
    /// Creates an error, such as in a custom validator; the parameters are the properties of the same names.
    ///
    /// The reason is shown and logged: it must not contain a secret. By default, the request is the response's.
    @inline(never)
    public init(
        _ code: Code, reason: String, request: URLRequest? = nil, response: DataResponse? = nil,
        underlyingError: (any Error)? = nil
    ) {
        values = Values(
            code: code, text: reason, request: request ?? response?.request, response: response,
            attempts: response?.attempts ?? [], underlyingError: underlyingError, redaction: response?.redaction)
    }

    /// Says where in the content it has happened, such as in a line of a stream.
    mutating func locate(_ place: String) { values.text = "\(place): \(values.text)" }

    /// Whether the request cannot be sent.
    var isUnsendable: Bool { [.invalidURL, .invalidRequest].contains(code) }

    /// - Parameter cause: Why; its words end the reason.
    @inline(never)
    static func refused(_ reason: String, because cause: (any Error)? = nil, code: Code = .invalidRequest) -> Self {
        guard let cause else { return Self(code, reason: reason) }
        return Self(code, reason: "\(reason) \(cause.summary)", underlyingError: cause is InvalidInput ? nil : cause)
    }
}

/// The protocol is internal, so that the errors get no public symbol.
protocol ExplainedError: LocalizedError {
    var explanation: String { get }
}

extension ExplainedError {
    /// What is wrong, without secrets.
    public var errorDescription: String? { explanation }
}

extension RequestError: ExplainedError, RedactedDescribable {
    var shownText: String {
        let redaction = shownRedaction
        let diagnosis = diagnosis
        var start = "\(code.rawValue): "
        if let request, !isUnsendable {
            start += request.summary(redaction) + (response.map { " (\($0.status.code)): " } ?? ": ")
        }
        let reason = (values.text + (diagnosis?.sentence ?? "")).escapingControls
        var text = ([start + reason] + (diagnosis?.lines ?? [])).joined(separator: "\n  ")
        text = redaction.maskedByValue(text)
        guard attempts.count > 1 || attempts.first?.reason != nil else { return text }
        return attempts.enumerated().reduce(text) { "\($0)\n  \($1.offset + 1). \($1.element)" }
    }

    /// The ``reason``, without the request and the lines of the content.
    var explanation: String { reason.escapingControls }
}

/// A request that a call has sent; a call that is redirected, retried or authorized again has several attempts.
///
/// ```swift
/// print(response.attempts.map(\.description))
/// // ["503 after 12 ms, waiting 3.0 s: Retry-After", "200 after 9 ms"]
/// ```
public struct Attempt: Sendable, RedactedDescribable {
    /// The status of the response; `nil` if there was none.
    public internal(set) var status: HTTPResponse.Status?
    /// The error, such as a `URLError`, if there was no response or the body of a download has broken off.
    public internal(set) var error: (any Error)?
    /// The time until the response was complete, or until now.
    public internal(set) var duration = Duration.zero
    /// What the cache did; `nil` if the call has none, or there was no response.
    public internal(set) var cacheStatus: CacheStatus?
    /// Why another attempt followed, or why none did, such as `waiting 3.0 s: Retry-After`; secrets are hidden.
    public var reason: String? { note.map { $0.shown(redaction ?? URLSession.Config.default.redaction) } }
    var note: Note?
    /// Hides secrets in the reason and the description.
    var redaction: Redaction?

    /// A reason, whose secrets are hidden only when it is shown: most reasons are never read.
    struct Note: Sendable {
        let text: String
        /// The beginning of the URL to which a server has redirected, which the text precedes.
        var url: String?

        func shown(_ redaction: Redaction) -> String {
            redaction.maskedByValue(text) + (url.map(redaction.quote(url:)) ?? "")
        }
    }

    var shownText: String {
        let redaction = redaction ?? URLSession.Config.default.redaction
        let outcomes = [status.map { "\($0.code)" }, error.map(redaction.masked)].compactMap { $0 }
        let outcome = outcomes.isEmpty ? "unfinished" : outcomes.joined(separator: ", ")
        let cache = cacheStatus.map { " (\($0))" } ?? ""
        return "\(outcome)\(cache) after \(duration.shown)" + (note.map { ", " + $0.shown(redaction) } ?? "")
    }
}
