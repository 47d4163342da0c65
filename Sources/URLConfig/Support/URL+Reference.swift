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

extension URL {
    /// The URL by which a response is found (RFC 3986 §6.2): without credentials and fragment.
    var normalized: String {
        if isNormalized { return absoluteString }
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return absoluteString }
        // Setting the scheme removes a host with an invalid internationalized name, such as `xn--0`.
        let host = components.encodedHost?.lowercased()
        (components.user, components.password, components.fragment) = (nil, nil, nil)
        components.scheme = components.scheme?.lowercased()
        components.encodedHost = host
        if components.port == (components.scheme == "http" ? 80 : 443) { components.port = nil }
        if components.percentEncodedPath.isEmpty { components.percentEncodedPath = "/" }
        return components.string ?? absoluteString
    }

    /// Whether nothing has to be changed, as in most URLs; `false` if only `URLComponents`, which is slow, can tell.
    private var isNormalized: Bool {
        let text = absoluteString
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        let host = rest.prefix { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || $0.isDigit || "-.".utf8.contains($0) }
        var path = rest.dropFirst(host.count)
        if path.first == UInt8(ascii: ":") {
            let port = path.dropFirst().prefix(while: \.isDigit)
            // In the normal form there is no default port, and no zero before a number.
            guard port.first != UInt8(ascii: "0"), !port.isEmpty, !["80", "443"].contains(String(Substring(port)))
            else { return false }
            path = path.dropFirst(1 + port.count)
        }
        return !host.isEmpty && path.first == UInt8(ascii: "/") && !path.contains(UInt8(ascii: "#"))
    }
}
