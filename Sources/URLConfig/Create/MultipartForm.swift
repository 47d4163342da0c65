/// A form as `multipart/form-data` (RFC 7578).
///
/// ```swift
/// var form = MultipartForm()
/// form.append("title", "Holiday")
/// form.append("place", json: place)
/// form.append(URLRequest.File(key: "photo", name: "beach.png", data: png, mimeType: .png))
/// form.append("film", file: URL(filePath: "/films/beach.mp4"))
/// $0.body = .multipart(form)
/// ```
///
/// In names, a quote becomes `%22`, CR `%0D` and LF `%0A` (WHATWG HTML §4.10.21.8).
public struct MultipartForm: Sendable {
    private enum Content {
        case data(Data)
        case json(RequestBody.JSON)
        case file(URL)
    }

    /// Separates the parts; with 128 random bits, it does not occur in their contents.
    let boundary: String
    private var parts: [(name: String, header: String, content: Content)] = []

    /// An empty form.
    public init() {
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        boundary = "URLConfig-" + random.joined(separator: "-")
    }

    /// Adds a text field in UTF-8; an array becomes several fields with one name, `nil` none.
    public mutating func append(_ name: String, _ value: (some QueryValue)?) {
        for text in value?.item(name).values ?? [] { append(name, "", .data(Data(text.utf8))) }
    }

    /// Adds a field with a JSON value; `nil` adds no field.
    ///
    /// It is encoded when the request is built, with the encoder of the configuration. In an upload, it is encoded when
    /// the upload begins, with ``Foundation/URLRequest/Config/defaultEncoder``.
    public mutating func append(_ name: String, json value: (some Encodable & Sendable)?) {
        guard let value else { return }
        append(name, "\r\nContent-Type: \(MediaType.json)", .json(RequestBody.JSON(value)))
    }

    /// Adds a file whose content is in memory.
    public mutating func append(_ file: URLRequest.File) {
        append(file.key, name: file.name, file.mimeType, .data(file.data))
    }

    /// Adds a file on disk, which is read when the request is built or the upload begins.
    ///
    /// A file that is missing or cannot be read, and anything but a regular file, is an error then
    /// (``RequestError/Code/invalidRequest``). So is a file whose size changes while it is read.
    ///
    /// - Parameters:
    ///   - key: The name of the form field.
    ///   - file: The URL of the file.
    ///   - name: The file name that the server receives; by default the last path component of the URL.
    ///   - contentType: The media type; by default that of the file's extension, or `application/octet-stream`.
    public mutating func append(_ key: String, file: URL, name: String? = nil, contentType: MediaType? = nil) {
        let type = contentType ?? MediaType(fileExtension: file.pathExtension) ?? .octetStream
        append(key, name: name ?? file.lastPathComponent, type, .file(file))
    }

    private mutating func append(_ key: String, name: String?, _ type: MediaType, _ content: Content) {
        let name = name.map { "; filename=\"\($0.escapedForHeader)\"" } ?? ""
        append(key, "\(name)\r\nContent-Type: \(type)", content)
    }

    private mutating func append(_ name: String, _ header: String, _ content: Content) {
        parts.append((name, "name=\"\(name.escapedForHeader)\"\(header)", content))
    }

    var contentType: MediaType { .init(stringLiteral: "multipart/form-data; boundary=\(boundary)") }

    /// The content type, which cannot replace one that the caller has set.
    func contentType(insteadOf given: String?) throws(RequestError) -> MediaType {
        guard let given else { return contentType }
        throw .refused(
            .invalidRequest, "Content-Type is '\(given)', but a multipart body sets its own; remove that field")
    }

    /// The form in memory, with the content of its files.
    func data(_ encoder: JSONEncoder) throws -> Data {
        var data = Data()
        data.reserveCapacity(Int(clamping: try sizeWithoutJSON))
        try forEachPiece(encoder) { data.append($0) }
        return data
    }

    /// Passes the bytes of the form to a function, in pieces of at most 1 MB.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest``, which names the part, if a file
    ///   cannot be read or a value cannot be encoded; the errors of the function.
    func forEachPiece(_ encoder: JSONEncoder, _ use: (Data) throws -> Void) throws {
        for part in parts {
            let header = "--\(boundary)\r\nContent-Disposition: form-data; \(part.header)\r\n\r\n"
            try use(Data(header.utf8))
            switch part.content {
            case .data(let data):
                try data.forEachPiece(use)
            case .json(let value):
                let data: Data
                do {
                    data = try encoder.encode(value)
                } catch {
                    throw RequestError.refused(.invalidRequest, "part '\(part.name)': \(error.summary)", error)
                }
                try data.forEachPiece(use)
            case .file(let url):
                try RequestError.within("part '\(part.name)'") { try RegularFile(url).forEachPiece(use) }
            }
            try use(Data("\r\n".utf8))
        }
        try use(Data("--\(boundary)--\r\n".utf8))
    }

    /// The number of bytes, without those of JSON parts.
    private var sizeWithoutJSON: Int64 {
        get throws {
            let memory = Int64(clamping: ProcessInfo.processInfo.physicalMemory)
            // 128 bytes cover the delimiters of a part.
            return try parts.reduce(128) { size, part in
                let size = size + Int64(part.header.utf8.count) + 128
                switch part.content {
                case .json: return size
                case .data(let data): return size + Int64(data.count)
                case .file(let url):
                    return try RequestError.within("part '\(part.name)'") {
                        let file = try RegularFile(url).size
                        // Allocating more than there is would crash.
                        if file <= memory - size { return size + file }
                        throw RequestError.refused(
                            .invalidRequest,
                            "the file '\(url.lastPathComponent)' does not fit into memory; upload the form from disk")
                    }
                }
            }
        }
    }
}

extension MultipartForm: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("names", parts.map(\.name))] }
}

extension Data {
    /// Passes the bytes to a function, 1 MB at a time.
    fileprivate func forEachPiece(_ use: (Data) throws -> Void) rethrows {
        var rest = self
        while !rest.isEmpty {
            try use(rest.prefix(1 << 20))
            rest = rest.dropFirst(1 << 20)
        }
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

extension URLRequest {
    /// A file, or another part made of bytes, in a multipart form.
    public struct File: Sendable, Hashable {
        /// The name of the form field.
        public var key: String
        /// The file name; `nil` for a part without a file name.
        public var name: String?
        /// The content.
        public var data: Data
        /// The media type of the content.
        public var mimeType: MediaType

        /// Creates a file for the field `key`, by default without a file name.
        public init(key: String, name: String? = nil, data: Data, mimeType: MediaType = "application/octet-stream") {
            self.key = key
            self.name = name
            self.data = data
            self.mimeType = mimeType
        }
    }

    /// Sets the body to a multipart form and sets `Content-Type`; the method does not change.
    ///
    /// - Parameters:
    ///   - parameters: The text fields; they are sent in the order of their names.
    ///   - files: The files; they are sent after the text fields.
    public mutating func setMultipartFormData(parameters: [String: String] = [:], files: [File] = []) {
        var form = MultipartForm()
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { form.append(name, value) }
        for file in files { form.append(file) }
        setValue(form.contentType.description, forHTTPHeaderField: "Content-Type")
        // Only JSON parts can fail, and this form has none.
        httpBody = try? form.data(JSONEncoder())
    }
}
