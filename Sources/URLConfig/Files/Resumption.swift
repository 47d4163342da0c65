/// Decides how a download continues: what is requested, and what is done with the response.
///
/// The file is never made of two versions: everything that is not certain leads to a download from the start.
struct Resumption: Sendable {
    /// A decision about a response.
    enum Decision: Hashable, Sendable {
        /// The body is the file from this offset, with its validator and whole length if they are known.
        case use(from: Int64, StrongValidator?, total: Int64?)
        /// Nothing can be used, for this reason: request the whole file, which replaces the part when it arrives.
        ///
        /// It is never the decision after a request for the whole file, so it happens once.
        case again(String)
        /// The response contains no file, for this reason.
        case refuse(String)
        /// The body has this encoding, although none was requested: a part of it may look like a whole file.
        case encoded(String)
    }

    /// The offset of the first byte that is requested; 0 for the whole file.
    let start: Int64
    private let validator: StrongValidator?
    private let total: Int64?

    /// - Parameters:
    ///   - count: The number of bytes that have arrived.
    ///   - validator: Their version; without it, the whole file is requested.
    ///   - total: The length of the file, if it is known.
    init(count: Int64 = 0, validator: StrongValidator? = nil, total: Int64? = nil) {
        self.validator = validator
        self.total = total
        let isUsable = validator != nil && count > 0 && count <= total ?? .max
        // There is no range after the end. So the last byte of a complete part is requested once more.
        start = isUsable ? (count == total ? count - 1 : count) : 0
    }

    /// The whole file is requested again; its length is still known if it has the same version.
    var fromStart: Self { Self(validator: validator, total: total) }

    /// Refuses requests with ranges of their own, and requests whose responses have no body.
    static func check(_ request: URLRequest) throws(RequestError) {
        for name in ["Range", "If-Range"] where request.value(forHTTPHeaderField: name) != nil {
            throw .refused("header field \(name) is set by the download; remove it")
        }
        guard request.httpMethod != "HEAD" else {
            throw .refused("a response to HEAD has no body; use another method for a download")
        }
    }

    /// Replaces the fields by which a request asks for the rest of the file.
    func prepare(_ request: inout URLRequest) {
        // The offsets of a range count the bytes of the encoded file, but Foundation returns decoded bytes.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        request.setValue(start > 0 ? "bytes=\(start)-" : nil, forHTTPHeaderField: "Range")
        request.setValue(start > 0 ? validator?.text : nil, forHTTPHeaderField: "If-Range")
    }

    /// - Parameter url: The URL of the response, after redirects.
    func decision(_ status: HTTPResponse.Status, _ fields: HTTPFields, of url: URL?) -> Decision {
        switch status.code {
        case 200 where fields.isEncoded, 203 where fields.isEncoded:
            .encoded((fields[.contentEncoding] ?? fields[.transferEncoding] ?? "").shortened(to: 40))
        case 200 where fields[.contentRange] != nil, 203 where fields[.contentRange] != nil:
            start > 0 ? .again("the response is not a 206, but has a range") : .refuse("a range is not the whole file")
        case 200: whole(fields, of: url)
        // A proxy has changed the file, but perhaps not the validator (RFC 9110 §15.3.4).
        case 203: .use(from: 0, nil, total: fields.bodyLength)
        case 206 where start > 0: rest(fields, of: url)
        case 206: .refuse("the response is a part of the file, but the whole was requested")
        case 416 where start > 0: .again("the server does not have the range")
        default: .refuse("status \(status.code) is not a file")
        }
    }

    /// The decision about the body of a 200.
    private func whole(_ fields: HTTPFields, of url: URL?) -> Decision {
        let found = StrongValidator(fields, of: url)
        // If the body ends with its connection, only the length of the same version shows what is missing.
        let isKnown = found != nil && found == validator && fields.isIdentity(.transferEncoding)
        return .use(from: 0, found, total: fields.bodyLength ?? (isKnown ? total : nil))
    }

