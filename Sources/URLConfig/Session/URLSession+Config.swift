import Logging

extension URLSession {
    /// How a request is sent: a value to keep as a preset and to change for each call.
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
        /// Whether the ``authenticator`` authorizes the request and a refusal is an error.
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
        /// Called once when the credentials are refused for good, before ``RequestError/Code/unauthorized`` is thrown.
        ///
        /// Use it to sign the user out. For a ``TokenAuthenticator`` it is called only if its own token was refused or
        /// it had none, not for another host or for a request with an `Authorization` of its own.
        public var onUnauthorized: (@Sendable (DataResponse) async -> Void)?
        /// The checks of the response, in order.
        public var validators: [ResponseValidator] = []
        /// Decodes responses; if it is not set, ``DataResponse/Config/defaultDecoder``.
        public var decoder: any ResponseDecoder {
            get { customDecoder ?? DataResponse.Config.defaultDecoder }
            set { customDecoder = newValue }
        }
        private(set) var customDecoder: (any ResponseDecoder)?
        /// Whether and when a failed request is sent again.
        public var retry = RetryPolicy.none
        /// The time for the whole call, from authorization to the validators; `nil`, the default, for no limit.
        ///
        /// Then ``RequestError/Code/deadlineExceeded`` is thrown, even if an authenticator or a validator does not
        /// return. With zero or less, nothing is sent.
        public var deadline: Duration?
        /// Whether redirects are followed.
        public var redirects = RedirectPolicy.follow
        /// The most bytes of a body, decompressed; `nil`, the default, for no limit.
        ///
        /// A longer body throws ``RequestError/Code/responseTooLarge`` with what was received.
        public var responseLimit: Int?
        /// Returns a response, such as a stored one, in place of an error.
        ///
        /// It is not called if the task is cancelled or the request cannot be sent. What it throws is thrown instead.
        /// No validator checks its response. It has the rest of the ``deadline``, and at least one second.
        public var fallback: (@Sendable (_ error: any Error, _ request: URLRequest) async throws -> DataResponse)?
        /// Receives traffic and failures; `nil` for no log.
        public var logger: Logger? {
            get { customLogger ?? Self.standardLogger }
            set { customLogger = .some(newValue) }
        }
        fileprivate var customLogger: Logger??
        // Made when it is first needed, and not with the defaults: what makes a LogHandler may make a Config(), too.
        private static let standardLogger = Logger.networking
        /// How much of a body is logged: `true`, the default, for 4,096 bytes, `false` or a number of bytes.
        public var logBody: LogBody = true
        /// What is hidden in logs and errors.
        public var redaction = Redaction.standard
        /// The delegate of the task, asked before that of the session.
        ///
        /// It is asked about challenges, redirects and new body streams, and receives the progress of uploads. On Apple
        /// platforms it receives everything but the response, the data and the completion.
        public var taskDelegate: (any URLSessionTaskDelegate)?
        /// Carries requests to servers: by default the session.
        ///
        /// Another transport, such as a stub in a test, does not use the ``taskDelegate`` and the session's delegate.
        public var transport = Transport.urlSession
        /// Measures the ``deadline``, the request's time limit and delays; tests set another one.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// A copy of ``default`` as it is now.
        ///
        /// A preset that is a `static let` copies it when it is first used; replace defaults before that.
        public init() {
            self = Self.default
        }

        private init(standard: Void) {}

        static let defaults = Locked(Defaults(config: Self(standard: ())))

        /// The preset of each call that names none and has none for its host, and what `Config()` copies.
        ///
        /// May be set at any time, from any thread; calls under way keep what they began with.
        public static var `default`: Self {
            get { defaults.withLock { $0.config } }
            set { defaults.set(\.config, newValue) }
        }
    }
}

extension URLSession.Config {
    /// How much of a body is logged: `true`, `false` or a number of bytes.
    public struct LogBody: Sendable, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
        let bytes: Int

        /// The first 4,096 bytes, or nothing.
        public init(booleanLiteral value: Bool) { bytes = value ? 4096 : 0 }

        /// The most bytes that are logged.
        public init(integerLiteral value: Int) { bytes = value }
    }

    /// Whether a refusal of the credentials is an error of this call.
    var throwsUnauthorized: Bool {
        authorize && (authenticator != nil || onUnauthorized != nil || hasOwnIsUnauthorized)
    }

    /// The ``logger`` of ``default``; `nil` silences every call that names none.
    public static var defaultLogger: Logger? {
        get { Self.default.logger }
        set { defaults.set(\.config.customLogger, .some(newValue)) }
    }

    /// The ``taskDelegate`` of ``default``.
    public static var defaultTaskDelegate: (any URLSessionTaskDelegate)? {
        get { Self.default.taskDelegate }
        set { defaults.set(\.config.taskDelegate, newValue) }
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
            ("responseLimit", responseLimit), ("logBody", logBody.bytes),
        ]
    }
}
