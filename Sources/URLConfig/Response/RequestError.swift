/// What went wrong with a request: one that cannot be built, or an answer that is not what was asked for.
///
/// ```swift
/// do {
///     let user: User = try await URLSession.shared.response(for: request).validated().decode()
/// } catch let error as RequestError where error.code == .unacceptableStatus {
///     show(error.response?.status)
/// }
/// ```
///
/// Not of this type: transport failures, which stay `URLError`; the end of a cancelled task, which is always
/// `CancellationError`; what the caller's own closures throw.
public struct RequestError: Error, Sendable {
    /// What kind of failure it is.
    ///
    /// Open: an app adds its own as static members.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// A code of an app's own.
        ///
        /// - Parameter rawValue: Its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The host, path or query gives no URL that may be requested.
        public static let invalidURL = Self(rawValue: "invalidURL")
        /// A header field, credentials included, cannot be sent.
        public static let invalidHeaderField = Self(rawValue: "invalidHeaderField")
        /// The method is none that HTTP can have.
        public static let invalidMethod = Self(rawValue: "invalidMethod")
        /// The body cannot be encoded, or the method has no place for it.
        public static let invalidBody = Self(rawValue: "invalidBody")
        /// The time limit is not more than zero.
        public static let invalidTimeout = Self(rawValue: "invalidTimeout")
        /// The session is one for background transfers, which cannot be used here.
        public static let unsupportedSession = Self(rawValue: "unsupportedSession")
        /// The answer is no HTTP response.
        public static let invalidResponse = Self(rawValue: "invalidResponse")
        /// The body is longer than ``Foundation/URLSession/Config/responseLimit``.
        public static let responseTooLarge = Self(rawValue: "responseTooLarge")
        /// A redirect leads to no place that may be requested.
        public static let refusedRedirect = Self(rawValue: "refusedRedirect")
        /// More than twenty redirects, one after the other.
        public static let tooManyRedirects = Self(rawValue: "tooManyRedirects")
        /// The time for the whole call, ``Foundation/URLSession/Config/deadline``, is up.
        public static let deadlineExceeded = Self(rawValue: "deadlineExceeded")
        /// An authenticator got no credentials in time: `load` or `refresh` of a ``TokenAuthenticator`` did not return.
        public static let authenticationTimedOut = Self(rawValue: "authenticationTimedOut")
        /// The server refused the credentials for good, or the request had none.
        public static let unauthorized = Self(rawValue: "unauthorized")
        /// The status is not one of those asked for.
        public static let unacceptableStatus = Self(rawValue: "unacceptableStatus")
        /// The content type is not one of those asked for.
        public static let unacceptableContentType = Self(rawValue: "unacceptableContentType")
        /// The content is not what was to be read from it.
        public static let decoding = Self(rawValue: "decoding")
    }

    /// Where on its way a request failed.
    public enum Stage: Sendable, Hashable {
        /// While the request was put together; nothing was sent.
        case building
        /// While it was sent and answered.
        case executing
        /// While the answer was checked.
        case validating
        /// While the answer was read.
        case decoding
    }

    /// What kind of failure it is.
    public var code: Code
    /// Where on its way the request failed.
    public var stage: Stage
    /// What is wrong and what to do about it, without secrets.
    public var reason: String {
        get { shownRedaction.maskedByValue(text) + (diagnosis?.sentence ?? "") }
        set { (text, isDiagnosed) = (newValue, false) }
    }
    private var text: String
    /// Whether the content is looked at for more words, whenever the error is shown.
    var isDiagnosed = false
    /// The request, if there is one yet.
    public var request: URLRequest?
    /// The answer, body included, if there was one.
    public var response: DataResponse?
    /// What was sent until then; empty if nothing was.
    public var attempts: [Attempt] = []
    /// The error that caused this one.
    public var underlyingError: (any Error)?
    /// What the description hides.
    var redaction: Redaction?
    /// The same, or the default with what the request knows.
    var shownRedaction: Redaction {
        redaction ?? response?.shownRedaction ?? URLSession.Config.default.redaction.knowing(request)
    }

    /// An error, such as a validator of an app's own throws.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - stage: Where on its way the request failed.
    ///   - reason: What is wrong and what to do about it. It is shown and logged as it is, so it must hold no secret.
    ///   - request: The request; at first that of the response.
    ///   - response: The answer.
    ///   - underlyingError: The error that caused this one.
    public init(
        _ code: Code, stage: Stage, reason: String, request: URLRequest? = nil, response: DataResponse? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.stage = stage
        text = reason
        self.request = request ?? response?.request
        self.response = response
        self.underlyingError = underlyingError
        attempts = response?.attempts ?? []
        redaction = response?.redaction
    }

    static func refused(_ code: Code, _ reason: String, _ underlyingError: (any Error)? = nil) -> Self {
        Self(code, stage: .building, reason: reason, underlyingError: underlyingError is Reason ? nil : underlyingError)
    }
}

extension RequestError: CustomStringConvertible, LocalizedError, CustomReflectable {
    /// One sentence: request, status, what is wrong and what to do; of a content that could not be decoded then the
    /// lines around the place; then a line for each attempt, if there were several or the budget refused another one.
    ///
    /// Secrets are hidden.
    public var description: String {
        let redaction = shownRedaction
        let diagnosis = diagnosis
        let reason = self.text + (diagnosis?.sentence ?? "")
        var text = "\(code.rawValue): "
        if let request, stage != .building {
            text += request.summary(redaction) + (response.map { " answered \($0.status.code): " } ?? ": ")
        }
        text = ([text + reason.escapingControls] + (diagnosis?.lines ?? [])).joined(separator: "\n  ")
        text = redaction.maskedByValue(text)
        guard attempts.count > 1 || attempts.first?.reason != nil else { return text }
        return attempts.enumerated().reduce(text) { "\($0)\n  \($1.offset + 1). \($1.element)" }
    }

    /// The ``reason``, without the request and without lines of the content.
    public var errorDescription: String? { reason.escapingControls }

    /// What `dump` and debuggers see: as much as is printed.
    public var customMirror: Mirror {
        let redaction = shownRedaction
        return .shown(
            self, ("code", code.rawValue), ("stage", stage), ("reason", reason),
            ("request", request?.summary(redaction)), ("response", response), ("attempts", attempts),
            ("underlyingError", underlyingError.map(redaction.masked)))
    }
}
