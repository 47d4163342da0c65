import Logging

extension URLSession {
    /// The settings of a call, to keep as a preset and to change for single calls.
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
        /// Whether the ``authenticator`` authorizes the request and a refusal of the credentials throws an error.
        ///
        /// Set `false` for sign-in and for public endpoints.
        public var authorize = true
        /// Adds credentials to the request.
        public var authenticator: (any Authenticator)?
        /// Whether a response refuses the credentials: by default, if its status is 401.
        ///
        /// If neither this, ``authenticator`` nor ``onUnauthorized`` is set, a 401 is a response like any other. For
        /// streams and downloads, it is called with a response without content.
        public var isUnauthorized: @Sendable (DataResponse) -> Bool = { $0.status == .unauthorized } {
            didSet { hasOwnIsUnauthorized = true }
        }
        private var hasOwnIsUnauthorized = false
        /// Called once if there are no new credentials, before ``RequestError/Code/unauthorized`` is thrown.
        ///
        /// Use it to remove what the app has stored of the user, and to show the sign-in screen. With a
        /// ``TokenAuthenticator``, it is called only if its token was refused or it has none. It is not called for
        /// another host or for a request that already had an `Authorization`. If `refresh` has returned `nil`, the
        /// authenticator has already signed the user out, so `setToken(nil)` is not necessary.
        ///
        /// ```swift
        /// $0.onUnauthorized = { _ in
        ///     TokenStore.shared.grant = nil
        ///     try? await HTTPCache.api.removeAll()
        ///     await showSignIn()
        /// }
        /// ```
        public var onUnauthorized: (@Sendable (DataResponse) async -> Void)?
        /// The checks of the response, in order.
        ///
        /// For streams and downloads, a 2xx response has no content when it is checked. Other responses have at most
        /// the first megabyte.
        public var validators: [ResponseValidator] = []
        /// Decodes responses, by default as ``default`` does, or else ``DataResponse/Config/defaultDecoder``.
        public var decoder: any ResponseDecoder {
            get { customDecoder ?? Self.defaultDecoder }
            set { customDecoder = newValue }
        }
        private(set) var customDecoder: (any ResponseDecoder)?
        /// The decoder where nobody has set one.
        static var defaultDecoder: any ResponseDecoder { own(\.customDecoder) ?? DataResponse.Config.defaultDecoder }
        /// Whether and when a failed request is sent again.
        public var retry = RetryPolicy.none
        /// The time for the whole call, from authorization to the validators; `nil`, the default, for no limit.
        ///
        /// When it passes, ``RequestError/Code/deadlineExceeded`` is thrown, even if an authenticator or a validator
        /// does not return. With zero or less, nothing is sent. For `stream(for:)` it also limits the body, and for
        /// `events(for:)` only the time until the head of each response. When it has passed, one more second is for
        /// a stale response of the ``cache``, and at least one for a ``fallback``.
        public var deadline: Duration?
        /// Whether redirects are followed.
        public var redirects = RedirectPolicy.follow
        /// Stores responses and uses them again; `nil`, the default, for no cache.
        ///
        /// Downloads, `events(for:)` and requests with own conditions or a `Range` do not use it. Calls with this cache
        /// do not use the session's `urlCache`.
        public var cache: HTTPCache?
        /// Whether equal requests that are sent at the same time share one transfer; by default `false`.
        ///
        /// <doc:Caching> says which requests are equal, and which are never shared, such as streams and calls with
        /// ``progress`` or ``taskDelegate``. Each call keeps its deadline, its retries, its validators and its decoder.
        /// If the transfer fails, all these calls fail. The transfer ends when the last call that waits for it is
        /// cancelled. If a ``Transport`` of yours adds credentials, make one for each user.
        public var coalesces = false
        /// The maximum number of bytes of a body after decompression; `nil`, the default, for no limit.
        ///
        /// A longer body throws ``RequestError/Code/responseTooLarge``, which contains the bytes up to the limit. But a
        /// redirect is followed, and a failure is retried, however long its body is.
        public var responseLimit: Int?
        /// Returns a response, such as a stored one, instead of an error.
        ///
        /// It is not called if the task is cancelled or the request cannot be sent, and not for downloads and
        /// `events(for:)`. If it throws, the call throws that error. No validator checks its response. It has the rest
        /// of the ``deadline``, at least one second.
        public var fallback: (@Sendable (_ error: any Error, _ request: URLRequest) async throws -> DataResponse)?
        /// Logs requests, responses and errors, by default as ``default`` does; `nil` for no log.
        public var logger: Logger? {
            get { customLogger ?? Self.own(\.customLogger) ?? Self.standardLogger }
            set { customLogger = .some(newValue) }
        }
        fileprivate var customLogger: Logger??
        // Its handler comes from `LoggingSystem`. It is created when it is first needed, not with the defaults, because
        // the initializer of a LogHandler may create a Config().
        static let standardLogger = Logger(label: "networking")
        /// How much of a body is logged: `true` (the default, 4,096 bytes), `false`, or a number of bytes.
        ///
        /// By default as ``default`` says when a call begins. With `false`, errors in the log do not quote the content.
        /// Of an error that was decoded from it, only the type is shown.
        public var logBody: LogBody {
            get { customLogBody ?? Self.own(\.customLogBody) ?? true }
            set { customLogBody = newValue }
        }
        private var customLogBody: LogBody?
        /// The secrets that are hidden in logs and errors, by default as ``default`` says.
        ///
        /// The names that the redaction of ``default`` adds always count: a field with one of them is a credential in
        /// redirects and in the cache, even with ``Redaction/none``.
        public var redaction: Redaction {
            get {
                let ofDefault = Self.own(\.customRedaction) ?? .standard
                return (customRedaction?.including(ofDefault) ?? ofDefault).including(.ofCredentials)
            }
            set { customRedaction = newValue }
        }
        /// In a call, with the names of the default.
        private(set) var customRedaction: Redaction?

