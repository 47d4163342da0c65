extension URLRequest {
    /// Everything that makes a request: a plain value, kept as a preset and changed for each call.
    ///
    /// ```swift
    /// extension URLRequest.Config {
    ///     static let api = Self(host: "https://api.example.com/v2") {
    ///         $0.headers[.accept] = "application/json"
    ///         $0.timeout = .seconds(30)
    ///     }
    ///     static let admin = api.with { $0.query["as"] = "admin" }
    /// }
    /// ```
    public struct Config: Sendable {
        /// ``headers`` as `URLRequest` takes them, for the requests of a preset that add none.
        private(set) var cachedHeaders: [String: String]?
        var base: BaseURL
        var customEncoder: JSONEncoder?

        /// The path, joined to the base path of ``host`` with exactly one slash; see ``Foundation/URLRequest/Path``.
        public var path: Path = ""
        /// Query items, sent after those of ``host`` and of ``path``.
        public var query = Query()
        /// The method (RFC 9110 §9); by default `GET`.
        public var method = HTTPRequest.Method.get
        /// The header fields.
        ///
        /// `Host`, `Content-Length` and `Transfer-Encoding` are refused: the session sets them. A control character in
        /// a value becomes a space (RFC 9110 §5.5).
        public var headers = HTTPFields() { didSet { cachedHeaders = nil } }
        /// Credentials, set last: they replace what ``headers`` has under the same name.
        ///
        /// A ``TokenAuthenticator`` that writes the same field leaves the request alone. If the server refuses the
        /// request, the token is not refreshed.
        public var authorization: Authorization?
        /// Marks the request as one operation: retries may then repeat it, whatever its method.
        public var idempotencyKey: IdempotencyKey?
        /// The content; refused for `GET`, `HEAD` and `TRACE`.
        public var body = RequestBody()
        /// The time for one attempt, from its sending until the response is complete, to the millisecond.
        ///
        /// `nil` leaves it to the session: by default, a minute without a byte. Zero and less are refused
        /// (``RequestError/Code/invalidTimeout``). ``Foundation/URLSession/Config/deadline`` limits the whole call.
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
        public init() {
            self = Self.default
        }

        /// A configuration for a host.
        ///
        /// Of ``default`` it takes only the encoder, so that credentials meant for one host never reach another.
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
            self.init(host: host)
            try configure(&self)
            cachedHeaders = try? headers.combined()
        }

        /// A copy with changes.
        ///
        /// - Parameter configure: Makes the changes. What it throws is rethrown.
        public func with<Failure: Error>(
            _ configure: (inout Self) throws(Failure) -> Void
        ) throws(Failure) -> Self {
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
    /// User name and password are refused here (RFC 9110 §4.2.4); see ``authorization``.
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

    /// ``timeout`` in seconds.
    ///
    /// Infinity is the longest time possible. NaN is refused, as zero is.
    public var timeoutInterval: TimeInterval? {
        get { timeout.map { $0 / .seconds(1) } }
        set { timeout = newValue.map { Duration(timeoutInterval: $0) ?? .zero } }
    }

    /// A model to be sent as JSON: the same as `body = .json(model)`.
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
