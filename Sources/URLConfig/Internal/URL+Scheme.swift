extension URL {
    /// This URL with its scheme in lower case (RFC 3986 §3.1).
    ///
    /// Foundation on Linux does not support `HTTP://`.
    var withLowercasedScheme: URL {
        guard let scheme, scheme != scheme.lowercased() else { return self }
        return URL(string: scheme.lowercased() + absoluteString.dropFirst(scheme.count)) ?? self
    }
}
