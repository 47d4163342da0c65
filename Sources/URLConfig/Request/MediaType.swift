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

    /// Parses a media type; `nil` if the text is not one.
    ///
    /// With a literal, `MediaType("bogus")` calls ``init(stringLiteral:)`` (SE-0213), which does not fail.
    ///
    /// - Parameter text: The value of a `Content-Type` field. Malformed parameters are ignored, as browsers do.
    public init?(_ text: String) {
        var scanner = FieldScanner(text)
        scanner.skipSpace()
        guard let type = scanner.token(), scanner.skip("/"), let subtype = scanner.token() else { return nil }
        scanner.skipSpace()
        guard scanner.isAtEnd || scanner.isAt(";"), !text.hasControlCharacter else { return nil }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        description = text
        var parameters: [String: String] = [:]
        while scanner.skip(";") {
            scanner.skipSpace()
            if let name = scanner.token()?.lowercased(), scanner.skip("="),
                let value = scanner.quotedString() ?? scanner.token()
            {
                // The first of two parameters with one name counts (WHATWG MIME Sniffing §4.4).
                parameters[name] = parameters[name] ?? value
            }
            scanner.skip(to: ";")
        }
        self.parameters = parameters
    }

    /// `type/subtype`, without the parameters.
    public var essence: String { "\(type)/\(subtype)" }

    /// Whether another media type has this type and subtype, `*` being any, and these parameters, in whatever case.
    public func matches(_ other: MediaType) -> Bool {
        (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
            && parameters.allSatisfy { name, value in
                other.parameters[name]?.lowercased().utf8.elementsEqual(value.lowercased().utf8) == true
            }
    }

    /// Whether two are the same, however they were written.
    public static func == (one: Self, other: Self) -> Bool {
        // By bytes: to compare values with thousands of combining marks takes very long.
        one.essence == other.essence && one.parameters.count == other.parameters.count
            && one.parameters.allSatisfy { other.parameters[$0]?.utf8.elementsEqual($1.utf8) == true }
    }

    /// Hashes a part of what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(essence)
    }

    var isJSON: Bool { subtype == "json" || subtype.hasSuffix("+json") || subtype == "x-ndjson" || subtype == "jsonl" }
    var isForm: Bool { essence == "application/x-www-form-urlencoded" }
    var isMultipart: Bool { type == "multipart" }
    var isText: Bool {
        type == "text" || isJSON || isForm || subtype.hasSuffix("+xml")
            || ["xml", "javascript", "graphql", "yaml"].contains(subtype)
    }
}

extension MediaType: CustomStringConvertible, ExpressibleByStringLiteral {
    /// A media type from a literal; a malformed one becomes `application/octet-stream`.
    public init(stringLiteral text: String) {
        self = Self(text) ?? .octetStream
    }

    /// `application/json` (RFC 8259 §11).
    public static let json: Self = "application/json"
    /// `application/x-www-form-urlencoded` (WHATWG URL).
    public static let form: Self = "application/x-www-form-urlencoded"
    /// `application/octet-stream` (RFC 2046 §4.5.1).
    public static let octetStream: Self = "application/octet-stream"
    /// `text/plain; charset=utf-8`.
    public static let text: Self = "text/plain; charset=utf-8"
    /// `text/html`.
    public static let html: Self = "text/html"
    /// `image/png`.
    public static let png: Self = "image/png"
    /// `image/jpeg`.
    public static let jpeg: Self = "image/jpeg"
}
