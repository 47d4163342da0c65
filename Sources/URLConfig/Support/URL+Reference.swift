extension URL {
    /// Resolves a reference against a base URL; the result is absolute (RFC 3986 §5).
    ///
    /// Characters that a URL may not contain are encoded here: Foundation would also encode the `%` of valid escapes.
    init?(reference: String, relativeTo base: URL?) {
        let url: URL?
        if reference.isEmpty, let base {
            // Foundation returns no URL for an empty reference, which means the base.
            var components = URLComponents(url: base, resolvingAgainstBaseURL: true)
            components?.fragment = nil
            url = components?.url
        } else {
            // Foundation encodes a host that is not ASCII.
            let rest = reference.endOfAuthority
            let text = reference[..<rest] + String(reference[rest...]).percentEncoded(.reference)
            url = URL(string: String(text), relativeTo: base)?.absoluteURL
        }
        guard let url, url.scheme != nil else { return nil }
        self = url
    }

    /// This URL with its scheme in lower case (RFC 3986 §3.1).
    ///
    /// Foundation on Linux does not support `HTTP://`.
    var withLowercasedScheme: URL {
        guard let scheme, scheme != scheme.lowercased() else { return self }
        return URL(string: scheme.lowercased() + absoluteString.dropFirst(scheme.count)) ?? self
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
