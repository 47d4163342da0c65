/// A form as `multipart/form-data` (RFC 7578), built in memory.
///
/// ```swift
/// var form = MultipartForm()
/// form.append("title", "Holiday")
/// form.append("place", json: place)
/// form.append(URLRequest.File(key: "photo", name: "beach.png", data: png, mimeType: .png))
/// $0.body = .multipart(form)
/// ```
///
/// In names, a quote becomes `%22`, CR `%0D` and LF `%0A` (WHATWG HTML §4.10.21.8).
public struct MultipartForm: Sendable {
    /// Separates the parts; with 128 random bits, it does not occur in their contents.
    let boundary: String
    private var parts: [(header: String, content: @Sendable (JSONEncoder) throws -> Data)] = []

    /// An empty form.
    public init() {
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        boundary = "URLConfig-" + random.joined(separator: "-")
    }

    /// Adds a text field in UTF-8; an array becomes several fields with one name, `nil` none.
    public mutating func append(_ name: String, _ value: (some QueryValue)?) {
        for text in value?.item(name).values ?? [] { append(name, "") { _ in Data(text.utf8) } }
    }

    /// Adds a field with a JSON value, encoded with the encoder of the configuration when the request is built.
    ///
    /// `nil` adds no field.
    public mutating func append(_ name: String, json value: (some Encodable & Sendable)?) {
        guard let value else { return }
        append(name, "\r\nContent-Type: \(MediaType.json)") { encoder in
            do {
                return try encoder.encode(RequestBody.JSON(value))
            } catch {
                throw RequestError.refused(.invalidRequest, "part '\(name)': \(error.summary)", error)
            }
        }
    }

    /// Adds a file.
    public mutating func append(_ file: URLRequest.File) {
        let name = file.name.map { "; filename=\"\($0.escapedForHeader)\"" } ?? ""
        append(file.key, "\(name)\r\nContent-Type: \(file.mimeType)") { _ in file.data }
    }

    private mutating func append(
        _ name: String, _ header: String, _ content: @escaping @Sendable (JSONEncoder) throws -> Data
    ) {
        parts.append(("name=\"\(name.escapedForHeader)\"\(header)", content))
    }

    var contentType: MediaType { .init(stringLiteral: "multipart/form-data; boundary=\(boundary)") }

    func data(_ encoder: JSONEncoder) throws -> Data {
        let contents = try parts.map { try $0.content(encoder) }
        var data = Data()
        // 128 bytes cover the delimiters of a part.
        data.reserveCapacity(zip(parts, contents).reduce(128) { $0 + $1.0.header.utf8.count + $1.1.count + 128 })
        for (part, content) in zip(parts, contents) {
            data += "--\(boundary)\r\nContent-Disposition: form-data; \(part.header)\r\n\r\n".utf8
            data += content
            data += "\r\n".utf8
        }
        return data + "--\(boundary)--\r\n".utf8
    }
}

extension String {
    /// The text for a quoted value in a header field.
    // The comparison is literal, because a quote with an accent is one character.
    fileprivate var escapedForHeader: String {
        ["\"": "%22", "\r": "%0D", "\n": "%0A"].reduce(self) { text, escape in
            text.replacingOccurrences(of: escape.key, with: escape.value, options: .literal)
        }
    }
}
