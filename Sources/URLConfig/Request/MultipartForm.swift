/// A form as `multipart/form-data` (RFC 7578), built in memory.
///
/// ```swift
/// var form = MultipartForm()
/// form.append("title", "Holiday")
/// form.append(URLRequest.File(name: "photo", fileName: "beach.png", contentType: .png, data: png))
/// $0.body = .multipart(form)
/// ```
///
/// In names a quote is written as `%22`, CR as `%0D` and LF as `%0A` (WHATWG HTML §4.10.21.8).
public struct MultipartForm: Sendable {
    /// Separates the parts; its 128 random bits are in no content.
    public let boundary: String
    private var parts: [(header: String, content: Data)] = []

    /// An empty form with a boundary of its own.
    public init() {
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        boundary = "URLConfig-" + random.joined(separator: "-")
    }

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - value: Its value, sent as UTF-8, byte for byte.
    public mutating func append(_ name: String, _ value: String) {
        parts.append(("form-data; name=\"\(name.formName)\"", Data(value.utf8)))
    }

    /// Adds a file.
    ///
    /// - Parameter file: The file with the name of its field.
    public mutating func append(_ file: URLRequest.File) {
        let disposition = "form-data; name=\"\(file.name.formName)\"; filename=\"\(file.fileName.escapedForHeader)\""
        parts.append(("\(disposition)\r\nContent-Type: \(file.contentType)", file.data))
    }

    var contentType: MediaType { .init(stringLiteral: "multipart/form-data; boundary=\(boundary)") }

    var data: Data {
        var data = Data()
        // 128 bytes cover a part's own delimiters.
        data.reserveCapacity(parts.reduce(128) { $0 + $1.header.utf8.count + $1.content.count + 128 })
        for part in parts {
            data += "--\(boundary)\r\nContent-Disposition: \(part.header)\r\n\r\n".utf8
            data += part.content
            data += "\r\n".utf8
        }
        return data + "--\(boundary)--\r\n".utf8
    }
}

extension RequestBody {
    /// A form as `multipart/form-data` (RFC 7578).
    ///
    /// A `Content-Type` of the caller's that does not name the boundary is refused (``RequestError/Code/invalidRequest``).
    ///
    /// - Parameter form: The form.
    public static func multipart(_ form: MultipartForm) -> Self {
        Self { fields, _ in
            if let own = fields[.contentType], !own.contains(form.boundary) {
                throw Reason("Content-Type is set to '\(own)', but a multipart body needs its own; remove that field")
            }
            fields.setContentType(form.contentType)
            return form.data
        }
    }
}

extension String {
    /// As written between the quotes of a header field; literally, because a quote with an accent is one character.
    fileprivate var escapedForHeader: String {
        ["\"": "%22", "\r": "%0D", "\n": "%0A"].reduce(self) { text, escape in
            text.replacingOccurrences(of: escape.key, with: escape.value, options: .literal)
        }
    }

    /// A field's name: its line breaks become CRLF first, which a file's name keeps as they are.
    fileprivate var formName: String {
        replacing("\r\n", with: "\n").replacing("\r", with: "\n").replacing("\n", with: "\r\n").escapedForHeader
    }
}