    /// The decision about the body of a 206, which has to be the whole rest of the file (RFC 9110 §14.4).
    private func rest(_ fields: HTTPFields, of url: URL?) -> Decision {
        let isMultipart = fields[.contentType].flatMap { MediaType($0) }?.essence == "multipart/byteranges"
        // A longer value is invalid, and comparing it may take quadratic time.
        let ranges = fields[values: .contentRange].map { $0.utf8.count < 80 ? $0.lowercased() : "" }
        let given = ranges.first?.split(separator: "/").last.flatMap { Int64(digits: $0) }
        guard !isMultipart, let total = total ?? given, total > start,
            ["\(total)", "*"].contains(where: { ranges == ["bytes \(start)-\(total - 1)/\($0)"] })
        else { return .again("the response is not the rest of the file from byte \(start)") }
        guard let validator, validator.matches(fields, of: url) else { return .again("the file has changed") }
        guard !fields.isEncoded, fields.bodyLength ?? total - start == total - start else {
            return .again("the body does not have the length of its Content-Range")
        }
        return .use(from: start, validator, total: total)
    }
}

extension HTTPFields {
    /// The length of the decoded body in bytes; `nil` if it is unknown.
    var decodedLength: Int64? { isEncoded ? nil : bodyLength }

    /// Whether the body is encoded, so that its decoded length and the offsets in it are unknown.
    var isEncoded: Bool {
        // Some servers name the coding here, and libcurl decodes it (RFC 9112 §7.2).
        let isTransferEncoded = self[values: .transferEncoding].flatMap(\.listMembers).contains {
            !$0.isASCII || !["", "identity", "chunked"].contains($0.lowercased())
        }
        return isTransferEncoded || !isIdentity(.contentEncoding)
    }

    /// The length of the body in bytes; `nil` if it is unknown (RFC 9112 §6.3).
    fileprivate var bodyLength: Int64? {
        let values = self[values: .contentLength]
        return values.count == 1 && isIdentity(.transferEncoding) ? Int64(digits: values[0]) : nil
    }

    /// Whether a field names no encoding; `identity` was one in RFC 2616 §3.6.
    fileprivate func isIdentity(_ name: HTTPField.Name) -> Bool {
        self[values: name].allSatisfy { $0.isASCII && ["", "identity"].contains($0.lowercased()) }
    }
}

/// A server's name for a version of a file, byte for byte: a strong `ETag`, or a strong `Last-Modified`.
struct StrongValidator: Codable, Hashable, Sendable {
    /// The value of the field; an entity tag begins with a quote.
    let text: String
    /// Validators of different resources cannot be compared (RFC 9110 §8.8.1).
    private let resource: Digest

    private var isEntityTag: Bool { text.utf8.first == UInt8(ascii: "\"") }

    /// - Parameters:
    ///   - fields: The header fields of a response.
    ///   - url: The URL of the response, after redirects.
    init?(_ fields: HTTPFields, of url: URL?) {
        let entityTags = fields[values: .eTag]
        // A date must not be used if there is an entity tag, even a weak one (RFC 9110 §13.1.5).
        let text = entityTags.isEmpty ? Self.strongDate(fields) : entityTags.count == 1 ? entityTags.first : nil
        self.text = text ?? ""
        resource = Self.resource(url, self.text)
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

    /// The resource that sent a response, after redirects.
    ///
    /// The query is often a signature that is new for each redirect. It is left out if the entity tag is so long that
    /// another resource hardly has the same one: `"1"` may be a count.
    private static func resource(_ url: URL?, _ text: String) -> Digest {
        let url = url?.normalized ?? ""
        let isUnique = text.utf8.first == UInt8(ascii: "\"") && text.utf8.count >= 16
        return Digest(isUnique ? String(url.prefix { $0 != "?" }) : url)
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
        guard resource == Self.resource(url, text) else { return false }
        let found = fields[values: isEntityTag ? .eTag : .lastModified]
        return !found.isEmpty && found.allSatisfy { $0.hasBytes(of: text) }
            && (isEntityTag || fields[.eTag] == nil)
    }
}
