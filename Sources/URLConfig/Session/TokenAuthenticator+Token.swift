extension TokenAuthenticator {
    /// A token and, if it is known, its expiry.
    public struct Token: Sendable, CustomStringConvertible, RedactedReflectable {
        /// The token.
        public var value: String
        /// The time when it expires; `nil` if only the server knows it.
        public var expiry: Date?

        /// A token and its expiry; `nil` if only the server knows it.
        public init(_ value: String, expiry: Date? = nil) {
            self.value = value
            self.expiry = expiry
        }

        /// The expiry, without the token.
        public var description: String { "Token(\(Redaction.mask), expiry: \(expiry.map { "\($0)" } ?? "unknown"))" }
    }
}
