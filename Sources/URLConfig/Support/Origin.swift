import Logging

/// Scheme, host and port (RFC 6454 §4); in a pattern, a missing scheme or port matches every one.
struct Origin: Hashable, Sendable {
    let scheme: String?
    let host: String?
    let port: Int?

    init(_ url: URL?) {
        scheme = url?.scheme?.lowercased()
        host = url?.host(percentEncoded: false)?.lowercased()
        port = url?.port ?? (scheme == "http" ? 80 : 443)
    }

    private init(scheme: String?, host: String?, port: Int?) {
        (self.scheme, self.host, self.port) = (scheme, host, port)
    }

    /// Parses a pattern, or returns `nil` and logs an error if the text is invalid.
    ///
    /// - Parameter owner: The interface that received the text, for the log.
    init?(pattern text: String, of owner: String) {
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
        self.init(scheme: hasScheme ? url.scheme : nil, host: host.lowercased(), port: url.port)
    }

    /// The patterns that match this origin, the most specific one first.
    var patterns: [Self] {
        guard host != nil else { return [] }
        return [(scheme, port), (nil, port), (scheme, nil), (nil, nil)]
            .map { Self(scheme: $0, host: host, port: $1) }
    }

    /// Whether this pattern, and not the other one, is used where both match.
    func isMoreSpecific(than other: Self) -> Bool {
        self != other && host == other.host && [nil, scheme].contains(other.scheme) && [nil, port].contains(other.port)
    }

    /// Whether others can read requests to it: not over TLS, and not within this computer.
    ///
    /// Not every resolver keeps names such as `api.localhost` within this computer.
    var isReadable: Bool {
        guard scheme != "https", let host else { return false }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        let isLoopback = numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
        return host != "localhost" && host != "::1" && !isLoopback
    }
}

extension Origin: CustomStringConvertible {
    var description: String {
        let name = host ?? ""
        return (scheme.map { $0 + "://" } ?? "") + (name.contains(":") ? "[\(name)]" : name)
            + (port.map { ":\($0)" } ?? "")
    }
}
