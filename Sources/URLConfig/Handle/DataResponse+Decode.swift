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

        private static let defaults = Locked<any ResponseDecoder>(standardDecoder)
        static let standardDecoder = JSONDecoder()

        /// The decoder of calls whose configuration has none; by default a `JSONDecoder`.
        ///
        /// Any thread may set it.
        public static var defaultDecoder: any ResponseDecoder {
            get { defaults.withLock { $0 } }
            set { defaults.set(\.self, newValue) }
        }
    }

    /// The decoder of the call's configuration, or else the default.
    var ownDecoder: any ResponseDecoder { decoder ?? URLSession.Config.defaultDecoder }

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
    ///   - configure: Changes the decoder, by default the call's, or else the one of
    ///     ``Foundation/URLSession/Config/default``.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/decoding`` and the whole response. It describes the
    ///   place in the content; the error of the decoder is its ``RequestError/underlyingError``.
    public func decode<Model: Decodable>(
        _ type: Model.Type = Model.self, _ configure: (inout Config) -> Void = { _ in }
    ) throws -> Model {
        var config = Config(current: ownDecoder)
        configure(&config)
        return try decoded(type, config.current)
    }

    /// A model from the content, with a JSON decoder, such as a static member.
    ///
    /// It throws the errors of ``decode(_:_:)``.
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
            return try absence(of: type, after: error, decoder)
        }
    }

    /// Whether there is no content, and the status says so (RFC 9110 §15.3.5, §15.3.6).
    var isWithoutContent: Bool { data.isEmpty && [.noContent, .resetContent].contains(status) }

    /// `nil` for an optional model, if there is no content.
    // Not inlined: an optional of a generic type costs 700 instructions.
    @inline(never)
    private func absence<Model: Decodable>(
        of type: Model.Type, after error: any Error, _ decoder: any ResponseDecoder
    ) throws -> Model {
        guard isWithoutContent, let absence = (type as? any OptionalType.Type)?.absence as? Model
        else { throw RequestError(undecoded: type, response: self, decoder, underlyingError: error) }
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

extension DataResponse {
    /// The content as text, in the character set that `Content-Type` names, by default UTF-8.
    ///
    /// UTF-8, UTF-16, UTF-32, Latin-1, windows-1251, windows-1252 and Shift_JIS are supported, and EUC-JP on Apple
    /// platforms. A byte order mark is removed; it overrides the named character set (WHATWG Encoding §6).
    ///
    /// - Parameter encoding: The encoding, if `Content-Type` names a wrong one; by default `nil`.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/decoding`` if the content is not text in that character
    ///   set, or the character set is not supported. Empty content is not an error.
    public func text(encoding: String.Encoding? = nil) throws -> String {
        if data.isEmpty { return "" }
        let charset = contentType?.charset
        let used = encoding ?? data.encoding(charset: charset)
        // Foundation ignores a last character that is cut.
        if let used, data.count.isMultiple(of: used.codeUnit), let text = data.text(in: used) { return text }
        let name = (encoding ?? data.mark?.encoding)?.description ?? charset?.shortened(to: 40) ?? "utf-8"
        throw RequestError(.decoding, reason: "the content is not text in the character set \(name)", response: self)
    }
}

extension Data {
    private static let marks: KeyValuePairs<[UInt8], String.Encoding> = [
        [0xEF, 0xBB, 0xBF]: .utf8, [0, 0, 0xFE, 0xFF]: .utf32BigEndian, [0xFF, 0xFE, 0, 0]: .utf32LittleEndian,
        [0xFE, 0xFF]: .utf16BigEndian, [0xFF, 0xFE]: .utf16LittleEndian,
    ]

    /// A byte order mark at the start.
    fileprivate var mark: (bytes: [UInt8], encoding: String.Encoding)? {
        Self.marks.first { starts(with: $0.key) }.map { ($0.key, $0.value) }
    }

    /// The text; `nil` if the bytes are not text in that character set, or it is not supported.
    func text(charset: String?) -> String? {
        guard let mark else {
            return encoding(charset: charset).flatMap { text(in: $0) }
        }
        // Foundation would remove a second mark, which is a character.
        var (rest, marks) = (dropFirst(mark.bytes.count), "")
        while rest.starts(with: mark.bytes) {
            rest = rest.dropFirst(mark.bytes.count)
            marks += "\u{FEFF}"
        }
        return String(data: rest, encoding: mark.encoding).map { marks + $0 }
    }

    /// The text, without a mark of this encoding.
    fileprivate func text(in encoding: String.Encoding) -> String? {
        if mark?.encoding == encoding { return text(charset: nil) }
        return String(data: self, encoding: encoding) ?? (encoding == .windowsCP1252 ? windowsText : nil)
    }

    /// The encoding that the mark or else the name says; `nil` if it is not supported.
    fileprivate func encoding(charset: String?) -> String.Encoding? { mark?.encoding ?? .init(charset: charset) }

    /// windows-1252 has no character for five of the bytes; they are read as Latin-1 (WHATWG Encoding).
    private var windowsText: String {
        let scalars = (UInt8.min...UInt8.max).map { byte in
            String(data: Data([byte]), encoding: .windowsCP1252)?.unicodeScalars.first ?? Unicode.Scalar(byte)
        }
        return reduce(into: "") { $0.unicodeScalars.append(scalars[Int($1)]) }
    }
}

extension String.Encoding {
    /// The encoding of a character set, by default UTF-8; `nil` if it is not supported.
    package init?(charset: String?) {
        // The longest supported name has 12 bytes.
        let name = charset ?? "utf-8"
        switch name.utf8.count <= 12 ? name.lowercased() : "" {
        case "utf-8", "utf8": self = .utf8
        case "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252", "cp1252": self = .windowsCP1252
        case "windows-1251", "cp1251": self = .windowsCP1251
        case "utf-16": self = .utf16
        case "utf-16be": self = .utf16BigEndian
        case "utf-16le": self = .utf16LittleEndian
        case "utf-32": self = .utf32
        case "shift_jis", "sjis", "shift-jis": self = .shiftJIS
        case "euc-jp": self = .japaneseEUC
        default: return nil
        }
    }

    /// The number of bytes that each character is made of at least.
    fileprivate var codeUnit: Int {
        switch self {
        case .utf16, .utf16BigEndian, .utf16LittleEndian: 2
        case .utf32, .utf32BigEndian, .utf32LittleEndian: 4
        default: 1
        }
    }
}
