/// Masks secrets by value (the secrets that the call knows), by name and by shape.
extension Redaction {
    /// Text of any format.
    func masked(_ text: String) -> String { String(decoding: masked(Array(text.utf8), .text), as: UTF8.self) }

    /// The beginning of a server's text, at most 1,000 scalars: one character may be as long as the whole text.
    func quote(_ text: String) -> String { masked(String(text.unicodeScalars.prefix(1000))) }

    /// The beginning of a URL that a server has chosen, at most 1,000 scalars.
    func quote(url text: String) -> String { url(String(text.unicodeScalars.prefix(1000))) }

    /// Text of this library; only the secrets that the call knows are masked.
    func maskedByValue(_ text: String) -> String {
        String(decoding: masked(Array(text.utf8), .text, hasNames: false), as: UTF8.self)
    }

    private func masked(_ text: [UInt8], _ type: MediaType?, hasNames: Bool = true) -> [UInt8] {
        guard isActive else { return text }
        let finder = SecretFinder(text, type, self, hasNames: hasNames)
        var (output, end) = ([UInt8](), -1)
        for range in finder.secrets.map(\.range).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > end {
                output += text[max(end, 0)..<range.lowerBound]
                output += (finder.unquoted.contains(range.lowerBound) ? "\"\(Self.mask)\"" : Self.mask).utf8
            }
            end = max(end, range.upperBound)
        }
        return end < 0 ? text : output + text[end...]
    }

    /// The value of a header field.
    func masked(field name: String, _ value: String) -> String { hides(name) ? Self.mask : masked(value) }

    /// Header fields, one on each line.
    func masked(_ fields: [(String, String)]) -> [String] {
        fields.map { "\($0): \(masked(field: $0, $1).onOneLine)" }
    }

    func masked(_ fields: HTTPFields) -> [String] { masked(fields.map { ($0.name.rawName, $0.value) }) }

    /// A URL, valid or not: userinfo and hidden items of the query and the fragment are masked.
    func url(_ text: String) -> String {
        guard isActive else { return text.onOneLine }
        var text = text
        let slashes = text.utf8.firstRange(of: "//".utf8)?.upperBound
        let start = slashes.flatMap { text.utf8[..<$0].contains(UInt8(ascii: "@")) ? nil : $0 }
        let authority = text.utf8[(start ?? text.startIndex)...].prefix {
            !(start == nil ? "?#" : "/?#").utf8.contains($0)
        }
        if start != nil || text.utf8.first != UInt8(ascii: "/"), let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            text.replaceSubrange(authority.startIndex..<at, with: Self.mask)
        }
        return masked(text).onOneLine
    }

    /// An invalid base URL; everything before the last `@` is masked, since a password may contain delimiters.
    func host(_ text: String) -> String {
        guard isActive, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url(text) }
        let start = text.utf8.firstRange(of: "://".utf8)?.upperBound
        return url(text[..<(start.map { min($0, at) } ?? text.startIndex)] + Self.mask + text[at...])
    }
}

extension Redaction {
    /// A body as it is logged: pretty JSON, text, or a summary of binary data.
    ///
    /// - Parameter limit: The most bytes that are shown.
    func body(_ data: Data, _ contentType: MediaType?, limit: Int = .max) -> String {
        guard !data.isEmpty, limit > 0 else { return "" }
        let summary = "<\(data.count) bytes\(contentType.map { " " + $0.essence } ?? "")>"
        guard contentType?.isText ?? true, let shown = shownText(data.prefix(limit), contentType) else {
            return summary
        }
        guard data.count > limit else { return shown.escapingControls }
        // A cut secret may not be found. The text ends where it would differ if more of the body were read.
        let more = shownText(data.prefix(data.prefix(limit).count + 4096), contentType) ?? ""
        let count = zip(shown.utf8, more.utf8).prefix { $0 == $1 }.count
        let end = shown.utf8.index(shown.startIndex, offsetBy: count)
        return String(shown[..<end]).escapingControls + "… (\(data.count) bytes in all)"
    }

    /// The masked text of a body, whose last character may be cut; `nil` for binary data.
    private func shownText(_ data: Data, _ contentType: MediaType?) -> String? {
        let texts = (0...3).lazy.compactMap { data.dropLast($0).text(charset: contentType?.charset) }
        guard let text = texts.first(where: { !$0.isEmpty }), !text.utf8.contains(0) else { return nil }
        var shown = masked(Array(text.utf8), contentType)
        if shown.isStructure, contentType?.isJSON ?? true { shown = JSONText(shown).output }
        return String(decoding: shown, as: UTF8.self)
    }

    /// A body for a curl command, with its secrets masked.
    func sentBody(_ data: Data, _ contentType: MediaType?) -> Data {
        guard isActive else { return data }
        // The charset is tried before UTF-8: UTF-16 may be valid UTF-8, with a NUL after each letter.
        if let text = contentType?.charset.flatMap({ data.text(charset: $0) }) {
            let masked = masked(Array(text.utf8), contentType)
            // If nothing is masked, the charset may be wrong.
            if !masked.elementsEqual(text.utf8) { return Data(masked) }
        }
        let isText = contentType.map { $0.isText || $0.isMultipart } ?? true
        return Data(masked(Array(data), contentType, hasNames: isText || String(data: data, encoding: .utf8) != nil))
    }
}

extension [UInt8] {
    /// Whether it begins with an object or an array of JSON.
    var isStructure: Bool { first { !$0.isJSONSpace }.map("{[".utf8.contains) ?? false }
}
