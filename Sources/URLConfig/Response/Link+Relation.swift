extension DataResponse.Link {
    /// A relation type: a name that IANA has registered, or a URL, whatever the case (RFC 8288 §2.1).
    ///
    /// An app adds its own as static members, or writes a literal.
    public struct Relation: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
        /// The name or the URL, as it was written.
        public let description: String
        // Bytes, because comparing texts may take quadratic time.
        private let folded: [UInt8]

        /// A relation type.
        ///
        /// - Parameter name: Its name, such as `next`, or its URL.
        public init(_ name: String) {
            description = name
            folded = Array(name.lowercased().utf8)
        }

        /// A relation type from a literal.
        public init(stringLiteral name: String) {
            self.init(name)
        }

        /// The URL of a relation type that is not registered (RFC 8288 §2.1.2); `nil` for a name.
        public var url: URL? {
            URL(string: description).flatMap { $0.scheme == nil ? nil : $0 }
        }

        /// Whether two are the same but for case.
        public static func == (one: Self, other: Self) -> Bool { one.folded == other.folded }

        /// Hashes what `==` compares.
        public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
    }
}

extension DataResponse.Link.Relation {
    /// The next one in a series.
    public static let next = Self("next")
    /// The one before in a series.
    public static let prev = Self("prev")
    /// The first one of a series.
    public static let first = Self("first")
    /// The last one of a series.
    public static let last = Self("last")
    /// What the resource is an item of.
    public static let collection = Self("collection")
    /// An item of the collection.
    public static let item = Self("item")
    /// What is above in a hierarchy.
    public static let up = Self("up")
    /// Another representation of the resource.
    public static let alternate = Self("alternate")
    /// The preferred URL of the resource (RFC 6596).
    public static let canonical = Self("canonical")
    /// What tells more about the resource, such as a schema or documentation.
    public static let describedBy = Self("describedby")
}
