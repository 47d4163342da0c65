extension URLRequest {
    /// Everything that makes a request: a plain value, kept as a preset and changed for each call.
    ///
    /// ```swift
    /// extension URLRequest.Config {
    ///     static let api = Self(host: "https://api.example.com/v2") { $0.timeout = .seconds(30) }
    ///     static let admin = api.with { $0.query["as"] = "admin" }
    /// }
    /// ```
    public struct Config: Sendable {
        /// The combined header fields, for requests of a preset that do not change them.
        private(set) var cachedHeaders: [String: String]?
        private var fields = HTTPFields()
        var base: BaseURL
        var customEncoder: JSONEncoder?
        /// The settings of the last closure, without its preset's; `nil` if no rule depends on them.
        private(set) var own: Own?
        private(set) var generations = Generations()
        /// The settings so far of the closure that is running; `nil` if none is running.
        private var changes: Changes?

        fileprivate struct Changes {
            var authorization = false
            var idempotencyKey = false
            var modify = false
            var headers = false
            var body = false
            var url = false
        }

        /// The number of the last closure, and of those that have set the credentials and the key last.
        ///
        /// A field that a later closure has set wins.
        struct Generations: Sendable {
            fileprivate(set) var (now, authorization, key) = (0, 0, 0)
        }

        /// The settings of a closure, which go with its ``url`` to any origin; a preset's settings do not.
        final class Own: Sendable {
            let authorization: Bool
            let modify: Bool
            let body: Bool
            /// The fields, and the number of the closure that has set each of them.
            let headers: [HTTPField.Name: Int]
            /// The fields of the preset, whose values stay behind even under a name of ``headers``.
            let presetHeaders: HTTPFields
            let query: [Query.Item]
            /// All items after the closure: what is set later is not known to belong to the URL.
            let items: [Query.Item]

            fileprivate init(_ changes: Changes, in config: Config, of preset: Config) {
                let previous = config.url == preset.url ? preset.own : nil
                authorization = changes.authorization || previous?.authorization == true
                modify = changes.modify || previous?.modify == true
                body = changes.body || previous?.body == true
                let changed = Set(config.headers.map(\.name)).filter { name in
                    config.headers[values: name] != preset.headers[values: name]
                }
                let now = changed.map { ($0, config.generations.now) }
                headers = Dictionary(now) { $1 }.merging(previous?.headers ?? [:]) { new, _ in new }
                presetHeaders = previous?.presetHeaders ?? preset.headers
                items = config.query.items
                // Only a URL asks for them.
                query =
                    config.url == nil
                    ? [] : config.query.items(notIn: Set(preset.query.items).subtracting(previous?.query ?? []))
            }
        }

        /// An absolute URL that a server gave, used instead of ``host`` and ``path``.
        ///
        /// Items of ``query`` that are set together with it are added to it. If its scheme, host or port differs from
        /// ``host``, credentials of the preset are not sent, and a body of the preset is refused. What is set together
        /// with it is sent.
        ///
        /// The request is refused if the URL is not `http` or `https`, or has a user name or a password. It is also
        /// refused if `nil` is set, because it would go to ``host``. But `nil` may take back a URL that was set before.
        public var url: URL? {
            didSet {
                // Outside of a closure, nothing is known to be set together with it.
                if changes == nil { own = nil }
                changes?.url = true
                isURLMissing = url == nil && oldValue == nil
            }
        }
        private(set) var isURLMissing = false
        /// The path, joined to the base path of ``host`` with exactly one slash; see ``Foundation/URLRequest/Path``.
        public var path: Path = ""
        /// Query items, sent after the items of ``host`` and ``path``.
        public var query: Query = [:]
        /// The method (RFC 9110 §9).
        public var method = HTTPRequest.Method.get
        /// The header fields.
        ///
        /// `Host`, `Content-Length` and `Transfer-Encoding` are refused: the session sets them. A control
        /// character in a value becomes a space (RFC 9110 §5.5).
        public var headers: HTTPFields {
            get { fields }
            // In place: with `set` or `didSet`, every change of a field would copy all of them.
            _modify {
                cachedHeaders = nil
                changes?.headers = true
                yield &fields
            }
        }
        /// Credentials, which replace fields of the same name in ``headers``.
        ///
        /// A header field that is set for one request replaces the credentials of its preset. If a
        /// ``TokenAuthenticator`` writes the same field, it adds no token to such a request and refreshes none for it.
        public var authorization: Authorization? {
            didSet {
                changes?.authorization = true
                generations.authorization = generations.now
            }
        }
        /// Marks the request as one operation, which retries may repeat.
        public var idempotencyKey: IdempotencyKey? {
            didSet {
                changes?.idempotencyKey = true
                generations.key = generations.now
            }
        }
        /// The body; refused for `GET`, `HEAD` and `TRACE`.
        public var body = RequestBody() {
            didSet { changes?.body = true }
        }
        /// The time for one attempt until the response is complete, to 1 ms; zero and less are refused.
        ///
        /// For streams, uploads and downloads, it is the longest time without a byte instead. With `nil` the session
        /// decides: by default, a minute without a byte. ``Foundation/URLSession/Config/deadline`` limits the whole
        /// call.
        public var timeout: Duration?
        /// Whether a cache may give the response.
        public var cachePolicy = CachePolicy.useProtocolCachePolicy
        /// Changes the finished request, such as its `allowsCellularAccess`.
        ///
        /// A function that is set here replaces the function of the preset. If ``url`` leads to another origin, the
        /// preset's function cannot change the URL, the body and the credentials.
        public var modify: (@Sendable (inout URLRequest) -> Void)? {
            didSet { changes?.modify = true }
        }

        /// A copy of ``default`` as it is now.
        ///
        /// A preset that is a `static let` copies it once, at its first use. A computed `static var` follows changes.
        public init() { self = .default }

        /// A configuration for a host.
        ///
        /// It uses only the encoder of ``default``, so that no other host receives credentials.
        ///
        /// - Parameter host: See ``host``.
        public init(host: String) {
            base = BaseURL(host)
            // A copy that grows keeps this capacity: one allocation for each request instead of three.
            headers.reserveCapacity(8)
        }

        /// A configuration for a host, with changes.
        ///
        /// - Parameters:
        ///   - host: See ``host``.
        ///   - configure: Makes the changes. Its error is rethrown.
        public init<Failure: Error>(
            host: String, _ configure: (inout Self) throws(Failure) -> Void
        ) throws(Failure) {
            self = try Self(host: host).with(configure)
        }

        /// A copy with changes.
        ///
        /// - Parameter configure: Makes the changes. Its error is rethrown.
        public func with<Failure: Error>(_ configure: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
            var config = try changed(by: configure)
            config.cachedHeaders = try? config.headers.combined()
            return config
        }

        /// A copy with changes, which knows what the closure has set.
        func changed<Failure: Error>(by configure: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
            var config = self
            config.changes = Changes()
            config.generations.now += 1
            config.query.generation += 1
            try configure(&config)
            // If a closure has replaced the whole configuration, its own settings are not known.
            guard let changes = config.changes else {
                config.own = nil
                return config
            }
            config.changes = nil
            // The two rules: what goes with a URL, and a field that replaces the credentials or the key of the preset.
            let replaces =
                (config.authorization != nil && !changes.authorization
                    || config.idempotencyKey != nil && !changes.idempotencyKey)
                && (changes.headers || own?.headers.isEmpty == false)
            config.own = config.url != nil || replaces ? Own(changes, in: config, of: self) : nil
            // Then it is not clear after this closure either.
            if isQueryUnclear, !changes.url, !config.query.items.isEmpty { config.own = nil }
            return config
        }
    }
}

