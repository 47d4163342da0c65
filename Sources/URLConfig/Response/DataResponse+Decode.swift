extension DataResponse {
    /// How a content is decoded.
    public struct Config: Sendable {
        /// The decoder; by default ``defaultDecoder``.
        public var decoder: any ResponseDecoder = Self.defaultDecoder

        /// The defaults as they are now.
        public init() {}

        private static let defaults = Locked<any ResponseDecoder>(JSONDecoder())

        /// The decoder of every call that names none; by default a `JSONDecoder`; any thread may replace it.
        public static var defaultDecoder: any ResponseDecoder {
            get { defaults.withLock { $0 } }
            set { defaults.set(\.self, newValue) }
        }
    }

    /// A model from the content, whatever the status: check that first.
    ///
    /// ```swift
    /// let article: Article = try response.decode()
    /// ```
    ///
    /// An optional model is `nil` if the content is `null`, or the status is 204 or 205, which have none.
    ///
    /// - Parameter type: The type of the model; by default what the context expects.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/decoding`` and the whole response. It describes the
    ///   place in the content; the decoder's own error is its ``RequestError/underlyingError``.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self) throws -> Model {
        try decode(type, decoder: Config.defaultDecoder)
    }

    /// A model from the content, with a JSON decoder; throws as ``decode(_:)``.
    ///
    /// - Parameters:
    ///   - type: The type of the model; by default what the context expects.
    ///   - decoder: The decoder, such as a static member of `JSONDecoder`.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self, decoder: JSONDecoder) throws -> Model {
        let decoder: any ResponseDecoder = decoder
        return try decode(type, decoder: decoder)
    }

    /// A model from the content, with any decoder; throws as ``decode(_:)``.
    ///
    /// - Parameters:
    ///   - type: The type of the model; by default what the context expects.
    ///   - decoder: The decoder.
    @_disfavoredOverload
    public func decode<Model: Decodable>(
        _ type: Model.Type = Model.self, decoder: some ResponseDecoder
    ) throws -> Model {
        do {
            return try Model.self == Problem.self ? problem(type, decoder) : decoder.decode(type, from: data)
        } catch {
            return try absence(of: type, after: error)
        }
    }

    /// A model from the content, with changes to the defaults; throws as ``decode(_:)``.
    ///
    /// - Parameters:
    ///   - type: The type of the model; by default what the context expects.
    ///   - configure: Makes the changes.
    public func decode<Model: Decodable>(
        _ type: Model.Type = Model.self, _ configure: (inout Config) -> Void
    ) throws -> Model {
        var config = Config()
        configure(&config)
        return try decode(type, decoder: config.decoder)
    }

    /// Unavailable: tells that the type is missing.
    @available(*, unavailable, message: "say which type: `let user: User = try …decode()` or `decode(User.self)`")
    @_disfavoredOverload
    public func decode() throws -> Never { throw Reason("no type") }

    /// A problem, to which a decoder could not give the response.
    // Not inlined, as the next: an optional of a generic type costs 700 instructions.
    @inline(never)
    private func problem<Model: Decodable>(_ type: Model.Type, _ decoder: any ResponseDecoder) throws -> Model {
        let problem = decoder is JSONDecoder ? Problem(self) : nil
        return try problem as? Model ?? decoder.decode(type, from: data)
    }

    /// `nil` for an optional model, if the status says that there is no content (RFC 9110 §15.3.5, §15.3.6).
    @inline(never)
    private func absence<Model: Decodable>(of type: Model.Type, after error: any Error) throws -> Model {
        guard data.isEmpty, [.noContent, .resetContent].contains(status),
            let absence = (type as? any OptionalType.Type)?.absence as? Model
        else { throw RequestError(undecoded: type, response: self, underlyingError: error) }
        return absence
    }
}
