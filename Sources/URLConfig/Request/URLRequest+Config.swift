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
        /// For the requests of a preset that add no header fields.
        private(set) var cachedHeaders: [String: String]?
        var base: BaseURL
        var customEncoder: JSONEncoder?

        /// The path, joined to the base path of ``host`` with exactly one slash; see ``Foundation/URLRequest/Path``.
        public var path: Path = ""
        /// Query items, sent after those of ``host`` and of ``path``.
        public var query = Query()
        /// The method (RFC 9110 §9).
        public var method = HTTPRequest.Method.get
        /// The header fields; `Host`, `Content-Length` and `Transfer-Encoding`, which the session sets, are refused.
        ///
        /// A control character in a value becomes a space (RFC 9110 §5.5).
        public var headers = HTTPFields() { didSet { cachedHeaders = nil } }
        /// Credentials, set last: they replace what ``headers`` has under the same name.
        ///
        /// A ``TokenAuthenticator`` that writes the same field leaves the request alone, and refreshes no token for it.
        public var authorization: Authorization?
        /// Marks the request as one operation, which retries may repeat.
        public var idempotencyKey: IdempotencyKey?
        /// The content; refused for `GET`, `HEAD` and `TRACE`.
        public var body = RequestBody()
        /// The time for one attempt until the response is complete, to the millisecond; zero and less are refused.
        ///
        /// `nil` leaves it to the session: by default, a minute without a byte.
        /// ``Foundation/URLSession/Config/deadline`` limits the whole call.
        public var timeout: Duration?
        /// Where a response may come from instead of the network.
        public var cachePolicy = CachePolicy.useProtocolCachePolicy
        /// What kind of traffic this is.
        public var networkServiceType = NetworkServiceType.default
        /// Whether the request may use a cellular connection.
        public var allowsCellularAccess = true
        /// Whether cookies of the session's storage are sent, and those of the response stored.
        public var handlesCookies = true
        /// Changes the finished request; a function that is assigned replaces the one of the preset.
        public var modify: (@Sendable (inout URLRequest) -> Void)?

        /// A copy of ``default`` as it is now.
        ///
        /// A preset that is a `static let` copies it at its first use. To follow later changes, make it a `static var`.
        public init() { self = .default }

        /// A configuration for a host, which takes only the encoder of ``default``: credentials reach no other host.
        ///
        /// - Parameter host: See ``host``.
        public init(host: String) {
            base = BaseURL(host)
            // A copy that grows keeps the room of its original: one allocation a request instead of three.
            headers.reserveCapacity(8)
        }

        /// A configuration for a host, with changes.
        ///
        /// - Parameters:
        ///   - host: See ``host``.
        ///   - configure: Makes the changes. What it throws is rethrown.
        public init<Failure: Error>(
            host: String, _ configure: (inout Self) throws(Failure) -> Void
        ) throws(Failure) {
            self = try Self(host: host).with(configure)
        }

        /// A copy with changes.
        ///
        /// - Parameter configure: Makes the changes. What it throws is rethrown.
        public func with<Failure: Error>(_ configure: (inout Self) throws(Failure) -> Void) throws(Failure) -> Self {
            var config = self
            try configure(&config)
            config.cachedHeaders = try? config.headers.combined()
            return config
        }
    }
}

extension URLRequest.Config {
    /// The base URL: scheme `http` or `https`, host, optional port, base path and base query.
    ///
    /// User name and password, refused here (RFC 9110 §4.2.4), are set as ``authorization``.
    public var host: String {
        get { base.text }
        set { base = BaseURL(newValue) }
    }

    /// Encodes JSON bodies; by default ``defaultEncoder``.
    ///
    /// `$0.encoder.dateEncodingStrategy = .iso8601` changes the encoder of this configuration only.
    public var encoder: JSONEncoder {
        mutating get {
            // An encoder is a reference, which presets and the default share: whoever asks may be about to change it.
            let copy = (customEncoder ?? Self.defaultEncoder).copy()
            customEncoder = copy
            return copy
        }
        set { customEncoder = newValue }
    }

    /// ``timeout`` in seconds; infinity is the longest time possible, and NaN is refused, as zero is.
    public var timeoutInterval: TimeInterval? {
        get { timeout.map { $0 / .seconds(1) } }
        set { timeout = newValue.map { Duration(timeoutInterval: $0) ?? .zero } }
    }

    /// The model of ``RequestBody/json(_:)``.
    public var bodyModel: (any Encodable & Sendable)? {
        get { body.model }
        set { body = newValue.map(RequestBody.json) ?? RequestBody() }
    }

    /// Encodes a model that is not `Sendable` as the JSON body at once, with ``encoder`` as it is now.
    ///
    /// - Parameter model: The model.
    /// - Throws: What the encoder throws.
    public mutating func encode(_ model: some Encodable) throws {
        body = .data(try (customEncoder ?? Self.defaultEncoder).encode(model), contentType: .json)
    }
}

extension JSONEncoder {
    /// A new encoder with the same options; a subclass, whose options are unknown, stays the same object.
    fileprivate func copy() -> JSONEncoder {
        guard type(of: self) == JSONEncoder.self else { return self }
        let copy = JSONEncoder()
        copy.outputFormatting = outputFormatting
        copy.dateEncodingStrategy = dateEncodingStrategy
        copy.dataEncodingStrategy = dataEncodingStrategy
        copy.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
        copy.keyEncodingStrategy = keyEncodingStrategy
        copy.userInfo = userInfo
        return copy
    }
}
