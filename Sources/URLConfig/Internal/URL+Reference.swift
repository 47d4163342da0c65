extension URL {
    /// What a reference leads to, as seen from a base (RFC 3986 §5); `nil` unless that is an absolute URL.
    init?(reference: String, relativeTo base: URL?) {
        let url: URL?
        if reference.isEmpty, let base {
            // The base itself, which Foundation makes nothing of.
            var components = URLComponents(url: base, resolvingAgainstBaseURL: true)
            components?.fragment = nil
            url = components?.url
        } else {
            url = URL(string: reference, relativeTo: base)?.absoluteURL
        }
        guard let url, url.scheme != nil else { return nil }
        self = url
    }
}
