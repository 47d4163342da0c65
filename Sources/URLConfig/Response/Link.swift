extension DataResponse {
    /// A link to another resource in the ``DataResponse/links`` of a response (RFC 8288).
    ///
    /// The server chooses the target: it may lead to another host.
    public struct Link: Sendable, Hashable {
        /// An absolute URL, resolved against that of the response (RFC 3986 §5).
        public let target: URL
        /// What the target is to the link's resource: one relation type or more.
        public let relations: [Relation]
        /// The link's resource, if it is not the one of the response (RFC 8288 §3.2).
        public let anchor: URL?
        /// The languages of the target, such as `de` (RFC 8288 §3.4.1).
        public let hreflang: [String]
        /// All parameters, `rel` and `anchor` included: names in lower case, quotes removed.
        ///
        /// Of two with one name the first counts. One like `title*` (RFC 8187) is decoded, and replaces `title`.
        public let parameters: [String: String]
        /// What the description hides.
        @Uncompared private var redaction: Redaction? = nil

        /// The name of the target, for people.
        public var title: String? { parameters["title"] }

        /// The media type that the target probably has.
        public var type: MediaType? { parameters["type"].flatMap { MediaType($0) } }

        init?(_ reference: String, _ written: [(name: String, value: String)], relativeTo base: URL?) {
            var plain: [String: String] = [:]
            var decoded: [String: String] = [:]
            for (name, value) in written {
                if name.hasSuffix("*") {
                    let name = String(name.dropLast())
                    decoded[name] = decoded[name] ?? value.extendedValue
                } else {
                    plain[name] = plain[name] ?? value
                }
            }
            relations = plain["rel"]?.split(whereSeparator: \.isWhitespace).map { Relation(String($0)) } ?? []
            guard !relations.isEmpty, let target = URL(reference: reference, relativeTo: base) else { return nil }
            self.target = target
            if let written = plain["anchor"] {
                // A link of an unknown resource says nothing.
                guard let anchor = URL(reference: written, relativeTo: base) else { return nil }
                self.anchor = anchor == URL(reference: "", relativeTo: base) ? nil : anchor
            } else {
                anchor = nil
            }
            hreflang = written.filter { $0.name == "hreflang" }.map(\.value)
            parameters = plain.merging(decoded) { $1 }
        }

        func hiding(_ redaction: Redaction) -> Self {
            var link = self
            link.redaction = redaction
            return link
        }
    }
}

extension DataResponse.Link: CustomStringConvertible, RedactedReflectable {
    /// Target and relations, such as `<https://api.example.com/articles?page=3>; rel="next"`; secrets are hidden.
    public var description: String {
        let redaction = redaction ?? URLSession.Config.default.redaction
        let rel = relations.map(\.description).joined(separator: " ").escapingControls
        return "<\(redaction.url(target.absoluteString))>; rel=\"\(redaction.masked(rel))\""
    }
}

extension [DataResponse.Link] {
    /// The first link of the response with a relation, such as `links[.next]`: one without an anchor.
    ///
    /// - Parameter relation: The relation type; case does not count.
    public subscript(relation: DataResponse.Link.Relation) -> DataResponse.Link? {
        first { $0.anchor == nil && $0.relations.contains(relation) }
    }
}

extension String {
    /// A value as RFC 8187 §3.2 writes it, such as `UTF-8'de'n%c3%a4chstes`; `nil` if it is malformed.
    fileprivate var extendedValue: String? {
        let parts = split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return parts[2].removingPercentEncoding
    }
}