extension URLRequest.Config {
    /// The base URL: scheme `http` or `https`, host, optional port, base path and base query.
    ///
    /// A user name or password is refused (RFC 9110 §4.2.4); set ``authorization``.
    public var host: String {
        get { base.text }
        set { base = BaseURL(newValue) }
    }

    /// Encodes JSON bodies, models and dates in queries and forms; by default ``defaultEncoder``.
    ///
    /// `$0.encoder.dateEncodingStrategy = .iso8601` changes the encoder of this configuration only.
    public var encoder: JSONEncoder {
        mutating get {
            // Presets share the encoder, which is a reference type, and the caller may change what is returned.
            let copy = effectiveEncoder.copy()
            customEncoder = copy
            return copy
        }
        set { customEncoder = newValue }
    }

    /// Whether nobody knows if the items of ``query`` belong to ``url``.
    var isQueryUnclear: Bool { url != nil && !query.items.isEmpty && query.items != own?.items }

    var effectiveEncoder: JSONEncoder { customEncoder ?? Self.defaultEncoder }

    /// ``timeout`` in seconds; infinity becomes the longest possible time; NaN is refused.
    public var timeoutInterval: TimeInterval? {
        get { timeout.map { $0 / .seconds(1) } }
        set { timeout = newValue.map { Duration(timeoutInterval: $0) ?? .zero } }
    }

    /// The model that is the JSON body, as `RequestBody.json(_:)` sets it.
    public var bodyModel: (any Encodable & Sendable)? {
        get { body.model }
        set { body = newValue.map { .json($0) } ?? RequestBody() }
    }

    private static let defaults = Locked(Self(host: ""))

    /// The initial values of `Config()` and of `URLRequest.with { … }` without a preset.
    ///
    /// It may be set at any time, from any thread. Existing requests and presets do not change.
    public static var `default`: Self {
        get { defaults.withLock { $0 } }
        set { defaults.set(\.self, newValue) }
    }

    /// The host of ``default``.
    public static var defaultHost: String {
        get { defaults.withLock { $0.host } }
        set { defaults.set(\.host, newValue) }
    }

    /// The encoder of every configuration that does not set its own.
    ///
    /// By default it sorts keys and does not escape slashes: equal bodies have equal bytes.
    public static var defaultEncoder: JSONEncoder {
        get { defaults.withLock { $0.customEncoder } ?? standardEncoder }
        set { defaults.set(\.customEncoder, newValue) }
    }

    static let standardEncoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
}

extension HTTPFields {
    /// A field by its name as text, such as `headers["X-Tenant"] = "main"`; `nil` removes it.
    ///
    /// A request with a field whose name is not a token is refused (``RequestError/Code/invalidRequest``).
    public subscript(name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set {
            // A field that cannot be there need not be removed.
            if newValue != nil || HTTPField.Name(name) != nil { self[HTTPField.Name(name) ?? .malformed] = newValue }
        }
    }

    /// The members of a field that is a list, such as `Accept-Language` (RFC 9110 §5.6.1); `nil` removes it.
    ///
    /// ```swift
    /// $0.headers[.acceptLanguage] = ["en-US", "zh-Hans-CN"]
    /// ```
    ///
    /// If the context accepts both types, `headers[.acceptLanguage]` is the combined text.
    @_disfavoredOverload
    public subscript(name: HTTPField.Name) -> [String]? {
        get { contains(name) ? self[values: name] : nil }
        set { self[values: name] = newValue ?? [] }
    }
}
