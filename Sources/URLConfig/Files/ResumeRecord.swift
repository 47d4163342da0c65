/// What a later run has to know about the part of a download.
///
/// It contains no secrets, and shows that the library has made the part.
struct ResumeRecord: Codable, Hashable, Sendable {
    /// A part as it was when a run has closed it: the time changes with each byte that somebody writes.
    struct Stamp: Codable, Hashable, Sendable {
        let size: Int64
        let changed: Int64

        init(_ status: File.Status) { (size, changed) = (status.size, status.changed) }
    }

    /// The beginning of each record.
    private static let mark = Data("URLConfig download 2\n".utf8)
    private static let longest = 4096

    /// Random bytes for the digests.
    let key: Data
    /// What was requested; `nil` if a later run cannot continue it.
    let request: RequestDigest?
    /// Who has requested it.
    var requester: RequestDigest?
    /// The file with the bytes: another program may have put a file of its own there.
    let inode: UInt64
    /// When that file was created, because its number may be used again; `nil` if the file system does not know it.
    let birth: Int64?
    /// The version of the file on the server; `nil` if the bytes of the part cannot be used.
    var validator: StrongValidator?
    /// The length of the whole file in bytes, if it is known.
    var total: Int64?
    /// `nil` while a run writes to the part, and if that run was killed.
    var stamp: Stamp?

    /// Describes an empty part.
    init(_ file: File, of request: URLRequest) throws(POSIXError) {
        key = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
        self.request = RequestDigest(of: request, key: key)
        inode = try file.status().inode
        birth = file.birth()
    }

    /// Reads a record; `nil` if there is none, or if it was not written to its end.
    ///
    /// - Throws: `EEXIST` if there is something that this library has not made.
    static func read(_ path: String) throws(POSIXError) -> Self? {
        guard try File.Status.ifPresent(path) != nil else { return nil }
        guard let file = try? File(path, O_RDONLY), try file.status().isOwnFile,
            let data = try? file.bytes(at: 0, count: longest), data.starts(with: mark.prefix(data.count))
        else { throw POSIXError(.EEXIST) }
        guard let record = try? JSONDecoder().decode(Self.self, from: data.dropFirst(mark.count)),
            record.validator?.isValid ?? true, record.total ?? 0 >= 0
        else { return nil }
        return record
    }

    /// Writes or replaces the record, so that there is never a half of it.
    ///
    /// It is on the disk before it has its name: without it, the part would be nobody's after a power failure.
    ///
    /// - Throws: `EEXIST` if there is something that this library has not made.
    func write(for target: DownloadTarget) throws {
        for path in [target.record, target.newRecord] { _ = try Self.read(path) }
        try File.remove(target.newRecord)
        let file = try File(target.newRecord, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, mode: 0o600)
        var count: Int64 = 0
        try file.append(Self.mark + JSONEncoder().encode(self), count: &count)
        try file.synchronize()
        _ = try File.call { rename(target.newRecord, target.record) }
    }

    /// Whether this describes a file, which the library has made then.
    func describes(_ file: File) -> Bool {
        guard let status = try? file.status() else { return false }
        return status.inode == inode && file.birth() == birth
    }

    /// Whether the bytes of the part may be used for a request.
    func isUsable(for request: URLRequest, _ status: File.Status) -> Bool {
        validator != nil && self.request == RequestDigest(of: request, key: key) && status.size <= total ?? .max
            && stamp ?? .init(status) == .init(status)
    }
}

/// What recognizes a text in a later run, without the text itself, which may contain secrets.
struct RequestDigest: RawRepresentable, Codable, Hashable, Sendable {
    let rawValue: String
}

extension RequestDigest {
    /// - Parameter key: Random bytes, so that nobody without them can find out the text by trying.
    init(_ text: String, key: Data = Data()) {
        self.init(rawValue: Data(SHA256.code(for: text.utf8, key: key)).base64EncodedString())
    }

    /// What a request asks for: its URL, and the fields that choose one of several representations (RFC 9110 §12.5).
    ///
    /// `nil` if ranges are not defined for its method (RFC 9110 §14.2).
    init?(of request: URLRequest, key: Data) {
        guard request.httpMethod ?? "GET" == "GET", let url = request.url else { return nil }
        let fields = ["Accept", "Accept-Language"].map { request.value(forHTTPHeaderField: $0) ?? "" }
        self.init(([url.text(withQuery: true)] + fields).joined(separator: "\n"), key: key)
    }

