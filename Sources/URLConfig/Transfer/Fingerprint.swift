/// What recognizes a text in a later run, without the text itself, which may contain secrets.
struct Fingerprint: RawRepresentable, Codable, Hashable, Sendable {
    let rawValue: String

    init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// - Parameter key: Random bytes, so that nobody without them can find out the text by trying.
    init(_ text: String, key: Data = Data()) {
        rawValue = Data(SHA256.code(for: text.utf8, key: key)).base64EncodedString()
    }

    /// What a request asks for: its URL, and the fields that choose one of several representations (RFC 9110 §12.5).
    ///
    /// `nil` if ranges are not defined for its method (RFC 9110 §14.2).
    init?(_ request: URLRequest, key: Data) {
        guard request.httpMethod ?? "GET" == "GET", let url = request.url else { return nil }
        let fields = ["Accept", "Accept-Language"].map { request.value(forHTTPHeaderField: $0) ?? "" }
        self.init(([url.text(withQuery: true)] + fields).joined(separator: "\n"), key: key)
    }

    /// The resource that sent a response, after redirects.
    ///
    /// The query is left out, because it is often a signature that is new for each redirect.
    init(resource url: URL?) {
        self.init(url?.text(withQuery: false) ?? "")
    }
}

/// Who asks for a file: the credentials of a request as it is sent.
///
/// A server may have another file for another user, and call it by the same version.
struct Requester: Sendable {
    /// Somebody without credentials.
    static let anonymous = Self(URLRequest(url: URL(fileURLWithPath: "/")))

    /// It contains secrets.
    private let text: String

    /// - Parameter request: The request, with the fields of the session and of the authenticator.
    init(_ request: URLRequest, _ redaction: Redaction = .standard) {
        let url = request.url
        let parts = [url?.user(), url?.password(), url?.query()]
        // The fields of a trace are new for each request.
        let fields = (request.allHTTPHeaderFields ?? [:])
            .filter { redaction.isCredential($0.key) && !Redaction.isOfTrace($0.key) }
        let lines = fields.map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        text = (parts.map { $0 ?? "" } + lines).joined(separator: "\n")
    }

    func fingerprint(key: Data) -> Fingerprint { Fingerprint(text, key: key) }
}

extension URL {
    fileprivate func text(withQuery: Bool) -> String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return absoluteString }
        (components.user, components.password, components.fragment) = (nil, nil, nil)
        if !withQuery { components.query = nil }
        return components.string ?? absoluteString
    }
}
