/// What a server calls a version of a file, byte for byte: a strong `ETag`, or a strong `Last-Modified`.
struct StrongValidator: Codable, Hashable, Sendable {
    private enum Kind: String, Codable {
        case entityTag
        case lastModified
    }

    private let kind: Kind
    /// The value of the field.
    let text: String
    /// Validators of different resources cannot be compared (RFC 9110 §8.8.1).
    private let resource: Fingerprint

    /// - Parameters:
    ///   - fields: The header fields of a response.
    ///   - url: The URL of the response, after redirects.
    init?(_ fields: HTTPFields, of url: URL?) {
        let entityTags = fields[values: .eTag]
        // A date must not be used if there is an entity tag, even a weak one (RFC 9110 §13.1.5).
        let text = entityTags.isEmpty ? Self.strongDate(fields) : entityTags.count == 1 ? entityTags.first : nil
        guard let text else { return nil }
        kind = entityTags.isEmpty ? .lastModified : .entityTag
        self.text = text
        resource = Fingerprint(resource: url)
        guard isValid else { return nil }
    }

    /// Whether it may be sent; one that was read from a file may contain anything.
    var isValid: Bool {
        guard text.utf8.count <= 512 else { return false }
        switch kind {
        case .entityTag: return text.isStrongEntityTag
        case .lastModified: return Date(httpDate: text) != nil && !text.hasControlCharacter
        }
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
        guard resource == Fingerprint(resource: url) else { return false }
        let found = fields[values: kind == .entityTag ? .eTag : .lastModified]
        // Bytes are compared: comparing strings may take quadratic time.
        return !found.isEmpty && found.allSatisfy { $0.utf8.elementsEqual(text.utf8) }
            && (kind == .entityTag || fields[.eTag] == nil)
    }
}

extension String {
    /// RFC 9110 §8.8.3; bytes outside of ASCII are not accepted, because their encoding is unknown.
    fileprivate var isStrongEntityTag: Bool {
        let bytes = utf8
        let quote = UInt8(ascii: "\"")
        return bytes.count >= 2 && bytes.first == quote && bytes.last == quote
            && bytes.dropFirst().dropLast().allSatisfy { 0x21...0x7E ~= $0 && $0 != quote }
    }
}
