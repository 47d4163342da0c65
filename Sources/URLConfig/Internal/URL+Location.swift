extension URL {
    /// Where a `Location` leads (RFC 9110 §10.2.2): resolved by RFC 3986 §5, with the base's fragment if it has none itself.
    ///
    /// What should have been percent-encoded is encoded here, because Foundation would encode the escapes beside it again.
    init?(location: String, relativeTo base: URL) {
        // A host is left to Foundation: it knows how to write one that is not ASCII.
        let start = location.prefixMatch(of: /([A-Za-z][A-Za-z0-9+.\-]*:)?\/\/[^\/?#]*/)?.range.upperBound
        let rest = location[(start ?? location.startIndex)...]
        let text = location[..<rest.startIndex] + String(rest).percentEncoded(.reference)
        guard let target = URL(string: String(text), relativeTo: base)?.absoluteURL else { return nil }
        if target.fragment == nil, let fragment = base.fragment(percentEncoded: true),
            let whole = URL(string: target.absoluteString + "#" + fragment)
        {
            self = whole
        } else {
            self = target
        }
    }
}