        /// The delegate of the task, which has priority over the session's delegate.
        ///
        /// On Apple platforms it receives every callback, such as challenges, except the response, the data, the
        /// completion, redirects and requests for a new body stream. On Linux it receives the progress of uploads.
        /// ``redirects`` decides about redirects, and `upload(_:for:)` opens bodies again.
        public var taskDelegate: (any URLSessionTaskDelegate)?
        /// Sends requests to servers, by default with the session.
        ///
        /// Another transport, such as a stub in a test, does not use ``taskDelegate`` or the session's delegate.
        public var transport = Transport.urlSession
        /// Receives reports of the progress of the call, one after the other, on a queue of its own.
        ///
        /// Each report has both directions. The numbers do not become smaller, unless an attempt has a shorter body. A
        /// slow closure receives fewer reports. If the server has answered, the last report comes before the call
        /// returns, or before the loop of `stream(for:)` ends. After a failure, one more report may come later.
        public var progress: (@Sendable (TransferProgress) -> Void)?
        /// Called with what happens in the call, one event after the other, on a queue of its own.
        ///
        /// Events are passed on within about 10 ms: the call does not wait for the closure, and may have ended before.
        /// The events of a call are in order. If 65,536 events wait, or their bodies have 64 MB, new ones are dropped.
        public var events: (@Sendable (CallEvent) -> Void)? {
            get { eventSink?.receive }
            set { eventSink = newValue.map(EventSink.init) }
        }
        private(set) var eventSink: EventSink?
        /// The template of the request's path, such as `/users/{id}`, which names the request in traces and metrics.
        ///
        /// By default, it is the first of ``routes`` that fits. It must not contain a value of this request. What
        /// follows a `?` is ignored. After a redirect to another path, only ``routes`` are used.
        public var route: String?
        /// Templates of paths, such as `/v2/users/{id}`, which name requests in traces and metrics.
        ///
        /// The first one that fits names a request. Each one is compared with the whole path, segment by segment. A
        /// segment is text or a name in braces. A `*` at the end stands for any segments. An invalid template is logged
        /// as an error and ignored.
        public var routes: [String] = [] {
            didSet { templates = routes.compactMap { PathTemplate(route: $0) } }
        }
        private(set) var templates: [PathTemplate] = []
        /// Sees the requests that are sent; `nil` for none.
        var observer: (any RequestObserver)?
        /// Measures the ``deadline``, the request's time limit and delays; tests can replace it.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// A copy of ``default`` as it is now.
        ///
        /// A preset that is a `static let` makes the copy when it is first used. Change the default before that. Four
        /// settings, unless they are set here, are taken from the default later, when a call begins: the logger,
        /// `logBody`, the redaction and the decoder.
        public init() {
            self = Self.default
            (customLogger, customRedaction, customDecoder, customLogBody) = (nil, nil, nil, nil)
        }

