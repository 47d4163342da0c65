/// A form as `multipart/form-data` (RFC 7578), built in memory.
///
/// ```swift
/// var form = MultipartForm()
/// form.append("title", "Holiday")
/// form.append(URLRequest.File(name: "photo", fileName: "beach.png", contentType: .png, data: png))
/// $0.body = .multipart(form)
/// ```
///
/// Names and file names are written as the WHATWG HTML standard says (§4.10.21.8): UTF-8, with `%22` for a quote, `%0D`
/// for CR and `%0A` for LF, so that no name can end its header field.
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
            data.append(contentsOf: "--\(boundary)\r\nContent-Disposition: \(part.header)\r\n\r\n".utf8)
            data.append(part.content)
            data.append(contentsOf: "\r\n".utf8)
        }
        data.append(contentsOf: "--\(boundary)--\r\n".utf8)
        return data
    }
}

extension RequestBody {
    /// A form as `multipart/form-data` (RFC 7578).
    ///
    /// A request whose `Content-Type` the caller has set is refused (``RequestError/Code/invalidBody``): that field has
    /// to name the boundary.
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
