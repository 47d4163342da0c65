/// Finds what is secret in text of any kind: what follows a hidden name, in `key=value`, `key: value`, JSON in any
/// dialect, XML or a part of a multipart body, and what is a credential by its shape.
///
/// One pass over the bytes: at most 64 before a mark are looked at, and 256 after it unless they are secret. Where a
/// value without quotes ends is not known, so that more is found than need be.
struct SecretFinder {
    /// What the text is; in bytes there are no names.
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
        while format != .bytes, position < text.count {
            switch text[position] {
            case UInt8(ascii: ":") where isAt("://", position): userinfo()
            case UInt8(ascii: "="), UInt8(ascii: ":"): assignment()
            case UInt8(ascii: "<"): element()
            case UInt8(ascii: "e") where isAt("eyJ", position): webToken()
            case UInt8(ascii: "B"), UInt8(ascii: "b"): credentials()
            default: position += 1
            }
        }
    }

    private mutating func found(_ start: Int, _ end: Int) {
        position = max(start, end)
        ranges.append(start..<position)
    }

    private func isAt(_ word: StaticString, _ index: Int) -> Bool {
        word.withUTF8Buffer { text[min(index, text.count)...].starts(with: $0) }
    }

    private func isAt(_ index: Int, oneOf bytes: String) -> Bool {
        index < text.count && bytes.utf8.contains(text[index])
    }

    /// The end of the bytes for which a condition is true.
    private func end(from start: Int, _ limit: Int = .max, while condition: (UInt8) -> Bool) -> Int {
        let rest = text[min(start, text.count)...].prefix(limit)
        return rest.firstIndex { !condition($0) } ?? rest.endIndex
    }

    private func end(from start: Int, to delimiters: String) -> Int {
        end(from: start) { !delimiters.utf8.contains($0) }
    }

    private func end(from start: Int, before mark: String) -> Int {
        text[min(start, text.count)...].firstRange(of: Array(mark.utf8))?.lowerBound ?? text.count
    }

    private mutating func hides(_ name: ArraySlice<UInt8>) -> Bool {
        if let known = hidden[name] { return known }
        // Some write escapes of Latin-1.
        let text = String(validating: name, as: UTF8.self) ?? String(name.map { Character(Unicode.Scalar($0)) })
        let isHidden = redaction.hides(text)
        if hidden.count < 1000 { hidden[name] = isHidden }
        return isHidden
    }

    /// What follows `=` or `:`.
    private mutating func assignment() {
        let mark = position
        position += 1
        let before = text[max(ranges.last?.upperBound ?? 0, mark - 64)..<mark]
        let name = before.lastIndex { !" \t\"'`".utf8.contains($0) }.map { before[...$0] } ?? before.prefix(0)
        let quote = before[name.endIndex...].first { "\"'`".utf8.contains($0) }
        let start = name.lastIndex { quote == nil ? !$0.isNameByte && $0 != 0x20 : $0 == quote }.map { $0 + 1 }
        let phrase = name[(start ?? name.startIndex)...].drop { " -".utf8.contains($0) }
        guard !phrase.isEmpty else { return }
        if case .multipart(let boundary) = format, phrase.elementsEqual("name".utf8, by: { $0 | 0x20 == $1 }) {
            return part(boundary)
        }
        let isEqual = text[mark] == UInt8(ascii: "=")
        let isItem = isEqual && start.map { isAt($0 - 1, oneOf: "?&;#") } ?? (format == .form)
        // In a query, a code buys a token (RFC 6749 §4.1.3).
        guard hides(phrase) || isItem && phrase.elementsEqual("code".utf8) else { return }
        if isItem || isEqual && format == .form {
            return found(position, end(from: position, to: format == .form ? "&" : "&#"))
        }
        var value = end(from: end(from: position, 2) { "=>:".utf8.contains($0) }) { " \t".utf8.contains($0) }
        let next = end(from: value) { $0.isJSONSpace }
        if quote != nil || isAt(next, oneOf: "\"'`[{") { value = next }
        let isAlone = !phrase.contains(0x20) && start.map { isAt($0 - 1, oneOf: "\n\r\t{(,;|>\"'`") } ?? true
        if isAt(end(from: value) { $0 == UInt8(ascii: "\\") }, oneOf: "\"'`") {
            quoted(value)
        } else if isAt(value, oneOf: "[{") {
            found(value, end(from: JSONTokenizer(text).value(at: value).endIndex, to: "\n"))
        } else if value < text.count, isEqual || quote != nil || isSecret(value, isAlone) {
            found(value, end(from: value, to: isEqual ? "&\n" : "\n"))
        }
    }

    /// A value between quotes, which may have backslashes before them, and more within it.
    private mutating func quoted(_ start: Int) {
        let first = end(from: start) { $0 == UInt8(ascii: "\\") }
        let escapes = first - start
        if isAt("\"\"\"", first) { return found(first + 3, end(from: first + 3, before: "\"\"\"")) }
        var (index, slashes) = (first + 1, 0)
        while index < text.count {
            let isEscape = slashes > escapes && !(slashes - escapes).isMultiple(of: 2 * (escapes + 1))
            if text[index] == text[first], !isEscape { break }
            slashes = text[index] == UInt8(ascii: "\\") ? slashes + 1 : 0
            index += 1
        }
        found(first + 1, index - (index < text.count ? min(slashes, escapes) : 0))
        position = min(index + 1, text.count)
    }

    /// Whether what follows a colon is a secret: in `Invalid token: expired` it is not.
    private func isSecret(_ start: Int, _ isAlone: Bool) -> Bool {
        let line = text[start..<end(from: start, 256) { !"\n<".utf8.contains($0) }]
        let words = String(decoding: line, as: UTF8.self).split(maxSplits: 3, whereSeparator: \.isWhitespace)
        let clause = (words.firstIndex { ",})]".contains($0.last ?? " ") } ?? words.count - 1) + 1
        return words.prefix(2).contains(where: \.isOpaque)
            || isAlone && 1...2 ~= clause && !Self.ordinary.contains(words[0].lowercased())
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
        let end = end(from: name.endIndex, before: "\r\n--\(boundary)")
        found(text[name.endIndex..<end].firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? name.endIndex, end)
    }

    /// An element: `<token>…</token>`, `<token value="…"/>`, `<input name="token" value="…">`,
    /// `<key>token</key><string>…`.
    private mutating func element() {
        let start = position + 1
        position = start
        let nameEnd = end(from: start, 64) { $0.isNameByte || $0 == UInt8(ascii: ":") }
        let close = end(from: nameEnd, to: "<>")
        guard nameEnd > start, isAt(">", close) else { return }
        let name = String(decoding: text[start..<nameEnd], as: UTF8.self)
        let words = text[nameEnd..<close].split { " \t\r\n=\"'/".utf8.contains($0) }.prefix(100)
        let isNaming = zip(words, words.dropFirst()).contains { attribute, value in
            ["name", "key", "property"].contains { attribute.elementsEqual($0.utf8) } && hides(value)
        }
        let content = text[(close + 1)...].prefix(64).prefix { $0 != UInt8(ascii: "<") }
        if isNaming || hides(text[start..<nameEnd]) {
            let isEmpty = isAt("/>", close - 1)
            if close > nameEnd { found(nameEnd, isEmpty ? close - 1 : close) }
            position = close + 1
            if !isEmpty, name != "input", name != "meta" { found(position, end(from: position, before: "</" + name)) }
        } else if name == "key" || name == "name", hides(content) {
            let next = end(from: end(from: content.endIndex, before: ">") + 1, before: ">") + 1
            if next < text.count { found(next, end(from: next, before: "</")) }
        }
    }

    /// `https://user:password@host`.
    private mutating func userinfo() {
        position += 3
        let authority = text[position..<end(from: position, to: " \t\r\n/?#\\\"<>")]
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
        let last = end(from: first, to: " \t\r\n,;\"'\\<>&)")
        let credentials = String(decoding: text[first..<last], as: UTF8.self)[...]
        if first > word, !isAt("=\"", last - 1), credentials.isOpaque { found(first, last) }
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