        init(standard: Void) {}

        /// A setting of the default itself; `nil` if it has none.
        private static func own<Value: Sendable>(_ value: KeyPath<Self, Value?>) -> Value? {
            defaults.withLock { $0.config[keyPath: value] }
        }

        /// Takes from the default what is not set here, when a call begins.
        mutating func takeDefaults() {
            (customLogger, customRedaction, customLogBody) = (.some(logger), redaction, logBody)
            customDecoder = customDecoder ?? Self.own(\.customDecoder)
        }

        static let defaults = Locked(Defaults(config: Self(standard: ())))

        /// The preset of calls without `config:` to hosts without a preset; `Config()` copies it.
        ///
        /// It may be set at any time from any thread. Running calls keep their settings.
        public static var `default`: Self {
            get { defaults.withLock { $0.config } }
            set { defaults.set(\.config, newValue) }
        }
    }
}

extension URLSession.Config {
    /// How much of a body is logged: `true`, `false`, a number of bytes, or `.init(limit)` with a variable.
    public struct LogBody: Sendable, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
        let bytes: Int

        /// The maximum number of bytes that are logged.
        public init(_ bytes: Int) { self.bytes = bytes }

        /// The first 4,096 bytes, or nothing.
        public init(booleanLiteral value: Bool) { bytes = value ? 4096 : 0 }

        /// The maximum number of bytes that are logged.
        public init(integerLiteral value: Int) { bytes = value }
    }

    /// Whether a refusal of the credentials throws an error.
    var throwsUnauthorized: Bool {
        authorize && (authenticator != nil || onUnauthorized != nil || hasOwnIsUnauthorized)
    }

    /// Whether functions of the caller, which may block, decide what follows a response.
    var asksCaller: Bool { hasOwnIsUnauthorized || redirects.isCustom }

    /// The ``logger`` of ``default``; `nil` for no log.
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
    /// - Parameter configure: Makes the changes. Its errors are rethrown.
    public func with<Failure: Error>(_ configure: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
        var config = self
        try configure(&config)
        return config
    }
}

extension URLSession.Config: RedactedReflectable {
    /// Without the names that count in all calls.
    private var ownRedaction: Redaction { customRedaction ?? Self.own(\.customRedaction) ?? .standard }

    var shownChildren: [(String, Any?)] { settings.map { ($0.name, $0.shown) } }

    /// Every member, as `explain` and `dump` show it.
    var settings: [Explanation.Setting] {
        [
            .init("authorize", authorize), .init("authenticator", type: authenticator),
            .init("isUnauthorized", isSet: hasOwnIsUnauthorized), .init("onUnauthorized", isSet: onUnauthorized != nil),
            .init(name: "validators", shown: validators.isEmpty ? nil : "\(validators.count)"),
            .init("decoder", type: decoder), .init("deadline", deadline),
            .init("retry", "\(retry)", shown: retry.shown),
            .init(name: "redirects", shown: redirects.shown, identity: redirects.isCustom ? nil : redirects.shown),
            .init("cache", type: cache?.core.store), .init("cache.staleIfError", cache?.staleIfError),
            .init("cache.requester", cache?.requester, shown: "set"), .init("coalesces", coalesces),
            .init("responseLimit", responseLimit), .init("fallback", isSet: fallback != nil),
            .init("logger", logger.map { "\($0.label) \($0.logLevel) \($0.handler.metadata)" }, shown: logger?.label),
            .init("logBody", logBody.bytes),
            .init("redaction", ownRedaction, shown: [.standard: "standard", .none: "none"][ownRedaction] ?? "set"),
            .init("taskDelegate", type: taskDelegate),
            .init("transport", [transport.key], shown: transport.isURLSession ? "urlSession" : "set"),
            .init("progress", isSet: progress != nil),
            .init(
                name: "events", shown: eventSink.map { _ in "set" }, identity: eventSink.map { ObjectIdentifier($0) }),
            .init("route", route),
            .init(name: "routes", shown: routes.isEmpty ? nil : "\(routes.count)", identity: routes),
            .init("telemetry", type: observer), .init("clock", type: clock),
        ]
    }
}
