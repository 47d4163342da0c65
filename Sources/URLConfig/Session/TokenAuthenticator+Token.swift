extension TokenAuthenticator: RedactedReflectable {
    nonisolated var shownChildren: [(String, Any?)] { [("hosts", hostNames)] }
}

extension TokenAuthenticator {
    /// A token and, if it is known, its expiry.
    public struct Token: Sendable, Hashable, CustomStringConvertible, RedactedReflectable {
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
}
