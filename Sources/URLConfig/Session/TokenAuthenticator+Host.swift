import Logging

extension TokenAuthenticator {
    /// A host that the token is for, with any port and any scheme that it does not name.
    struct Host: Sendable {
        let text: String
        private let scheme: String?
        private let name: String?
        private let port: Int?

        /// `nil` if the text is invalid, which is logged.
        init?(_ text: String) {
            let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
            let hasScheme = parts.count == 2
            let authority = parts[parts.count - 1].prefix { $0 != "/" }
            guard !text.contains(where: { $0.isWhitespace || "@?#%*\\".contains($0) }), !authority.hasSuffix(":"),
                hasScheme || authority.endIndex == text.endIndex,
                let url = URL(string: hasScheme ? text : "https://" + text),
                let host = url.host(), !host.isEmpty, !host.contains(where: "%,".contains),
                // Foundation drops an invalid port.
                url.port.map({ $0 <= 65535 })
                    ?? !authority[(authority.lastIndex(of: "]") ?? authority.startIndex)...].contains(":")
            else {
                let shown = URLSession.Config.default.redaction.host(text).escapingControls
                URLSession.Config.defaultLogger?.error(
                    """
                    TokenAuthenticator: '\(shown)' is ignored: it is not a host such as api.example.com, \
                    localhost:8080 or https://api.example.com
                    """)
                return nil
            }
            let origin = Origin(url)
            self.text = text
            scheme = hasScheme ? origin.scheme : nil
            name = origin.host
            port = url.port
        }

        func matches(_ origin: Origin) -> Bool {
            name == origin.host && port ?? origin.port == origin.port && scheme ?? origin.scheme == origin.scheme
        }
    }
}
