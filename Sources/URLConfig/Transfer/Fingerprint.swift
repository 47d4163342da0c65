/// 64 bits that recognize a text in a later run, without the text itself, which may contain secrets.
///
/// The function is FNV-1a. `Hasher` has other results in each run.
struct Fingerprint: RawRepresentable, Codable, Hashable, Sendable {
    let rawValue: String

    init(rawValue: String) {
        self.rawValue = rawValue
    }

    private init(_ text: String) {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        rawValue = String(hash, radix: 16)
    }

    /// What a request asks for: its URL, and the fields that choose one of several representations (RFC 9110 §12.5).
    ///
    /// `nil` if ranges are not defined for its method (RFC 9110 §14.2).
    init?(_ request: URLRequest) {
        guard request.httpMethod ?? "GET" == "GET", let url = request.url else { return nil }
        let fields = ["Accept", "Accept-Language"].map { request.value(forHTTPHeaderField: $0) ?? "" }
        self.init(([url.text(withQuery: true)] + fields).joined(separator: "\n"))
    }

    /// The resource that sent a response, after redirects.
    ///
    /// The query is left out, because it is often a signature that is new for each redirect.
    init(resource url: URL?) {
        self.init(url?.text(withQuery: false) ?? "")
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