    /// The resource that sent a response, after redirects.
    ///
    /// The query is left out, because it is often a signature that is new for each redirect.
    init(resource url: URL?) { self.init(url?.text(withQuery: false) ?? "") }
}

/// Who asks for a file: the credentials of a request as it is sent.
///
/// A server may have another file for another user, and call it by the same version.
struct Requester: Sendable {
    /// It contains secrets.
    private let text: String

    /// - Parameter request: The request, with the fields of the session and of the authenticator.
    init(_ request: URLRequest, _ redaction: Redaction = .standard) {
        let url = request.url
        let parts = [url?.user(), url?.password(), url?.query()]
        // The fields of a trace are new for each request.
        let fields = (request.allHTTPHeaderFields ?? [:])
            .filter { redaction.isCredential($0.key) && !Redaction.isOfTrace($0.key) }
        let lines = fields.map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        text = (parts.map { $0 ?? "" } + lines).joined(separator: "\n")
    }

    func digest(key: Data) -> RequestDigest { RequestDigest(text, key: key) }
}

/// What a server calls a version of a file, byte for byte: a strong `ETag`, or a strong `Last-Modified`.
struct StrongValidator: Codable, Hashable, Sendable {
    /// The value of the field; that of `ETag` begins with a quote.
    let text: String
    /// Validators of different resources cannot be compared (RFC 9110 §8.8.1).
    private let resource: RequestDigest

    private var isEntityTag: Bool { text.utf8.first == UInt8(ascii: "\"") }

    /// - Parameters:
    ///   - fields: The header fields of a response.
    ///   - url: The URL of the response, after redirects.
    init?(_ fields: HTTPFields, of url: URL?) {
        let entityTags = fields[values: .eTag]
        // A date must not be used if there is an entity tag, even a weak one (RFC 9110 §13.1.5).
        let text = entityTags.isEmpty ? Self.strongDate(fields) : entityTags.count == 1 ? entityTags.first : nil
        self.text = text ?? ""
        resource = RequestDigest(resource: url)
        guard isValid, isEntityTag != entityTags.isEmpty else { return nil }
    }

    /// Whether it may be sent; one that was read from a file may contain anything.
    var isValid: Bool {
        guard text.utf8.count <= 512 else { return false }
        guard isEntityTag else { return Date(httpDate: text) != nil && !text.hasControlCharacter }
        // RFC 9110 §8.8.3; bytes outside of ASCII are not accepted, because their encoding is unknown.
        let content = text.utf8.dropFirst()
        return content.last == UInt8(ascii: "\"")
            && content.dropLast().allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") }
    }

    /// The date in `Last-Modified`, if the file cannot have changed again in the same second.
    ///
    /// That needs a `Date` that is a little later (RFC 9110 §8.8.2.2). A minute is enough for clocks that differ.
    private static func strongDate(_ fields: HTTPFields) -> String? {
        let (modified, sent) = (fields[values: .lastModified], fields[values: .date])
        guard modified.count == 1, sent.count == 1, let date = Date(httpDate: modified[0]),
            let now = Date(httpDate: sent[0]), now >= date + 60
        else { return nil }
        return modified[0]
    }

    /// Whether a 206 says that it belongs to this version.
    ///
    /// Without the validator, the server may have ignored the condition of the request. It must send an `ETag`, but it
    /// may leave out `Last-Modified` (RFC 9110 §15.3.7); then the file is downloaded from its beginning.
    func matches(_ fields: HTTPFields, of url: URL?) -> Bool {
        guard resource == RequestDigest(resource: url) else { return false }
        let found = fields[values: isEntityTag ? .eTag : .lastModified]
        // Bytes are compared: comparing strings may take quadratic time.
        return !found.isEmpty && found.allSatisfy { $0.utf8.elementsEqual(text.utf8) }
            && (isEntityTag || fields[.eTag] == nil)
    }
}

extension URL {
    fileprivate func text(withQuery: Bool) -> String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return absoluteString }
        (components.user, components.password, components.fragment) = (nil, nil, nil)
        if !withQuery { components.query = nil }
        return components.string ?? absoluteString
    }
}
