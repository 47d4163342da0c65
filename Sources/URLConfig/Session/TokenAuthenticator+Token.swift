import Logging

extension TokenAuthenticator: CustomReflectable {
    /// What `dump` and debuggers see: the hosts, and no token.
    public nonisolated var customMirror: Mirror { .shown(self, ("hosts", hostNames)) }
}

extension TokenAuthenticator {
    /// A token and, if it is known, the end of its life.
    public struct Token: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
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

        /// What `dump` and debuggers see: the description.
        public var customMirror: Mirror { .shown(self) }
    }

    /// A host that the token is for; any port and any scheme, if none is named.
    struct Host: Sendable {
        /// The host as it was named.
        let text: String
        private let scheme: String?
        private let name: String
        private let port: Int?

        /// A host; `nil` if the text is not one.
        private init?(_ text: String) {
            let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
            let hasScheme = parts.count == 2
            let authority = parts[parts.count - 1].prefix { $0 != "/" }
            guard !text.contains(where: { $0.isWhitespace || "@?#%*\\".contains($0) }), !authority.hasSuffix(":"),
                hasScheme || authority.endIndex == text.endIndex,
                let url = URL(string: hasScheme ? text : "https://" + text),
                let name = url.host()?.lowercased(), !name.isEmpty, !name.contains(where: "%,".contains),
                // A port that no URL can have is none to Foundation.
                url.port.map({ $0 <= 65535 })
                    ?? !authority[(authority.lastIndex(of: "]") ?? authority.startIndex)...].contains(":")
            else { return nil }
            self.text = text
            scheme = hasScheme ? url.scheme?.lowercased() : nil
            self.name = name
            port = url.port
        }

        /// The texts that are hosts; the others are logged.
        static func all(_ texts: Set<String>) -> [Self] {
            texts.compactMap { text in
                let host = Self(text)
                if host == nil {
                    let shown = URLSession.Config.default.redaction.host(text).escapingControls
                    URLSession.Config.defaultLogger?.error(
                        """
                        TokenAuthenticator: '\(shown)' is ignored: it is not a host such as api.example.com, \
                        localhost:8080 or https://api.example.com
                        """)
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
