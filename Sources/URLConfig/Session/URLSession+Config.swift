import Logging

extension URLSession {
    /// How a request is sent: a plain value, to be kept as a preset and changed for each call.
    ///
    /// ```swift
    /// extension URLSession.Config {
    ///     static let api = Self().with {
    ///         $0.authenticator = SessionAuthenticator.shared
    ///         $0.validators = [.success]
    ///     }
    /// }
    /// let response = try await URLSession.shared.response(for: request, config: .api) { $0.authorize = false }
    /// ```
    public struct Config: Sendable {
        /// Whether this request is sent with the ``authenticator``'s credentials, and a refusal is an error.
        ///
        /// `false` is for sign-in and public endpoints.
        public var authorize = true
        /// Puts credentials on the request.
        public var authenticator: (any Authenticator)?
        /// Whether a response means that the credentials were refused: by default, if its status is 401.
        ///
        /// Without ``authenticator``, ``onUnauthorized`` or a function set here, a 401 is a response like any other.
        public var isUnauthorized: @Sendable (DataResponse) -> Bool = { $0.status == .unauthorized } {
            didSet { hasOwnIsUnauthorized = true }
        }
        private var hasOwnIsUnauthorized = false
        /// Called once when the credentials are refused for good, such as to sign the user out, before
        /// ``RequestError/Code/unauthorized`` is thrown.
        ///
        /// A ``TokenAuthenticator`` calls it only for its own token or the lack of one: not if the request went to
        /// another host, or had an `Authorization` of its own.
        public var onUnauthorized: (@Sendable (DataResponse) async -> Void)?
        /// Checks of the response, in order.
        public var validators: [ResponseValidator] = []
        /// Whether and when a request that failed is sent again.
        public var retry = RetryPolicy.none
        /// The time for the whole call, from authorization to the validators; `nil`, the default, for no limit.
        ///
        /// When it has passed, ``RequestError/Code/deadlineExceeded`` is thrown, even if an authenticator or a
        /// validator does not return. With zero or less, nothing is sent.
        public var deadline: Duration?
        /// Whether redirects are followed.
        public var redirects = RedirectPolicy.follow
        /// The most bytes of a body, decompressed; `nil`, the default, for no limit.
        ///
        /// Beyond it, ``RequestError/Code/responseTooLarge`` is thrown, with what came until then.
        public var responseLimit: Int?
        /// The last resort: a response, such as a stored one, in place of an error.
        ///
        /// It receives what the call would throw, unless the task is cancelled or the request cannot be sent. What it
        /// throws is thrown instead. No validator sees its response. It has the time that is left of the ``deadline``,
        /// and at least one second.
        public var fallback: (@Sendable (_ error: any Error, _ request: URLRequest) async throws -> DataResponse)?
        /// Where traffic and failures are written; `nil` for nowhere.
        public var logger: Logger? {
            get { customLogger ?? Self.standardLogger }
            set { customLogger = .some(newValue) }
        }
        fileprivate var customLogger: Logger??
        // Made when it is first needed, and not with the defaults: what makes a LogHandler may make a Config(), too.
        private static let standardLogger = Logger.networking
        /// The most bytes of a body that are logged; zero for none.
        public var logBody = 4096
        /// What is hidden in logs and errors.
        public var redaction = Redaction.standard
        /// The caller's own delegate of the task, asked before that of the session.
        ///
        /// On every platform it is asked about challenges, redirects and body streams that are needed again, and told
        /// of bytes that were sent; on Apple platforms of all but the response, the data and the completion.
        public var taskDelegate: (any URLSessionTaskDelegate)?
        /// What carries requests to servers: by default the session itself.
        ///
        /// Another one, such as a stub in a test, has no use for the ``taskDelegate`` and the session's delegate.
        public var transport = Transport.urlSession
        /// What measures ``deadline``, the request's time limit and waits; another one is for tests.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// A copy of ``default`` as it is now.
        ///
        /// A preset that is a `static let` copies it when it is first used; replace defaults before that.
        public init() {
            self = Self.default
        }

        private init(standard: Void) {}

        private static let defaults = Locked(Self(standard: ()))

        /// What each call starts from that names no preset, and what `Config()` copies.
        ///
        /// May be replaced at any time, from any thread; calls under way keep what they began with.
        public static var `default`: Self {
            get { defaults.withLock { $0 } }
            set { defaults.set(\.self, newValue) }
        }
    }
}

extension URLSession.Config {
    /// Whether a refusal of the credentials is an error of this call.
    var throwsUnauthorized: Bool {
        authorize && (authenticator != nil || onUnauthorized != nil || hasOwnIsUnauthorized)
    }

    /// The ``logger`` of ``default``: `nil` silences every call that names none.
    public static var defaultLogger: Logger? {
        get { Self.default.logger }
        set { defaults.set(\.customLogger, .some(newValue)) }
    }

    /// The ``taskDelegate`` of ``default``.
    public static var defaultTaskDelegate: (any URLSessionTaskDelegate)? {
        get { defaults.withLock { $0.taskDelegate } }
        set { defaults.set(\.taskDelegate, newValue) }
    }

    /// A copy with changes.
    ///
    /// - Parameter configure: Makes the changes. What it throws is rethrown.
    public func with<Failure: Error>(_ configure: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
        var config = self
        try configure(&config)
        return config
    }
}

extension URLSession.Config: RedactedReflectable {
    /// An authenticator may contain tokens: only its type is shown.
    var shownChildren: [(String, Any?)] {
        [
            ("authorize", authorize), ("authenticator", authenticator.map { "\(type(of: $0))" }),
            ("validators", validators.count), ("retry", retry), ("deadline", deadline), ("redirects", redirects),
            ("responseLimit", responseLimit), ("logBody", logBody),
        ]
    }
}
