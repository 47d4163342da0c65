extension URL {
    /// Where a `Location` leads (RFC 9110 §10.2.2): resolved by RFC 3986 §5, with the base's fragment if it has none
    /// itself.
    init?(location: String, relativeTo base: URL) {
        guard let target = URL(reference: location, relativeTo: base)?.withLowercasedScheme else { return nil }
        if target.fragment == nil, let fragment = base.fragment(percentEncoded: true),
            let whole = URL(string: target.absoluteString + "#" + fragment)
        {
            self = whole
        } else {
            self = target
        }
    }
}
