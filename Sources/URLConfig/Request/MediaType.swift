/// A media type with its parameters, such as `text/html; charset=utf-8` (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Hashable {
    /// The top-level type in lower case, such as `text`; `*` for any.
    public let type: String
    /// The subtype in lower case, such as `html`; `*` for any.
    public let subtype: String
    /// The parameters, names in lower case, quotes removed.
    public let parameters: [String: String]
    /// The media type as it was written.
    public let description: String

    /// Reads a media type; `nil` if the text is not one.
    ///
    /// - Parameter text: What a `Content-Type` field holds. Parameters that are not well formed are passed over, as
    ///   browsers do, because servers do send them. A literal, as in `MediaType("bogus")`, calls
    ///   ``init(stringLiteral:)`` instead (SE-0213), which does not fail; `MediaType.init("bogus")` is `nil`.
    public init?(_ text: String) {
        var scanner = FieldScanner(text)
        scanner.skipSpace()
        guard let type = scanner.token(), scanner.skip(UInt8(ascii: "/")), let subtype = scanner.token() else {
            return nil
        }
        guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else { return nil }
        scanner.skipSpace()
        guard scanner.isAtEnd || scanner.isAt(UInt8(ascii: ";")) else { return nil }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        self.parameters = scanner.parameters()
        self.description = text
    }

    /// `type/subtype`, without the parameters.
    public var essence: String { "\(type)/\(subtype)" }

    /// Whether another media type is of this kind: the same type and subtype, `*` standing for any, and at least the
    /// parameters that this one has (their values compared without regard to case).
    public func matches(_ other: MediaType) -> Bool {
        (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
            && parameters.allSatisfy { name, value in
                other.parameters[name]?.lowercased().utf8.elementsEqual(value.lowercased().utf8) == true
            }
    }

    /// Whether two are the same, however they were written.
    public static func == (one: Self, other: Self) -> Bool {
        // By bytes: to compare values with thousands of combining marks takes very long.
        one.type == other.type && one.subtype == other.subtype && one.parameters.count == other.parameters.count
            && one.parameters.allSatisfy { other.parameters[$0]?.utf8.elementsEqual($1.utf8) == true }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(subtype)
        hasher.combine(parameters.count)
    }

    var isJSON: Bool { subtype == "json" || subtype.hasSuffix("+json") || subtype == "x-ndjson" || subtype == "jsonl" }
    var isForm: Bool { essence == "application/x-www-form-urlencoded" }
    var isMultipart: Bool { type == "multipart" }
    var isText: Bool {
        type == "text" || isJSON || isForm || subtype == "xml" || subtype.hasSuffix("+xml") || subtype == "javascript"
            || subtype == "graphql" || subtype == "yaml"
    }
}

extension MediaType: CustomStringConvertible, ExpressibleByStringLiteral {
    /// A media type from a literal.
    ///
    /// One that is not well formed is taken as `application/octet-stream`.
    public init(stringLiteral text: String) {
        self = Self(text) ?? .octetStream
    }

    /// `application/json` (RFC 8259 §11).
    public static let json = Self(type: "application", subtype: "json")
    /// `application/x-www-form-urlencoded` (WHATWG URL).
    public static let form = Self(type: "application", subtype: "x-www-form-urlencoded")
    /// `application/octet-stream` (RFC 2046 §4.5.1).
    public static let octetStream = Self(type: "application", subtype: "octet-stream")
    /// `text/plain; charset=utf-8`.
    public static let text = Self(type: "text", subtype: "plain", parameters: ["charset": "utf-8"])
    /// `text/html`.
    public static let html = Self(type: "text", subtype: "html")
    /// `image/png`.
    public static let png = Self(type: "image", subtype: "png")
    /// `image/jpeg`.
    public static let jpeg = Self(type: "image", subtype: "jpeg")

    private init(type: String, subtype: String, parameters: [String: String] = [:]) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters
        description = parameters.reduce("\(type)/\(subtype)") { "\($0); \($1.key)=\($1.value)" }
    }
}

extension FieldScanner {
    fileprivate mutating func parameters() -> [String: String] {
        var parameters: [String: String] = [:]
        while skip(UInt8(ascii: ";")) {
            skipSpace()
            if let name = token()?.lowercased(), skip(UInt8(ascii: "=")), let value = quotedString() ?? token() {
                // The first of two parameters with one name counts (WHATWG MIME Sniffing §4.4).
                parameters[name] = parameters[name] ?? value
            }
            skip(to: UInt8(ascii: ";"))
        }
        return parameters
    }
}
