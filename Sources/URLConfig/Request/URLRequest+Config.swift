extension URLRequest {
    /// Everything that makes a request: a plain value, to be kept as a preset and changed for each call.
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
        /// ``headers`` as `URLRequest` takes them, made once for all requests of a preset that add none.
        private(set) var cachedHeaders: [String: String]?
        var base: BaseURL
        var customEncoder: JSONEncoder?

        /// The path, joined to the base path of ``host`` with exactly one slash.
        ///
        /// See ``Foundation/URLRequest/Path``.
        public var path: Path = ""
        /// Query items, sent after those of ``host`` and of ``path``.
        public var query = Query()
        /// The method (RFC 9110 §9); `GET` at first.
        public var method = HTTPRequest.Method.get
        /// The header fields.
        ///
        /// `Host`, `Content-Length` and `Transfer-Encoding` are refused: the session sets them from URL and body. A
        /// control character in a value becomes a space, as `HTTPField` has it (RFC 9110 §5.5).
        public var headers = HTTPFields() { didSet { cachedHeaders = nil } }
        /// Credentials, set on the header fields last: they replace what ``headers`` has under the same name.
        ///
        /// A ``TokenAuthenticator`` that writes the same field leaves the request alone. If the server refuses the
        /// request, the token is not refreshed.
        public var authorization: Authorization?
        /// Marks the request as one operation however often it is sent: retries may then repeat it, whatever its
        /// method.
        public var idempotencyKey: IdempotencyKey?
        /// The content; refused for `GET`, `HEAD` and `TRACE`.
        public var body = RequestBody()
        /// The time for one attempt, from its sending until the answer is complete, to the millisecond.
        ///
        /// `nil` leaves it to the session: by default, a minute without a byte. One that is not more than zero is
        /// refused: the request cannot be sent (``RequestError/Code/invalidTimeout``). See
        /// ``Foundation/URLSession/Config/deadline`` for the time of all attempts together.
        public var timeout: Duration?
        /// Where an answer may come from instead of the network.
        public var cachePolicy = CachePolicy.useProtocolCachePolicy
        /// What kind of traffic this is.
        public var networkServiceType = NetworkServiceType.default
        /// Whether the request may use a cellular connection.
        public var allowsCellularAccess = true
        /// Whether cookies of the session's storage are sent, and those of the answer stored.
        public var handlesCookies = true
        /// The last word over the finished request: nothing native is out of reach.
        ///
        /// Assigning a function replaces the one that a preset has.
        public var modify: (@Sendable (inout URLRequest) -> Void)?

        /// A copy of ``default`` as it is now.
        ///
        /// A preset that is a `static let` copies it when it is first used; one that must follow later changes is a
        /// `static var`.
        public init() {
            self = Self.default
        }

        /// A configuration for a host, all else as the library has it.
        ///
        /// Nothing of ``default`` is taken over but its encoder, so that credentials meant for one host never reach
        /// another.
        ///
        /// - Parameter host: See ``host``.
        public init(host: String) {
            base = BaseURL(host)
            // A copy that grows keeps the room that its original has: one allocation a request, where there would be
            // three.
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
    /// User name and password have no place here (RFC 9110 §4.2.4); see ``authorization``.
    public var host: String {
        get { base.text }
        set { base = BaseURL(newValue) }
    }

    /// Encodes JSON bodies; at first ``defaultEncoder``.
    ///
    /// Changing a property of it, as in `$0.encoder.dateEncodingStrategy = .iso8601`, changes it for this configuration
    /// only.
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
    /// Infinity is the longest time that there is. NaN is refused, as zero is.
    public var timeoutInterval: TimeInterval? {
        get { timeout.map { $0 / .seconds(1) } }
        set { timeout = newValue.map { Duration(timeoutInterval: $0) ?? .zero } }
    }

    /// A model to be sent as JSON: the same as `body = .json(model)`.
    public var bodyModel: (any Encodable & Sendable)? {
        get { body.model }
        set { body = newValue.map(RequestBody.json) ?? RequestBody() }
    }

    /// Encodes a model as the JSON body at once, with ``encoder`` as it is now: for a model that is not `Sendable`.
    ///
    /// - Parameter model: The model.
    /// - Throws: What the encoder throws.
    public mutating func encode(_ model: some Encodable) throws {
        body = .data(try (customEncoder ?? Self.defaultEncoder).encode(model), contentType: .json)
    }
}

extension JSONEncoder {
    /// One of its own with the same options; a subclass, whose options are unknown, stays the same object.
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
