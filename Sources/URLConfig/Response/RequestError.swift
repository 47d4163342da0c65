/// What is wrong with a request or its response.
///
/// ```swift
/// do {
///     let user: User = try await URLSession.shared.response(for: request).validated().decode()
/// } catch let error as RequestError where error.code == .unacceptableStatus {
///     show(error.response?.status)
/// }
/// ```
///
/// Transport failures are `URLError`, and a cancelled task throws `CancellationError`. What an app's own closures throw
/// is rethrown.
public struct RequestError: Error, Sendable {
    /// The kind of failure; an app adds its own as static members.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// A code of an app's own, with a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Host, path and query do not make a URL that may be requested.
        public static let invalidURL = Self(rawValue: "invalidURL")
        /// The method, a header field, the credentials, the body, the time limit or the session cannot be used.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// The response is not HTTP.
        public static let invalidResponse = Self(rawValue: "invalidResponse")
        /// The body is longer than ``Foundation/URLSession/Config/responseLimit``.
        public static let responseTooLarge = Self(rawValue: "responseTooLarge")
        /// A redirect leads to a URL that may not be requested, or is the twenty-first of a call.
        public static let refusedRedirect = Self(rawValue: "refusedRedirect")
        /// The time for the whole call, ``Foundation/URLSession/Config/deadline``, has passed.
        public static let deadlineExceeded = Self(rawValue: "deadlineExceeded")
        /// `load` or `refresh` of a ``TokenAuthenticator`` did not return in time.
        public static let authenticationTimedOut = Self(rawValue: "authenticationTimedOut")
        /// The server refused the credentials for good, or the request had none.
        public static let unauthorized = Self(rawValue: "unauthorized")
        /// The status is not accepted.
        public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")
        /// The content type is not accepted.
        public static let unacceptableContentType = Self(rawValue: "unacceptableContentType")
        /// The content cannot be decoded.
        public static let decoding = Self(rawValue: "decoding")
    }

    /// The kind of failure.
    public var code: Code
    /// What is wrong and what to do about it, without secrets.
    public var reason: String {
        get { shownRedaction.maskedByValue(text) + (diagnosis?.sentence ?? "") }
        set { (text, isDiagnosed) = (newValue, false) }
    }
    private var text: String
    /// Whether the content explains more when the error is shown.
    var isDiagnosed = false
    /// The request, if there is one yet.
    public var request: URLRequest?
    /// The response with its content, if there was one.
    public var response: DataResponse?
    /// What was sent until then.
    public var attempts: [Attempt] = []
    /// The error that caused this one.
    public var underlyingError: (any Error)?
    /// What the description hides.
    var redaction: Redaction?
    /// The same, or the default with what the request knows.
    var shownRedaction: Redaction {
        redaction ?? response?.shownRedaction ?? URLSession.Config.default.redaction.knowing(request)
    }

    /// An error, such as a validator of an app's own throws, from members that have the names of its properties.
    ///
    /// The reason is shown and logged: it must not contain a secret. The request is by default that of the response.
    public init(
        _ code: Code, reason: String, request: URLRequest? = nil, response: DataResponse? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        text = reason
        self.request = request ?? response?.request
        self.response = response
        self.underlyingError = underlyingError
        attempts = response?.attempts ?? []
        redaction = response?.redaction
    }

    /// Whether the request itself cannot be sent.
    var isUnsendable: Bool { [.invalidURL, .invalidRequest].contains(code) }

    static func refused(_ code: Code, _ reason: String, _ underlyingError: (any Error)? = nil) -> Self {
        Self(code, reason: reason, underlyingError: underlyingError is Reason ? nil : underlyingError)
    }
}

extension RequestError: CustomStringConvertible, LocalizedError, RedactedReflectable {
    /// Request, status, what is wrong and what to do, in one sentence; secrets are hidden.
    ///
    /// Lines of the content follow if it could not be decoded, and a line for each attempt if there were several.
    public var description: String {
        let redaction = shownRedaction
        let diagnosis = diagnosis
        var start = "\(code.rawValue): "
        if let request, !isUnsendable {
            start += request.summary(redaction) + (response.map { " answered \($0.status.code): " } ?? ": ")
        }
        let reason = (text + (diagnosis?.sentence ?? "")).escapingControls
        var text = ([start + reason] + (diagnosis?.lines ?? [])).joined(separator: "\n  ")
        text = redaction.maskedByValue(text)
        guard attempts.count > 1 || attempts.first?.reason != nil else { return text }
        return attempts.enumerated().reduce(text) { "\($0)\n  \($1.offset + 1). \($1.element)" }
    }

    /// The ``reason``, without the request and without lines of the content.
    public var errorDescription: String? { reason.escapingControls }
}
