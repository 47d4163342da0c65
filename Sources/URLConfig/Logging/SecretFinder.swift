/// Finds what is secret in text of any kind: what follows a hidden name, in `key=value`, `key: value`, JSON in any
/// dialect, XML or a part of a multipart body, and what is a credential by its shape.
///
/// One pass over the bytes: at most 64 before a mark are looked at, and 256 after it unless they are secret. Where a
/// value without quotes ends is not known, so that more is found than need be.
struct SecretFinder {
    /// What delimits a value, and whether it is looked at for names at all.
    enum Format: Equatable {
        case text, form, bytes
        case multipart(boundary: String)
    }

    private let text: [UInt8]
    private let format: Format
    private let redaction: Redaction
    private var position = 0
    private(set) var ranges: [Range<Int>] = []
    /// Whether names are hidden, of those that were looked up.
    private var hidden: [ArraySlice<UInt8>: Bool] = [:]

    init(_ text: [UInt8], _ format: Format, _ redaction: Redaction) {
        (self.text, self.format, self.redaction) = (text, format, redaction)
        if format != .bytes { find() }
    }

    private mutating func find() {
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "="): assignment()
            case UInt8(ascii: ":"): if isAt("://", position) { userinfo() } else { assignment() }
            case UInt8(ascii: "<"): element()
            case UInt8(ascii: "e") where isAt("eyJ", position): webToken()
            case UInt8(ascii: "B"), UInt8(ascii: "b"): credentials()
            default: position += 1
            }
        }
    }

    private mutating func found(_ start: Int, _ end: Int) {
        ranges.append(start..<max(start, end))
        position = max(start, end)
    }

    private func isAt(_ word: StaticString, _ index: Int) -> Bool {
        word.withUTF8Buffer { text[min(index, text.count)...].starts(with: $0) }
    }

    /// The end of the bytes for which a condition is true.
    private func end(from start: Int, _ limit: Int = .max, while condition: (UInt8) -> Bool) -> Int {
        let rest = text[min(start, text.count)...].prefix(limit)
        return rest.firstIndex { !condition($0) } ?? rest.endIndex
    }

    /// Where a text that ends a value begins, or the end of all.
    private func end(from start: Int, before mark: some Collection<UInt8>) -> Int {
        text[min(start, text.count)...].firstRange(of: Array(mark))?.lowerBound ?? text.count
    }

    private mutating func hides(_ name: ArraySlice<UInt8>) -> Bool {
        if let known = hidden[name] { return known }
        // Some write escapes of Latin-1.
        let text = String(validating: name, as: UTF8.self) ?? String(name.map { Character(Unicode.Scalar($0)) })
        let isHidden = redaction.hides(text)
        if hidden.count < 1000 { hidden[name] = isHidden }
        return isHidden
    }
}

/// What follows `=` or `:`.
extension SecretFinder {
    private mutating func assignment() {
        let mark = position
        position += 1
        var (first, last) = (max(ranges.last?.upperBound ?? 0, mark - 64), mark)
        while last > first, last > mark - 4, " \t\"'`".utf8.contains(text[last - 1]) { last -= 1 }
        let quote = text[last..<mark].first { "\"'`".utf8.contains($0) }
        let start = text[first..<last].lastIndex { quote == nil ? !$0.isNameByte : $0 == quote }.map { $0 + 1 } ?? first
        guard start < last else { return }
        let name = text[start..<last]
        if case .multipart(let boundary) = format, name.elementsEqual("name".utf8, by: { $0 | 0x20 == $1 }) {
            return part(boundary)
        }
        let isEqual = text[mark] == UInt8(ascii: "=")
        let isItem = isEqual && (start == 0 ? format == .form : "?&;#".utf8.contains(text[start - 1]))
        first = text[first..<last].lastIndex { !$0.isNameByte && $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? first
        // In a query, a code buys a token (RFC 6749 §4.1.3).
        guard hides(name) || hides(text[first..<last]) || isItem && name.elementsEqual("code".utf8) else { return }
        let lead = text[..<start].suffix(8).last { !" \t-\"'`".utf8.contains($0) }
        let isAlone = lead.map { "\n\r{[(,;|>".utf8.contains($0) } ?? true

        if isItem || isEqual && format == .form {
            let delimiters = format == .form ? "&" : "&#"
            return found(position, end(from: position) { !delimiters.utf8.contains($0) })
        }
        var value = end(from: end(from: position, 2) { "=>:".utf8.contains($0) }) { " \t".utf8.contains($0) }
        let next = end(from: value) { $0.isJSONSpace }
        if next < text.count, quote != nil || "\"'`[{".utf8.contains(text[next]) { value = next }
        if value < text.count, "\"'`".utf8.contains(text[value]) {
            quoted(value)
        } else if isAt("{", value) || isAt("[", value) {
            let structure = JSONTokenizer(text).value(at: value)
            found(value, end(from: structure.endIndex) { $0 != UInt8(ascii: "\n") })
        } else if isEqual || quote != nil || isSecret(value, isAlone) {
            let delimiters = isEqual ? "&\n" : "\n"
            found(value, end(from: value) { !delimiters.utf8.contains($0) })
        }
    }

    private mutating func quoted(_ start: Int) {
        let mark = text[start]
        let isTriple = isAt("\"\"\"", start)
        var index = start + (isTriple ? 3 : 1)
        let first = index
        while index < text.count, isTriple ? !isAt("\"\"\"", index) : text[index] != mark {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        found(first, min(index, text.count))
        position = min(position + 1, text.count)
    }

    /// Whether what follows a colon is a secret: in `Invalid token: expired` it is not.
    private func isSecret(_ start: Int, _ isAlone: Bool) -> Bool {
        let line = text[start...].prefix(256).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "<") }
        let words = String(decoding: line, as: UTF8.self).split(maxSplits: 3, whereSeparator: \.isWhitespace)
        if words.prefix(2).contains(where: \.isOpaque) { return true }
        let clause = (words.firstIndex { ",})]".contains($0.last ?? " ") } ?? words.count - 1) + 1
        return isAlone && 1...2 ~= clause && !Self.ordinary.contains(words[0].lowercased())
    }

