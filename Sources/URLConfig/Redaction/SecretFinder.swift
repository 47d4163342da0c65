/// Finds the secrets in a text of any format, under up to three layers of escapes.
///
/// Secrets are the values that the call knows, the values under hidden names (`key=value`, `key: value`, JSON in any
/// dialect, XML, parts of a multipart body), and tokens with a known shape. The time is linear: around a mark, at most
/// 64 bytes before it are read, and 256 bytes after it unless they are secret.
struct SecretFinder {
    /// The places of the secrets, and their values without escapes.
    private(set) var secrets: [(range: Range<Int>, value: ArraySlice<UInt8>)] = []
    /// The starts of hidden JSON values without quotes.
    private(set) var unquoted: Set<Int> = []

    private let redaction: Redaction
    private let matcher: SecretMatcher
    private let isForm: Bool
    private let boundary: String?
    /// A cache: whether names are hidden.
    private var hidden: [ArraySlice<UInt8>: Bool] = [:]
    /// The layer of escapes that is searched, and the searched part of it.
    private var layer: [UInt8] = []
    private var text: ArraySlice<UInt8> = []
    /// The index of each byte of the layer in the whole text; `nil` for the first layer.
    private var starts: [Int]?
    private var position = 0
    /// The end of the last secret of this layer.
    private var covered = 0

    /// A word of this length is no ordinary word.
    private static let longestWord = 64

    /// - Parameters:
    ///   - type: The type of the text; `nil` for a form, since Foundation sends such a body as a form.
    ///   - hasNames: Whether names and shapes are searched, or only the known values.
    init(_ bytes: [UInt8], _ type: MediaType?, _ redaction: Redaction, hasNames: Bool) {
        self.redaction = redaction
        matcher = redaction.known.matcher(redaction)
        let isJSON = hasNames && bytes.isStructure && type?.isForm != true
        isForm = !isJSON && type?.isForm ?? true
        boundary = type?.isMultipart == true ? type?.parameters["boundary"] : nil
        if isJSON { searchJSON(bytes) } else { search(bytes, bytes.indices, byValue: true, byName: hasNames) }
    }

    /// Searches each string as a separate text; every value under a hidden name is a secret.
    private mutating func searchJSON(_ bytes: [UInt8]) {
        var json = JSONTokenizer(bytes)
        json.check()
        // The fault of cut JSON is at its end.
        let isBroken = json.fault.map { $0.offset < json.end } ?? false
        search(bytes, bytes.indices, byValue: true, byName: isBroken)
        json = JSONTokenizer(bytes)
        json.endsStringsAtLineBreaks = true
        while let token = json.next() {
            guard token.kind == .string else { continue }
            let string = json.content(of: token)
            let name = json.isName(token) ? JSONString(bytes[token.start..<json.position]).bytes[...] : []
            search(bytes, string, byValue: false, byName: true)
            guard hides(name) else { continue }
            _ = json.next()
            let start = json.skipSpace().upperBound
            if json[start] != UInt8(ascii: "\"") { unquoted.insert(start) }
            (layer, text, starts) = (bytes, bytes[...], nil)
            addValue(&json)
        }
    }

    /// Adds the strings and words of a JSON value, and the value as a whole.
    private mutating func addValue(_ json: inout JSONTokenizer) {
        let (start, depth) = (json.position, json.depth)
        while let token = json.next() {
            if token.kind == .string || token.kind == .word, !json.isName(token) { add(json.content(of: token)) }
            if json.depth <= depth { break }
        }
        if json[start] != UInt8(ascii: "\"") { add(start..<json.position, hasValue: false) }
    }

    private mutating func search(_ bytes: [UInt8], _ part: Range<Int>, byValue: Bool, byName: Bool) {
        guard !part.isEmpty, byName || !matcher.isEmpty else { return }
        (layer, text, starts) = (bytes, bytes[part], nil)
        for _ in 0...3 {
            if byName { findNames() }
            if byValue { for range in matcher.ranges(in: text) { add(range) } }
            guard let next = text.unescaped() else { return }
            starts = starts.map { starts in next.starts.map { starts[$0] } } ?? next.starts
            (layer, text) = (next.bytes, next.bytes[...])
        }
    }

    private mutating func add(_ range: Range<Int>, hasValue: Bool = true) {
        let place = starts.map { $0[range.lowerBound]..<$0[range.upperBound] } ?? range
        secrets.append((place, hasValue ? text[range] : []))
    }

    private mutating func found(_ start: Int, _ end: Int, hasValue: Bool = true) {
        position = max(start, end)
        covered = position
        add(start..<position, hasValue: hasValue)
    }

