extension DataResponse {
    /// The links in the `Link` fields (RFC 8288), in their order, but for those malformed or without `rel`.
    ///
    /// ```swift
    /// // Link: </articles?page=3>; rel=next, </articles?page=9>; rel=last
    /// response.links[.next]?.target     // https://api.example.com/articles?page=3
    /// ```
    public var links: [Link] {
        guard let name = HTTPField.Name("Link") else { return [] }
        return headerFields[values: name].flatMap { field in
            var scanner = FieldScanner(field)
            return scanner.links(relativeTo: url).map { $0.hiding(shownRedaction) }
        }
    }
}

extension FieldScanner {
    /// RFC 8288 §B.2, but what does not begin with `<` is skipped up to the next comma.
    fileprivate mutating func links(relativeTo base: URL?) -> [DataResponse.Link] {
        var links: [DataResponse.Link] = []
        while !isAtEnd {
            skipSpace()
            if skip("<") {
                let reference = text(to: ">")
                guard skip(">") else { break }
                if let link = DataResponse.Link(reference, parameters(), relativeTo: base) { links.append(link) }
            }
            skip(to: ",")
            _ = skip(",")
        }
        return links
    }

    /// RFC 8288 §B.3: a value without quotes may contain anything but a delimiter.
    private mutating func parameters() -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        skipSpace()
        while skip(";") {
            let name = text(to: "=;,").lowercased()
            var value = ""
            if skip("=") {
                skipSpace()
                value = quotedString() ?? text(to: ";,")
            }
            // A name is a token (RFC 8288 §3), and so ASCII.
            if !name.isEmpty, name.utf8.allSatisfy({ $0 < 0x80 }) { parameters.append((name, value)) }
            skip(to: ";,")
        }
        return parameters
    }
}
