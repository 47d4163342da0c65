import Logging

extension TokenAuthenticator {
    /// A host that the token is for, with any port and any scheme that it does not name.
    struct Host: Sendable {
        /// The host as the app wrote it.
        let text: String
        private let scheme: String?
        private let name: String
        private let port: Int?

        /// Parses a host; `nil` if the text is invalid.
        private init?(_ text: String) {
            let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
            let hasScheme = parts.count == 2
            let authority = parts[parts.count - 1].prefix { $0 != "/" }
            guard !text.contains(where: { $0.isWhitespace || "@?#%*\\".contains($0) }), !authority.hasSuffix(":"),
                hasScheme || authority.endIndex == text.endIndex,
                let url = URL(string: hasScheme ? text : "https://" + text),
                let name = url.host()?.lowercased(), !name.isEmpty, !name.contains(where: "%,".contains),
                // Foundation drops an invalid port.
                url.port.map({ $0 <= 65535 })
                    ?? !authority[(authority.lastIndex(of: "]") ?? authority.startIndex)...].contains(":")
            else { return nil }
            self.text = text
            scheme = hasScheme ? url.scheme?.lowercased() : nil
            self.name = name
            port = url.port
        }

        /// Parses the hosts and logs the invalid ones.
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
            // A URL leaves out the default port of its scheme.
            let ownPort = url.port ?? (ownScheme == "http" ? 80 : 443)
            return name == url.host()?.lowercased() && port ?? ownPort == ownPort && scheme ?? ownScheme == ownScheme
        }
    }
}