    /// What a sentence about a secret begins with.
    private static let ordinary: Set = [
        "cannot", "doesn't", "expired", "has", "invalid", "is", "may", "missing", "must", "not", "required", "should",
        "too", "unknown", "was",
    ]

    /// The content of a part of a multipart body whose name is hidden.
    private mutating func part(_ boundary: String) {
        let start = end(from: position) { $0 == UInt8(ascii: "\"") }
        let name = text[start..<end(from: start, 256) { !"\";\r\n".utf8.contains($0) }]
        guard hides(name) else { return }
        let end = end(from: name.endIndex, before: "\r\n--\(boundary)".utf8)
        found(text[name.endIndex..<end].firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? name.endIndex, end)
    }
}

/// What is secret by where it stands in XML, HTML or a URL, or by its shape.
extension SecretFinder {
    /// An element: `<token>…</token>`, `<token value="…"/>`, `<input name="token" value="…">`,
    /// `<key>token</key><string>…`.
    private mutating func element() {
        let start = position + 1
        position = start
        let nameEnd = end(from: start, 64) { $0.isNameByte || $0 == UInt8(ascii: ":") }
        let close = end(from: nameEnd) { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "<") }
        guard nameEnd > start, isAt(">", close) else { return }
        let name = text[start..<nameEnd]
        let words = text[nameEnd..<close].split { " \t\r\n=\"'/".utf8.contains($0) }.prefix(100)
        let isNaming = zip(words, words.dropFirst()).contains { attribute, value in
            ["name", "key", "property"].contains { attribute.elementsEqual($0.utf8) } && hides(value)
        }
        let content = text[(close + 1)...].prefix(64).prefix { $0 != UInt8(ascii: "<") }
        if hides(name) || isNaming {
            if close > nameEnd { found(nameEnd, isAt("/>", close - 1) ? close - 1 : close) }
            position = close + 1
            let isEmpty = isAt("/>", close - 1) || ["input", "meta"].contains { name.elementsEqual($0.utf8) }
            if !isEmpty { found(position, end(from: position, before: Array("</".utf8) + name)) }
        } else if ["key", "name"].contains(where: { name.elementsEqual($0.utf8) }), hides(content) {
            let next = end(from: end(from: content.endIndex, before: ">".utf8) + 1, before: ">".utf8) + 1
            if next < text.count { found(next, end(from: next, before: "</".utf8)) }
        }
    }

    /// `https://user:password@host`.
    private mutating func userinfo() {
        position += 3
        let authority = text[position..<end(from: position) { !" \t\r\n/?#\\\"<>".utf8.contains($0) }]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { found(position, at) }
    }

    /// `Bearer …` and `Basic …`, unless a word of a sentence or a parameter follows.
    private mutating func credentials() {
        let start = position
        let word = end(from: start, 7) { $0.isNameByte }
        position += 1
        guard start == 0 || !text[start - 1].isNameByte,
            ["bearer", "basic"].contains(String(decoding: text[start..<word], as: UTF8.self).lowercased())
        else { return }
        let first = end(from: word) { " \t+".utf8.contains($0) }
        let last = end(from: first) { !" \t\r\n,;\"'\\<>&)".utf8.contains($0) }
        let isParameter = isAt("=\"", last - 1)
        if first > word, !isParameter, String(decoding: text[first..<last], as: UTF8.self)[...].isOpaque {
            found(first, last)
        }
    }

    /// A JWT: a JSON object in base64 and, after a dot, at least one part more.
    private mutating func webToken() {
        let start = position
        position = end(from: start) { $0.isAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        let end = end(from: position, while: \.isCredentialByte)
        let isStart = start == 0 || !text[start - 1].isAlphanumeric
        if isStart, position - start >= 8, isAt(".", position), end - position > 4 { found(start, end) }
    }
}

extension Substring {
    /// Whether a word is more likely a secret than a part of a sentence.
    fileprivate var isOpaque: Bool { unicodeScalars.count >= 16 || contains { $0.isNumber || $0 == "=" } }
}

extension UInt8 {
    fileprivate var isAlphanumeric: Bool { isDigit || 0x61...0x7A ~= self | 0x20 }

    fileprivate var isNameByte: Bool { isAlphanumeric || self >= 0x80 || "_-.[]$+".utf8.contains(self) }

    /// Whether it may be part of a token, or of base64 in either alphabet.
    var isCredentialByte: Bool { isAlphanumeric || "+/=-_.~".utf8.contains(self) }
}
