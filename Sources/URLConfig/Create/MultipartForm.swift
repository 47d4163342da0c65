/// A form as `multipart/form-data` (RFC 7578).
///
/// ```swift
/// var form = MultipartForm(.api)
/// form.append("title", "Holiday")
/// form.append("place", json: place)
/// form.append("photo", data: png, filename: "beach.png", contentType: .png)
/// form.append("film", file: URL(filePath: "/films/beach.mp4"))
/// $0.body = .multipart(form)
/// ```
///
/// Dates, numbers and JSON are encoded when the request is built or the upload begins, with the encoder of the preset
/// that the form is made with. A form without a preset uses the encoder of the request's configuration. An upload knows
/// no configuration and uses ``Foundation/URLRequest/Config/defaultEncoder``.
///
/// In names, a quote becomes `%22`, CR `%0D` and LF `%0A` (WHATWG HTML §4.10.21.8).
public struct MultipartForm: Sendable {
    private enum Content {
        case data(Data)
        /// The content of each part with the name; it depends on the encoder.
        case encoded(@Sendable (JSONEncoder) throws -> [Data])
        case file(URL)
    }

    private struct Part {
        let name: String
        /// The text after the name.
        var fields = ""
        let content: Content
    }

    /// Separates the parts; with 128 random bits, it does not occur in their contents.
    let boundary: String
    private let encoder: JSONEncoder?
    private var parts: [Part] = []

    /// An empty form.
    ///
    /// - Parameter config: The preset whose encoder is used.
    public init(_ config: URLRequest.Config? = nil) {
        let random = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        boundary = "URLConfig-" + random.joined(separator: "-")
        encoder = config?.effectiveEncoder
    }

    /// Adds a text field in UTF-8, whose value is written as in a query.
    ///
    /// An array becomes several fields with one name. `nil` adds no field.
    public mutating func append(_ name: String, _ value: (some QueryValue)?) {
        guard let item = value?.item(name) else { return }
        let content = Content.encoded { try item.resolved($0.forText).flatMap(\.values).map { Data($0.utf8) } }
        parts.append(Part(name: name, content: content))
    }

    /// Adds a field with a JSON value; `nil` adds no field.
    public mutating func append(_ name: String, json value: (some Encodable & Sendable)?) {
        guard let value else { return }
        append(name, nil, .json, .encoded { [try $0.encode(RequestBody.withoutNil(value))] })
    }

    /// Adds a file, or another part made of bytes, whose content is in memory.
    ///
    /// - Parameters:
    ///   - name: The name of the form field.
    ///   - data: The content.
    ///   - filename: The file name that the server receives; by default none.
    ///   - contentType: The media type of the content.
    public mutating func append(
        _ name: String, data: Data, filename: String? = nil, contentType: MediaType = "application/octet-stream"
    ) {
        append(name, filename, contentType, .data(data))
    }

    /// Adds a file on disk, which is read when the request is built or the upload begins.
    ///
    /// A file that is missing or cannot be read, and anything but a regular file, is an error then
    /// (``RequestError/Code/invalidRequest``). So is a file whose size changes while it is read.
    ///
    /// - Parameters:
    ///   - name: The name of the form field.
    ///   - file: The URL of the file.
    ///   - filename: The file name that the server receives; by default the last path component of the URL.
    ///   - contentType: The media type; by default the type of the file's extension, or `application/octet-stream`.
    public mutating func append(_ name: String, file: URL, filename: String? = nil, contentType: MediaType? = nil) {
        let type = contentType ?? MediaType(fileExtension: file.pathExtension) ?? .octetStream
        append(name, filename ?? file.lastPathComponent, type, .file(file))
    }

    private mutating func append(_ name: String, _ filename: String?, _ type: MediaType, _ content: Content) {
        let filename = filename.map { "; filename=\"\($0.escapedForHeader)\"" } ?? ""
        parts.append(Part(name: name, fields: "\(filename)\r\nContent-Type: \(type)", content: content))
    }

    var contentType: MediaType { .init(stringLiteral: "multipart/form-data; boundary=\(boundary)") }

    /// The content type, which cannot replace one that the caller has set.
    func contentType(insteadOf given: String?) throws(RequestError) -> MediaType {
        guard let given else { return contentType }
        throw .refused("Content-Type is '\(given)', but a multipart body sets its own; remove that field")
    }

    /// The form in memory, with the content of its files.
    func data(_ encoder: JSONEncoder) throws -> Data {
        var data = Data()
        data.reserveCapacity(Int(clamping: try smallestSize))
        try forEachPiece(encoder) { piece, _ in data.append(piece) }
        return data
    }

    /// Passes the bytes of the form to a function, in pieces of at most 1 MB.
    ///
    /// - Parameter use: Is also told whether the piece is from a file, or from data that may be one.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest``, which names the part, if a file
    ///   cannot be read or a value cannot be encoded; the errors of the function.
    func forEachPiece(_ encoder: JSONEncoder, _ use: (Data, _ isOfFile: Bool) throws -> Void) throws {
        let encoder = self.encoder ?? encoder
        for part in parts {
            switch part.content {
            case .data(let content): try data(part, content) { piece, _ in try use(piece, true) }
            case .encoded(let encode):
                let contents = try RequestError.refusing("part '\(part.name)':") { try encode(encoder) }
                for content in contents { try data(part, content, use) }
            case .file(let url):
                try use(head(of: part), false)
                try RequestError.within("part '\(part.name)'") {
                    try RegularFile(url).forEachPiece { try use($0, true) }
                }
                try use(Data("\r\n".utf8), false)
            }
        }
        try use(Data("--\(boundary)--\r\n".utf8), false)
    }

    private func head(of part: Part) -> Data {
        let name = "form-data; name=\"\(part.name.escapedForHeader)\"\(part.fields)"
        return Data("--\(boundary)\r\nContent-Disposition: \(name)\r\n\r\n".utf8)
    }

    private func data(_ part: Part, _ content: Data, _ use: (Data, _ isOfFile: Bool) throws -> Void) throws {
        try use(head(of: part), false)
        // A function that throws when it is cancelled ends soon.
        var rest = content
        while !rest.isEmpty {
            try use(rest.prefix(1 << 20), false)
            rest = rest.dropFirst(1 << 20)
        }
        try use(Data("\r\n".utf8), false)
    }

    /// The number of bytes of files and data; fields and JSON do not count.
    private var smallestSize: Int64 {
        get throws {
            let memory = Int64(clamping: ProcessInfo.processInfo.physicalMemory)
            var size: Int64 = 0
            for part in parts {
                if case .data(let data) = part.content { size += Int64(data.count) }
                guard case .file(let url) = part.content else { continue }
                try RequestError.within("part '\(part.name)'") {
                    let file = try RegularFile(url).size
                    // Allocating more than there is would crash.
                    guard file <= memory - size else {
                        let words = "does not fit into memory; upload the form from disk"
                        throw RequestError.refused("the file '\(url.lastPathComponent)' \(words)")
                    }
                    size += file
                }
            }
            return size
        }
    }
}

extension MultipartForm: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("names", parts.map(\.name))] }
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
        for file in files { form.append(file.key, data: file.data, filename: file.name, contentType: file.mimeType) }
        setValue(form.contentType.description, forHTTPHeaderField: "Content-Type")
        // Only JSON parts can fail, and this form has none.
        httpBody = try? form.data(JSONEncoder())
    }
}