    private mutating func findNames() {
        (position, covered) = (text.startIndex, text.startIndex)
        while position < text.endIndex {
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

    private func isAt(_ word: StaticString, _ index: Int) -> Bool {
        word.withUTF8Buffer { text[min(index, text.endIndex)...].starts(with: $0) }
    }

    private func isAt(_ index: Int, oneOf bytes: String) -> Bool {
        text.indices.contains(index) && bytes.utf8.contains(text[index])
    }

    private func end(from start: Int, _ limit: Int = .max, while condition: (UInt8) -> Bool) -> Int {
        let rest = text[min(start, text.endIndex)...].prefix(limit)
        return rest.firstIndex { !condition($0) } ?? rest.endIndex
    }

    private func end(from start: Int, _ limit: Int = .max, to delimiters: String) -> Int {
        end(from: start, limit) { !delimiters.utf8.contains($0) }
    }

    private func end(from start: Int, before mark: String) -> Int {
        text[min(start, text.endIndex)...].firstRange(of: mark.utf8)?.lowerBound ?? text.endIndex
    }

    private mutating func hides(_ name: ArraySlice<UInt8>) -> Bool {
        if let known = hidden[name] { return known }
        // A name may be percent-encoded Latin-1.
        let text = String(decoding: name, as: UTF8.self)
        let isUTF8 = text.utf8.elementsEqual(name)
        let isHidden = redaction.hides(isUTF8 ? text : String(name.map { Character(Unicode.Scalar($0)) }))
        if hidden.count < 1000 { hidden[name] = isHidden }
        return isHidden
    }

    /// Searches at `=` or `:`.
    private mutating func assignment() {
        let mark = position
        position += 1
        let before = text[max(covered, mark - 64)..<mark]
        let name = before.lastIndex { !" \t\"'`".utf8.contains($0) }.map { before[...$0] } ?? before.prefix(0)
        let quote = before[name.endIndex...].first { "\"'`".utf8.contains($0) }
        let start = name.lastIndex { quote == nil ? !$0.isNameByte && $0 != 0x20 : $0 == quote }.map { $0 + 1 }
        let phrase = name[(start ?? name.startIndex)...].drop { " -".utf8.contains($0) }
        guard !phrase.isEmpty else { return }
        if let boundary { part(String(decoding: phrase, as: UTF8.self).lowercased(), boundary) }
        let isEqual = text[mark] == UInt8(ascii: "=")
        let isItem = isEqual && start.map { isAt($0 - 1, oneOf: "?&;#") } ?? isForm
        // A code in a query is exchanged for a token (RFC 6749 §4.1.3).
        guard hides(phrase) || isItem && phrase.elementsEqual("code".utf8) else { return }
        if isItem || isEqual && isForm { return found(position, end(from: position, to: isForm ? "&" : "&#")) }
        var value = end(from: end(from: position, 2) { "=>:".utf8.contains($0) }) { " \t".utf8.contains($0) }
        let next = end(from: value) { $0.isJSONSpace }
        if quote != nil || isAt(next, oneOf: "\"'`[{") { value = next }
        // Whether the name begins a line, an element or a string.
        let isAlone = !phrase.contains(0x20) && start.map { isAt($0 - 1, oneOf: "\n\r\t{(,;|>\"'`") } ?? true
        if isAt(end(from: value) { $0 == UInt8(ascii: "\\") }, oneOf: "\"'`") {
            quoted(value)
        } else if isAt(value, oneOf: "[{") {
            var json = JSONTokenizer(layer).reading(from: value)
            json.end = text.endIndex
            addValue(&json)
            found(value, end(from: json.position, to: "\n"), hasValue: false)
        } else if value < text.endIndex, isEqual || quote != nil || isSecret(value, isAlone) {
            found(value, end(from: value, to: isEqual ? "&\n" : "\n"))
        }
    }

    /// Adds a value in quotes; its closing quote has at most as many backslashes as the opening quote.
    private mutating func quoted(_ start: Int) {
        let first = end(from: start) { $0 == UInt8(ascii: "\\") }
        if isAt("\"\"\"", first) { return found(first + 3, end(from: first + 3, before: "\"\"\"")) }
        var (index, slashes) = (first + 1, 0)
        while index < text.endIndex, text[index] != text[first] || slashes > first - start {
            slashes = text[index] == UInt8(ascii: "\\") ? slashes + 1 : 0
            index += 1
        }
        found(first + 1, index - slashes)
        position = min(index + 1, text.endIndex)
    }

    /// Whether the text after a colon is a secret; in `Invalid token: expired`, it is not.
    private func isSecret(_ start: Int, _ isAlone: Bool) -> Bool {
        let line = text[start..<end(from: start, 256) { !"\n<".utf8.contains($0) }]
        let words = String(decoding: line, as: UTF8.self).split(maxSplits: 3, whereSeparator: \.isWhitespace)
        let clause = (words.firstIndex { ",})]".contains($0.last ?? " ") } ?? words.count - 1) + 1
        return words.prefix(2).contains(where: \.isOpaque)
            || isAlone && 1...2 ~= clause && !Self.ordinary.contains(words[0].lowercased())
    }

    /// The first words of a sentence about a secret.
    private static let ordinary: Set = [
        "cannot", "doesn't", "expired", "has", "invalid", "is", "may", "missing", "must", "not", "required", "should",
        "too", "unknown", "was",
    ]

    /// Adds the content of a part of a multipart body, if its name is hidden or its character set cannot be searched.
    private mutating func part(_ parameter: String, _ boundary: String) {
        let start = end(from: position) { $0 == UInt8(ascii: "\"") }
        let value = text[start..<end(from: start, 256, to: "\";\r\n")]
        let isReadable = ["utf-8", "us-ascii"].contains(String(decoding: value, as: UTF8.self).lowercased())
        guard parameter == "name" ? hides(value) : parameter == "charset" && !isReadable else { return }
        let end = end(from: value.endIndex, before: "\r\n--\(boundary)")
        found(text[value.endIndex..<end].firstRange(of: "\r\n\r\n".utf8)?.upperBound ?? value.endIndex, end)
    }

    /// Searches `<token>…</token>`, `<token value="…"/>`, `<input name="token" value="…">` and
    /// `<key>token</key><string>…`.
    private mutating func element() {
        let start = position + 1
        position = start
        let nameEnd = end(from: start, 64) { $0.isNameByte || $0 == UInt8(ascii: ":") }
        let close = end(from: nameEnd, to: "<>")
        guard nameEnd > start, isAt(">", close) else { return }
        let name = String(decoding: text[start..<nameEnd], as: UTF8.self)
        let words = text[nameEnd..<close].split { " \t\r\n=\"'/".utf8.contains($0) }
        let isNaming = zip(words, words.dropFirst()).contains { attribute, value in
            ["name", "key", "property"].contains { attribute.elementsEqual($0.utf8) } && hides(value)
        }
        if isNaming || hides(text[start..<nameEnd]) {
            if close > nameEnd { found(nameEnd, close) }
            position = close + 1
            if isAt("/>", close - 1) || ["input", "meta"].contains(name) { return }
            found(position, end(from: position, before: "</" + name))
        } else if name == "key" || name == "name" {
            let content = text[close...].dropFirst().prefix(64).prefix { $0 != UInt8(ascii: "<") }
            let next = end(from: end(from: content.endIndex, before: ">") + 1, before: ">") + 1
            if next < text.endIndex, hides(content) { found(next, end(from: next, before: "</")) }
        }
    }

    /// Searches `https://user:password@host`.
    private mutating func userinfo() {
        position += 3
        let authority = text[position..<end(from: position, to: " \t\r\n/?#\\\"<>")]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { found(position, at) }
    }

    /// Searches `Bearer …` and `Basic …`, unless a parameter or an ordinary word follows.
    private mutating func credentials() {
        let start = position
        let scheme = end(from: start, 7) { $0.isNameByte }
        position += 1
        guard start == text.startIndex || !text[start - 1].isNameByte,
            ["bearer", "basic"].contains(String(decoding: text[start..<scheme], as: UTF8.self).lowercased())
        else { return }
        let first = end(from: scheme) { " \t+".utf8.contains($0) }
        // Only the beginning decides, so that words which are not credentials are not read again and again.
        let delimiters = " \t\r\n,;\"'\\<>&)"
        let beginning = end(from: first, Self.longestWord, to: delimiters)
        let isLong = beginning - first == Self.longestWord
        let word = String(decoding: text[first..<beginning], as: UTF8.self)[...]
        guard first > scheme, isLong || word.isOpaque && !isAt("=\"", beginning - 1) else { return }
        found(first, end(from: beginning, to: delimiters))
    }

    /// Searches a JWT: a JSON object in base64, a dot, and another part.
    private mutating func webToken() {
        let start = position
        position = end(from: start) { $0.isAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        let isStart = start == text.startIndex || !text[start - 1].isAlphanumeric
        // The rest is read only if it may be a token, and then it is one unless it is short: the time stays linear.
        guard isStart, position - start >= 8, isAt(".", position) else { return }
        let end = end(from: position, while: \.isCredentialByte)
        if end - position > 4 { found(start, end) }
    }
}

extension Substring {
    /// Whether this is more likely a secret than a word of a sentence.
    fileprivate var isOpaque: Bool { unicodeScalars.count >= 16 || contains { $0.isNumber || $0 == "=" } }
}

extension UInt8 {
    fileprivate var isNameByte: Bool { isAlphanumeric || self >= 0x80 || "_-.[]$+".utf8.contains(self) }

    /// Whether it can be part of a token or of base64.
    var isCredentialByte: Bool { isAlphanumeric || "+/=-_.~".utf8.contains(self) }
}
