import Logging

extension TokenAuthenticator {
    /// A token and, if it is known, the end of its life.
    public struct Token: Sendable, Hashable, CustomStringConvertible {
        /// The token.
        public var value: String
        /// When it expires; `nil` if only the server knows.
        public var expiry: Date?

        /// A token.
        ///
        /// - Parameters:
        ///   - value: The token.
        ///   - expiry: When it expires; `nil` if only the server knows.
        public init(_ value: String, expiry: Date? = nil) {
            self.value = value
            self.expiry = expiry
        }

        /// The expiry, without the token.
        public var description: String { "Token(\(Redaction.mask), expiry: \(expiry.map { "\($0)" } ?? "unknown"))" }
    }

    /// A host that the token is for; any port and any scheme, if none is named.
    struct Host: Sendable {
        private let scheme: String?
        private let name: String
        private let port: Int?

        /// A host; `nil` if the text names none.
        private init?(_ text: String) {
            let hasScheme = text.contains("://")
            guard let url = URL(string: hasScheme ? text : "https://" + text),
                let name = url.host()?.lowercased(), !name.isEmpty, !name.contains(where: " %*".contains)
            else { return nil }
            scheme = hasScheme ? url.scheme?.lowercased() : nil
            self.name = name
            port = url.port
        }

        /// The hosts that are some.
        static func all(_ texts: Set<String>) -> [Self] {
            texts.compactMap { text in
                let host = Self(text)
                if host == nil {
                    let shown = URLSession.Config.default.redaction.host(text)
                    URLSession.Config.defaultLogger?.error(
                        "TokenAuthenticator: '\(shown)' is no host name: no token is sent")
                }
                return host
            }
        }

        func matches(_ url: URL) -> Bool {
            let ownScheme = url.scheme?.lowercased()
            // A URL need not name the port that goes without saying.
            let ownPort = url.port ?? (ownScheme == "http" ? 80 : 443)
            return name == url.host()?.lowercased() && port ?? ownPort == ownPort && scheme ?? ownScheme == ownScheme
        }
    }
}
