extension DataResponse {
    /// The links in the `Link` fields (RFC 8288), in their order.
    ///
    /// ```swift
    /// // Link: </articles?page=3>; rel=next, </articles?page=9>; rel=last
    /// response.links[.next]?.target     // https://api.example.com/articles?page=3
    /// ```
    ///
    /// What is not well formed, or has no `rel`, is left out.
    public var links: [Link] {
        guard let name = HTTPField.Name("Link") else { return [] }
        return headerFields[values: name].flatMap { field in
            var scanner = FieldScanner(field)
            return scanner.links(relativeTo: url).map { $0.hiding(shownRedaction) }
        }
    }
}

/// RFC 8288 §B.2, but for what is between two commas and does not begin with `<`: there the search goes on.
extension FieldScanner {
    fileprivate mutating func links(relativeTo base: URL?) -> [DataResponse.Link] {
        var links: [DataResponse.Link] = []
        while !isAtEnd {
            skipSpace()
            if skip(UInt8(ascii: "<")) {
                let reference = text(to: UInt8(ascii: ">"))
                guard skip(UInt8(ascii: ">")) else { break }
                if let link = DataResponse.Link(reference, parameters(), relativeTo: base) { links.append(link) }
            }
            skip(to: UInt8(ascii: ","))
            _ = skip(UInt8(ascii: ","))
        }
        return links
    }

    /// RFC 8288 §B.3: a value without quotes may hold anything but a delimiter.
    private mutating func parameters() -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        skipSpace()
        while skip(UInt8(ascii: ";")) {
            let name = text(to: UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: ",")).lowercased()
            var value = ""
            if skip(UInt8(ascii: "=")) {
                skipSpace()
                value = quotedString() ?? text(to: UInt8(ascii: ";"), UInt8(ascii: ","))
            }
            // A name is a token (RFC 8288 §3), and so ASCII.
            if !name.isEmpty, name.utf8.allSatisfy({ $0 < 0x80 }) { parameters.append((name, value)) }
            skip(to: UInt8(ascii: ";"), UInt8(ascii: ","))
        }
        return parameters
    }
}
