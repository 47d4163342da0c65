extension URL {
    /// The absolute URL that a reference leads to from a base (RFC 3986 §5).
    ///
    /// Characters that a URL may not contain are encoded here: Foundation would encode the escapes beside them again.
    init?(reference: String, relativeTo base: URL?) {
        let url: URL?
        if reference.isEmpty, let base {
            // The base itself, for which Foundation gives no URL.
            var components = URLComponents(url: base, resolvingAgainstBaseURL: true)
            components?.fragment = nil
            url = components?.url
        } else {
            // A host is left to Foundation: it knows how to write one that is not ASCII.
            let rest = reference.endOfAuthority
            let text = reference[..<rest] + String(reference[rest...]).percentEncoded(.reference)
            url = URL(string: String(text), relativeTo: base)?.absoluteURL
        }
        guard let url, url.scheme != nil else { return nil }
        self = url
    }
}

extension String {
    /// The end of scheme and authority, such as `https://a.example`; the start if there is no authority.
    fileprivate var endOfAuthority: Index {
        let slashes = utf8.drop { !"/?#".utf8.contains($0) }
        let isAfterScheme = slashes.startIndex == startIndex || utf8[..<slashes.startIndex].last == UInt8(ascii: ":")
        guard isAfterScheme, slashes.starts(with: "//".utf8) else { return startIndex }
        return slashes.dropFirst(2).drop { !"/?#".utf8.contains($0) }.startIndex
    }
}
