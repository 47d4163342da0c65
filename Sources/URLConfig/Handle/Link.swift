extension DataResponse {
    /// A link in the `Link` fields of a response (RFC 8288), such as the next page of a list.
    ///
    /// The server chooses the target, which may be on another host.
    public struct Link: Sendable {
        /// The absolute URL, resolved against the URL of the response (RFC 3986 §5).
        public let target: URL
        /// The relation types in lower case, such as `next`; at least one.
        public let relations: [String]
        /// The resource that the link belongs to, if it is not the response (RFC 8288 §3.2).
        public let anchor: URL?
        /// All parameters: names in lower case, values without quotes; the first of several with one name wins.
        public let parameters: [String: String]
        /// Hides secrets in the description.
        fileprivate let redaction: Redaction

        fileprivate init?(
            _ reference: String, _ parameters: [String: String], relativeTo base: URL?, _ redaction: Redaction
        ) {
            relations = parameters["rel"]?.lowercased().split(whereSeparator: \.isWhitespace).map(String.init) ?? []
            guard !relations.isEmpty, let target = URL(reference: reference, relativeTo: base) else { return nil }
            self.target = target
            var anchor: URL?
            if let written = parameters["anchor"] {
                // The resource of the link is unknown if its anchor cannot be resolved.
                guard let url = URL(reference: written, relativeTo: base) else { return nil }
                anchor = url == URL(reference: "", relativeTo: base) ? nil : url
            }
            self.anchor = anchor
            self.parameters = parameters
            self.redaction = redaction
        }
    }

    /// The links in the `Link` fields (RFC 8288), in order; malformed links and links without `rel` are ignored.
    ///
    /// If the URL of the response is long, only the first links are there: a hundred, or a megabyte of them.
    ///
    /// ```swift
    /// // Link: </articles?page=3>; rel=next, </articles?page=9>; rel=last
    /// response.links["next"]?.target     // https://api.example.com/articles?page=3
    /// ```
    public var links: [Link] {
        guard let name = HTTPField.Name("Link") else { return [] }
        let redaction = shownRedaction
        // Each target contains the URL of the response, which may be long, so their length is limited together.
        var most = max(100, (1 << 20) / max(1, url?.absoluteString.utf8.count ?? 0))
        return headerFields[values: name].flatMap { field in
            var scanner = FieldScanner(field)
            return scanner.links(relativeTo: url, redaction, atMost: &most)
        }
    }
}

extension [DataResponse.Link] {
    /// The first link with a relation, such as `links["next"]`; case and links with an anchor are ignored.
    public subscript(relation: String) -> DataResponse.Link? {
        let relation = relation.lowercased()
        return first { $0.anchor == nil && $0.relations.contains { $0.hasBytes(of: relation) } }
    }
}

extension DataResponse.Link: RedactedDescribable {
    var shownText: String {
        let rel = relations.joined(separator: " ").escapingControls
        return "<\(redaction.url(target.absoluteString))>; rel=\"\(redaction.masked(rel))\""
    }
}

extension FieldScanner {
    /// RFC 8288 §B.2; text that does not begin with `<` is skipped up to the next comma.
    ///
    /// - Parameter most: How many links may be made, of which this field takes its part.
    fileprivate mutating func links(
        relativeTo base: URL?, _ redaction: Redaction, atMost most: inout Int
    ) -> [DataResponse.Link] {
        var links: [DataResponse.Link] = []
        while !isAtEnd, most > 0 {
            skipSpace()
            if skip("<") {
                most -= 1
                let reference = text(to: ">")
                guard skip(">") else { break }
                if let link = DataResponse.Link(reference, parameters(), relativeTo: base, redaction) {
                    links.append(link)
                }
            }
            skip(to: ",")
            _ = skip(",")
        }
        return links
    }

    /// RFC 8288 §B.3: a value without quotes may contain anything but a delimiter.
    private mutating func parameters() -> [String: String] {
        var parameters: [String: String] = [:]
        skipSpace()
        while skip(";") {
            let name = text(to: "=;,").lowercased()
            var value = ""
            if skip("=") {
                skipSpace()
                value = quotedString() ?? text(to: ";,")
            }
            // A name is a token (RFC 8288 §3), so it is ASCII.
            if !name.isEmpty, name.isASCII { parameters[name] = parameters[name] ?? value }
            skip(to: ";,")
        }
        return parameters
    }
}
