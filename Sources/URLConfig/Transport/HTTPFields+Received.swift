extension HTTPFields {
    /// The most fields of a response.
    ///
    /// `HTTPFields` can contain about twice as many, and crashes for more.
    static let most = 1 << 15

    /// The valid fields of a response, at most ``most``.
    package init(received fields: some Sequence<(name: String, value: String)>) {
        self.init()
        let known = HTTPField.Name.frequent
        reserveCapacity(fields.underestimatedCount)
        for (name, value) in fields.prefix(Self.most) {
            guard let name = known[name] ?? HTTPField.Name(name) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }

    init(_ response: HTTPURLResponse) {
        self.init(
            received: response.allHeaderFields.lazy.compactMap { name, value in
                guard let name = name as? String, let value = value as? String else { return nil }
                return (name: name, value: value)
            })
        if let joined = self[.setCookie] { self[values: .setCookie] = joined.separateCookies }
    }

    /// The value of a field, as the subscript returns it; the subscript takes ten times as long.
    func value(_ name: HTTPField.Name) -> String? {
        guard let index = firstIndex(where: { $0.name == name }) else { return nil }
        let isRepeated = self[(index + 1)...].contains { $0.name == name }
        return isRepeated ? self[name] : self[index].value
    }

    /// The value of a field that a response has once, such as `Location`; several with the same value count as one.
    ///
    /// Foundation joins them with a comma and a space.
    func single(_ name: HTTPField.Name) -> String? {
        guard let joined = value(name) else { return nil }
        // By bytes: to find characters takes quadratic time for combining marks.
        let parts = joined.utf8.split(separator: ", ".utf8, omittingEmptySubsequences: false)
        // A date has two parts.
        let count = (1...2).first { size in
            parts.count.isMultiple(of: size)
                && parts.indices.allSatisfy { parts[$0].elementsEqual(parts[$0 % size]) }
        }
        guard let count, count < parts.count else { return joined }
        return parts[..<count].map { String(Substring($0)) }.joined(separator: ", ")
    }
}

extension HTTPField.Name {
    /// Names that most responses have, because making a name takes several times as long as finding one.
    fileprivate static let frequent: [String: Self] = {
        let names = [
            "Accept-Ranges", "Access-Control-Allow-Origin", "Age", "Cache-Control", "Connection", "Content-Encoding",
            "Content-Length", "Content-Type", "Date", "ETag", "Expires", "Keep-Alive", "Last-Modified", "Link",
            "Location", "Server", "Set-Cookie", "Strict-Transport-Security", "Transfer-Encoding", "Vary", "Via",
            "X-Content-Type-Options", "X-Frame-Options", "X-Request-Id",
        ]
        let spellings = names + names.map { $0.lowercased() }
        return Dictionary(uniqueKeysWithValues: spellings.compactMap { name in Self(name).map { (name, $0) } })
    }()
}
