/// What is shown, masked: by value, as far as the call knows its secrets, by name and by shape.
extension Redaction {
    /// Text of any kind.
    func masked(_ text: String) -> String { String(decoding: masked(Array(text.utf8), .text), as: UTF8.self) }

    /// The beginning of a server's words, cut by scalars: a character may be as long as the whole text.
    func quote(_ text: String) -> String { masked(String(text.unicodeScalars.prefix(1000))) }

    /// Text of ours, in which only the values that the call knows are masked.
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

    /// The lines of a head.
    func masked(_ fields: [(String, String)]) -> [String] {
        fields.map { "\($0): \(masked(field: $0, $1).onOneLine)" }
    }

    func masked(_ fields: HTTPFields) -> [String] { masked(fields.map { ($0.name.rawName, $0.value) }) }

    /// A URL, or what was meant to be one: userinfo, and hidden items of the query and the fragment, masked.
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

    /// A base URL that was refused: all before the last `@` is masked, since a password that should have been
    /// percent-encoded may contain any delimiter.
    func host(_ text: String) -> String {
        guard isActive, let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return url(text) }
        let start = text.utf8.firstRange(of: "://".utf8)?.upperBound
        return url(text[..<(start.map { min($0, at) } ?? text.startIndex)] + Self.mask + text[at...])
    }
}

extension Redaction {
    /// A body for the eye: pretty JSON, or text, or a summary of what is no text.
    ///
    /// - Parameter limit: The most bytes that are shown; the text says if there are more.
    func body(_ data: Data, _ contentType: MediaType?, limit: Int = .max) -> String {
        guard !data.isEmpty, limit > 0 else { return "" }
        let summary = "<\(data.count) bytes\(contentType.map { " " + $0.essence } ?? "")>"
        guard contentType?.isText ?? true, let shown = shownText(data.prefix(limit), contentType) else {
            return summary
        }
        guard data.count > limit else { return shown.escapingControls }
        // A secret that is cut may not look like one: what is shown ends where more text would change it.
        let more = shownText(data.prefix(data.prefix(limit).count + 4096), contentType) ?? ""
        let count = zip(shown.utf8, more.utf8).prefix { $0 == $1 }.count
        let end = shown.utf8.index(shown.startIndex, offsetBy: count)
        return String(shown[..<end]).escapingControls + "… (\(data.count) bytes in all)"
    }

    private func shownText(_ data: Data, _ contentType: MediaType?) -> String? {
        guard let text = data.shownText(contentType) else { return nil }
        var shown = masked(Array(text.utf8), contentType)
        if shown.isStructure, contentType?.isJSON ?? true { shown = JSONText(shown).output }
        return String(decoding: shown, as: UTF8.self)
    }

    /// A body as it would be sent, except what is hidden.
    func sentBody(_ data: Data, _ contentType: MediaType?) -> Data {
        guard isActive else { return data }
        // First, since UTF-16 may well be valid UTF-8, with a NUL after each letter.
        if let text = contentType?.parameters["charset"].flatMap({ data.text(charset: $0) }) {
            let masked = masked(Array(text.utf8), contentType)
            // Else the charset may be a wrong one.
            if !masked.elementsEqual(text.utf8) { return Data(masked) }
        }
        let isText = contentType.map { $0.isText || $0.isMultipart } ?? true
        return Data(masked(Array(data), contentType, hasNames: isText || String(data: data, encoding: .utf8) != nil))
    }
}

extension [UInt8] {
    /// Whether it begins as an object or an array of JSON.
    var isStructure: Bool {
        first { !$0.isJSONSpace }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } ?? false
    }
}

extension Data {
    /// The text of a body that may be cut in the middle of a character; `nil` for what is no text.
    fileprivate func shownText(_ contentType: MediaType?) -> String? {
        let charset = contentType?.parameters["charset"]
        for length in stride(from: count, through: Swift.max(count - 3, 0), by: -1) {
            guard let text = prefix(length).text(charset: charset), !text.isEmpty else { continue }
            return text.utf8.contains(0) ? nil : text
        }
        return nil
    }
}
