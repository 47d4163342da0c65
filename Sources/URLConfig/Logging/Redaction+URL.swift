extension Redaction {
    /// A URL, or what was meant to be one: userinfo, and hidden items of the query and the fragment, masked.
    func url(_ text: String) -> String { (isActive ? maskedURL(text) : text).onOneLine }

    /// The same, control characters as they are.
    func maskedURL(_ text: String) -> String {
        var text = text
        let slashes = text.utf8.firstRange(of: "//".utf8)
        let hasAuthority = slashes.map { !text.utf8[..<$0.lowerBound].contains(UInt8(ascii: "@")) } ?? false
        if hasAuthority || text.utf8.first != UInt8(ascii: "/") {
            let start = hasAuthority ? slashes?.upperBound ?? text.startIndex : text.startIndex
            let delimiters = hasAuthority ? "/?#" : "?#"
            let authority = text.utf8[start...].prefix { !delimiters.utf8.contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { text.replaceSubrange(start..<at, with: Self.mask) }
        }
        guard let start = text.utf8.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            return text
        }
        return text[..<start] + items(text[start...], isURL: true)
    }

    /// A base URL that was refused: all before the last `@` is masked, since a password that should have been
    /// percent-encoded may hold any delimiter.
    func host(_ text: String) -> String {
        guard isActive, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url(text) }
        let start = text.utf8.firstRange(of: "://".utf8)?.upperBound
        return url(text[..<(start.map { min($0, at) } ?? text.startIndex)] + Self.mask + text[at...])
    }

    /// Items of a query, a fragment or a form: those that are hidden masked.
    ///
    /// More delimiters count for where a name may start than for where a hidden value ends: `;` and `?` may be part of
    /// it.
    ///
    /// By scalars, not characters: a delimiter and a combining accent after it are one character.
    func items(_ text: Substring, isURL: Bool) -> String {
        let delimiters: Set<Unicode.Scalar> = ["&", "?", "#", ";"]
        var output = ""
        var rest = text.unicodeScalars
        while let first = rest.first {
            if delimiters.contains(first) { output.unicodeScalars.append(rest.removeFirst()) }
            let item = rest.prefix { !delimiters.contains($0) }
            let name = Substring(item.prefix { $0 != "=" })
            if name.endIndex < item.endIndex, hides(name.percentDecodedLeniently) {
                output += "\(name)=\(Self.mask)"
                rest = rest.drop { $0 != "&" && !(isURL && $0 == "#") }
            } else {
                output += Substring(item)
                rest = rest[item.endIndex...]
            }
        }
        return output
    }
}

extension Substring {
    /// With every valid `%XX` decoded, whatever the others are: a name must not hide itself behind one that is not
    /// valid.
    fileprivate var percentDecodedLeniently: String {
        var decoded: [UInt8] = []
        var rest = utf8
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.first != UInt8(ascii: "+"),
                let value = UInt8(Substring(digits), radix: 16)
            {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        // Some write escapes of Latin-1.
        return String(validating: decoded, as: UTF8.self) ?? String(decoded.map { Character(Unicode.Scalar($0)) })
    }
}
