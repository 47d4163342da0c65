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

    /// A host that the token is for; any port, if none is named, and any scheme.
    struct Host: Sendable {
        private let name: String
        private let port: Int?
        private let scheme: String?

        /// A host; `nil` if the text names none.
        private init?(_ text: String) {
            guard let url = URL(string: text.contains("://") ? text : "https://" + text),
                let name = url.host()?.lowercased(), !name.isEmpty, !name.contains(where: " %*".contains)
            else { return nil }
            self.name = name
            port = url.port
            scheme = text.contains("://") ? url.scheme?.lowercased() : nil
        }

        /// The hosts that are some.
        static func all(_ texts: Set<String>) -> [Self] {
            texts.compactMap { text in
                let host = Self(text)
                if host == nil {
                    URLSession.Config.defaultLogger?.error(
                        "TokenAuthenticator: '\(text.escapingControls)' is no host name: no token is sent")
                }
                return host
            }
        }

        func matches(_ url: URL) -> Bool {
            let used = url.scheme?.lowercased()
            return name == url.host()?.lowercased() && (scheme == nil || scheme == used)
                && (port == nil || port == url.port ?? (used == "https" ? 443 : 80))
        }
    }
}
