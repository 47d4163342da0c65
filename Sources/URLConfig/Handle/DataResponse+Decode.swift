extension DataResponse {
    /// How the content is decoded.
    public struct Config: Sendable {
        fileprivate var current: any ResponseDecoder
        /// The decoder; a `JSONDecoder` is a copy, so that changing it changes no other call.
        public var decoder: any ResponseDecoder {
            mutating get {
                current = current.copy()
                return current
            }
            set { current = newValue }
        }

        private static let defaults = Locked<any ResponseDecoder>(JSONDecoder())

        /// The decoder of calls whose configuration has none; by default a `JSONDecoder`.
        ///
        /// Any thread may set it.
        public static var defaultDecoder: any ResponseDecoder {
            get { defaults.withLock { $0 } }
            set { defaults.set(\.self, newValue) }
        }
    }

    /// The decoder of the call's configuration, or else the default.
    var ownDecoder: any ResponseDecoder { decoder ?? Config.defaultDecoder }

    /// A model from the content, whatever the status; validate the status first.
    ///
    /// ```swift
    /// let article: Article = try response.validated().decode()
    /// ```
    ///
    /// An optional model is `nil` if the content is `null`, or if the status is 204 or 205, which have no content.
    ///
    /// - Parameters:
    ///   - type: The type of the model; by default what the context expects.
    ///   - configure: Changes the decoder; by default it is that of the call, or else ``Config/defaultDecoder``.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/decoding`` and the whole response. It describes the
    ///   place in the content; the error of the decoder is its ``RequestError/underlyingError``.
    public func decode<Model: Decodable>(
        _ type: Model.Type = Model.self, _ configure: (inout Config) -> Void = { _ in }
    ) throws -> Model {
        var config = Config(current: ownDecoder)
        configure(&config)
        return try decoded(type, config.current)
    }

    /// A model from the content, with a JSON decoder, such as a static member; errors are those of ``decode(_:_:)``.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self, decoder: JSONDecoder) throws -> Model {
        try decoded(type, decoder)
    }

    /// A model from the content if the status is 2xx; otherwise the API's own error from the content is thrown.
    ///
    /// ```swift
    /// struct APIError: Decodable, Error {
    ///     let message: String
    /// }
    /// let user: User = try response.decode(orThrow: APIError.self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the model; by default what the context expects.
    ///   - failure: The type of the API's own error.
    ///   - decoder: The decoder of both types; `nil` for the one that ``decode(_:_:)`` uses.
    /// - Throws: As ``validated(orThrow:decoder:)`` and ``decode(_:_:)``.
    public func decode<Model: Decodable, Failure: Decodable & Error>(
        _ type: Model.Type = Model.self, orThrow failure: Failure.Type, decoder: JSONDecoder? = nil
    ) throws -> Model {
        try validated(orThrow: failure, decoder: decoder).decoded(type, decoder ?? ownDecoder)
    }

    /// Unavailable: the message says that the type of the model is missing.
    @available(*, unavailable, message: "say which type: `let user: User = try …`; an error must be Decodable & Error")
    @_disfavoredOverload
    public func decode(orThrow failure: Any.Type? = nil, decoder: JSONDecoder? = nil) throws -> Never {
        // Without this function, the compiler produces no message. Its messages for other wrong calls are good, such as
        // for an error or a model that is not `Decodable`.
        throw InvalidInput("no type")
    }

    func decoded<Model: Decodable>(_ type: Model.Type, _ decoder: any ResponseDecoder) throws -> Model {
        do {
            // The decoder would not pass the response on to the problem.
            if Model.self == Problem.self, decoder is JSONDecoder || hasContentType(.problem),
                let problem = Problem(self, decoder) as? Model
            {
                return problem
            }
            return try decoder.decode(type, from: data)
        } catch {
            return try absence(of: type, after: error)
        }
    }

    /// `nil` for an optional model, if the status says that there is no content (RFC 9110 §15.3.5, §15.3.6).
    // Not inlined: an optional of a generic type costs 700 instructions.
    @inline(never)
    private func absence<Model: Decodable>(of type: Model.Type, after error: any Error) throws -> Model {
        guard data.isEmpty, [.noContent, .resetContent].contains(status),
            let absence = (type as? any OptionalType.Type)?.absence as? Model
        else { throw RequestError(undecoded: type, response: self, underlyingError: error) }
        return absence
    }
}

/// Decodes models, as Foundation's decoders do.
///
/// ```swift
/// struct XMLResponseDecoder: ResponseDecoder {
///     func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
///         try XMLDecoder().decode(type, from: data)
///     }
/// }
/// ```
public protocol ResponseDecoder: Sendable {
    /// Decodes a model from the content of a response.
    func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model
}

extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}

/// All `Optional` types.
protocol OptionalType {
    static var wrapped: any Any.Type { get }
    static var absence: Self { get }
    var isNil: Bool { get }
}

extension Optional: OptionalType {
    static var wrapped: any Any.Type { Wrapped.self }
    static var absence: Self { nil }
    var isNil: Bool { self == nil }
}
