import Logging

/// A host; without a scheme or port it matches every scheme or port.
struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    private let scheme: String?
    private let name: String
    private let port: Int?

    /// The patterns that match a URL, the most specific one first.
    static func matching(_ url: URL?) -> [Self] {
        let origin = Origin(url)
        guard let name = origin.host else { return [] }
        return [(origin.scheme, origin.port), (nil, origin.port), (origin.scheme, nil), (nil, nil)]
            .map { Self(scheme: $0, name: name, port: $1) }
    }

    var description: String {
        (scheme.map { $0 + "://" } ?? "") + (name.contains(":") ? "[\(name)]" : name) + (port.map { ":\($0)" } ?? "")
    }
}

extension HostPattern {
    /// Parses a host, or returns `nil` and logs an error if the text is invalid.
    ///
    /// - Parameter owner: The interface that received the text, for the log.
    init?(_ text: String, of owner: String) {
        let hasScheme = text.contains("://")
        let base = BaseURL(hasScheme ? text : "https://" + text)
        guard hasScheme || !text.utf8.contains(UInt8(ascii: "/")), case .success(let parts) = base.parts,
            parts.query == nil, let url = parts.url, let host = url.host(percentEncoded: false)
        else {
            let shown = URLSession.Config.default.redaction.host(text).escapingControls
            URLSession.Config.defaultLogger?.error(
                """
                \(owner): '\(shown)' is ignored because it is not a host; write a host such as api.example.com, \
                localhost:8080 or https://api.example.com
                """)
            return nil
        }
        self.init(scheme: hasScheme ? url.scheme : nil, name: host.lowercased(), port: url.port)
    }
}
