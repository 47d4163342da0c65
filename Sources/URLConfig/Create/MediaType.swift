/// A media type with its parameters, such as `text/html; charset=utf-8` (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Hashable {
    let type: String
    let subtype: String
    /// The parameters as bytes: comparing strings with thousands of combining marks takes very long.
    private var values: [String: [UInt8]] = [:]
    /// The parameters: names in lower case, values without quotes.
    public var parameters: [String: String] { values.mapValues { String(decoding: $0, as: UTF8.self) } }
    var charset: String? { values["charset"].map { String(decoding: $0, as: UTF8.self) } }
    /// The unchanged text of the media type.
    public var description: String { text }
    @Uncompared private var text: String

    /// Parses a media type; `nil` if the text is not one.
    ///
    /// Malformed parameters are ignored, as in browsers. For a literal, such as `MediaType("bogus")`, Swift calls
    /// ``init(stringLiteral:)`` instead (SE-0213), which does not fail.
    ///
    /// - Parameter text: The value of a `Content-Type` field.
    public init?(_ text: String) {
        var scanner = FieldScanner(text)
        scanner.skipSpace()
        guard let type = scanner.token(), scanner.skip("/"), let subtype = scanner.token() else { return nil }
        scanner.skipSpace()
        guard scanner.isAtEnd || scanner.isAt(";"), !text.hasControlCharacter else { return nil }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        _text = Uncompared(wrappedValue: text)
        while scanner.skip(";") {
            scanner.skipSpace()
            if let name = scanner.token()?.lowercased(), scanner.skip("="),
                let value = scanner.quotedString() ?? scanner.token()
            {
                // The first of several parameters with one name wins (WHATWG MIME Sniffing §4.4).
                values[name] = values[name] ?? Array(value.utf8)
            }
            scanner.skip(to: ";")
        }
    }

    /// `type/subtype`, without the parameters.
    public var essence: String { "\(type)/\(subtype)" }

    /// Whether another media type has this type and subtype, where `*` matches all, and these parameters; ignores case.
    func matches(_ other: MediaType) -> Bool {
        let found = other.parameters
        return (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
            && parameters.allSatisfy { $1.lowercased().hasBytes(of: found[$0]?.lowercased()) }
    }

    /// Whether the character set is one of these, in lowercase, or none is named.
    func hasCharset(_ names: [String]) -> Bool {
        guard let charset else { return true }
        // To compare a long one may take quadratic time.
        return charset.utf8.count < 12 && names.contains(charset.lowercased())
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
    static let form: Self = "application/x-www-form-urlencoded"
    static let octetStream: Self = "application/octet-stream"
    /// `application/problem+json` (RFC 9457 §6.1).
    public static let problem: Self = "application/problem+json"
    /// `text/plain; charset=utf-8`.
    public static let text: Self = "text/plain; charset=utf-8"
    /// `text/html`.
    public static let html: Self = "text/html"
    /// `text/event-stream` (WHATWG HTML §9.2.5).
    package static let eventStream: Self = "text/event-stream"
    /// `image/png`.
    public static let png: Self = "image/png"
    /// `image/jpeg`.
    public static let jpeg: Self = "image/jpeg"
}

extension MediaType {
    /// The media type of files with an extension, in upper or lower case; `nil` if it is not a common one.
    ///
    /// The table is the same on all platforms. The types are registered with IANA where there is a registered one.
    init?(fileExtension: String) {
        // No extension in the table is longer.
        guard fileExtension.utf8.count <= 6, let text = Self.types[fileExtension.lowercased()] else { return nil }
        self.init(text)
    }

    /// Text has no `charset` parameter, because nothing is known about the content.
    private static let types = [
        // Images
        "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "heic": "image/heic", "heif": "image/heif",
        "ico": "image/vnd.microsoft.icon", "jpeg": "image/jpeg", "jpg": "image/jpeg", "png": "image/png",
        "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff", "webp": "image/webp",
        // Video
        "avi": "video/x-msvideo", "m4v": "video/x-m4v", "mkv": "video/matroska", "mov": "video/quicktime",
        "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg", "webm": "video/webm",
        // Audio
        "aac": "audio/aac", "aif": "audio/x-aiff", "aiff": "audio/x-aiff", "flac": "audio/flac", "m4a": "audio/mp4",
        "mp3": "audio/mpeg", "ogg": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav",
        // Text
        "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "ics": "text/calendar",
        "js": "text/javascript", "md": "text/markdown", "mjs": "text/javascript", "txt": "text/plain",
        "vcf": "text/vcard",
        // Data
        "json": "application/json", "jsonl": "application/x-ndjson", "ndjson": "application/x-ndjson",
        "wasm": "application/wasm",
        "xml": "application/xml", "yaml": "application/yaml", "yml": "application/yaml",
        // Archives
        "7z": "application/x-7z-compressed", "gz": "application/gzip", "tar": "application/x-tar",
        "tgz": "application/gzip", "zip": "application/zip", "zst": "application/zstd",
        // Documents
        "doc": "application/msword", "epub": "application/epub+zip", "pdf": "application/pdf",
        "ppt": "application/vnd.ms-powerpoint", "rtf": "application/rtf", "xls": "application/vnd.ms-excel",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        // Fonts
        "otf": "font/otf", "ttf": "font/ttf", "woff": "font/woff", "woff2": "font/woff2",
    ]
}
