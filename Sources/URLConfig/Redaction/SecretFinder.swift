/// Finds what must be hidden in a text, in linear time.
///
/// It finds values under hidden names, in JSON, in the items of queries and forms and in parts of multipart forms;
/// credentials with a known shape; and values that the call knows. A value with escapes is a text of its own: it is
/// searched without them, and written again with them if something in it is hidden.
struct SecretFinder {
    enum Format {
        case json
        /// Other text, which may contain URLs or JSON.
        case text
        /// A URL, valid or not; an apostrophe may be a part of a value.
        case url
        case form
        /// In a recording, parts that are not parsed are kept.
        case multipart(boundary: String, isRecorded: Bool = false)
        /// Text of this library, in which only values that the call knows are hidden.
        case known
    }

    /// The places that are hidden, and what is shown there.
    private(set) var masks: [(range: Range<Int>, text: [UInt8])] = []
    /// The text under hidden names, without escapes.
    private(set) var secrets: [[UInt8]] = []

    let bytes: [UInt8]
    let redaction: Redaction
    /// The most bytes that are shown.
    let limit: Int
    let depth: Int
    /// The values that the call knows.
    let known: SecretValues
    private let isURL: Bool
    private var secrecies: [ArraySlice<UInt8>: Redaction.Secrecy] = [:]
    /// The value of the last item: reading the rest of `a=a=a=` at each mark would take quadratic time.
    private var value = (end: 0, hasEscapes: false)

    init(_ bytes: [UInt8], _ format: Format, _ redaction: Redaction, upTo limit: Int = .max, depth: Int = 0) {
        (self.bytes, self.redaction, self.limit, self.depth) = (bytes, redaction, limit, depth)
        known = redaction.known.values(redaction)
        isURL = if case .url = format { true } else { false }
        switch format {
        case .json: findInJSON(from: 0)
        case .form:
            findInText(bytes.indices, isForm: true)
            value = (0, false)
            // JSON without percent-encoding, in an item or in place of the items: it may contain a `&`.
            findInJSON(from: bytes.firstIndex(of: UInt8(ascii: "{")) ?? bytes.count)
        case .multipart(let boundary, let isRecorded): findInParts(boundary, isRecorded)
        case .text, .url:
            // A value may contain a brace.
            if !bytes.isStructure { findInText(bytes.indices) }
            // An odd quote before an object would make values of its names.
            for start in bytes.isStructure ? [0] : "\"{".utf8.compactMap({ bytes.firstIndex(of: $0) }) {
                value = (0, false)
                findInJSON(from: start)
            }
        case .known: break
        }
        let ranges = known.ranges(in: bytes)
        // A number in JSON is hidden with quotes.
        let found = ranges.isEmpty ? [] : Set(masks.map(\.range))
        for range in ranges where !found.contains(range) { hide(range) }
        // In the value of an item that is in another item, the escapes may be escaped.
        if 1...2 ~= depth, masks.isEmpty, case .text = format, !bytes.contains(where: { "=\"{".utf8.contains($0) }) {
            let text = bytes[...].withoutPercents
            if text.count < bytes.count { findInItem(bytes.indices, text) }
        }
    }

    /// The bytes with everything hidden, up to the limit; a character is not cut.
    func masked() -> [UInt8] {
        if masks.isEmpty, limit >= bytes.count { return bytes }
        var (output, end) = ([UInt8](), 0)
        // Of masks that begin at one place, the longest is shown, and then the shortest text.
        let sorted = masks.sorted {
            ($0.range.lowerBound, -$0.range.upperBound, $0.text.count)
                < ($1.range.lowerBound, -$1.range.upperBound, $1.text.count)
        }
        for mask in sorted where mask.range.lowerBound < limit {
            if mask.range.lowerBound >= end {
                output += bytes[end..<mask.range.lowerBound] + mask.text
            }
            end = max(end, mask.range.upperBound)
        }
        var last = max(end, min(limit, bytes.count))
        while last > end, last < bytes.count, bytes[last] & 0xC0 == 0x80 { last -= 1 }
        return output + bytes[end..<last]
    }

    mutating func hide(_ range: Range<Int>, as text: String = Redaction.mask) {
        masks.append((range, Array(text.utf8)))
    }

    /// Hides the text under a name; `false` if it is no secret.
    mutating func hide(_ range: Range<Int>, _ text: [UInt8], _ secrecy: Redaction.Secrecy) -> Bool {
        guard redaction.isSecret(text, secrecy) else { return false }
        hide(range, text)
        return true
    }

    /// Hides a secret, and takes its text for one that is hidden elsewhere, too.
    mutating func hide(_ range: Range<Int>, _ text: [UInt8], as mask: String = Redaction.mask) {
        secrets.append(text)
        hide(range, as: mask)
    }

    /// Searches text that was written with escapes, which `encoded` adds again.
    mutating func findInside(
        _ range: Range<Int>, _ text: [UInt8], _ format: Format = .text, encoded: (String) -> String
    ) {
        guard depth < 3 else { return hide(range) }
        let finder = Self(text, format, redaction, upTo: limit - range.lowerBound, depth: depth + 1)
        secrets += finder.secrets
        guard !finder.masks.isEmpty else { return }
        // With escapes, the limit is at another place of the text, and its end may be the beginning of a secret.
        if range.upperBound > limit, !text.elementsEqual(bytes[range]) { return hide(range) }
        hide(range, as: encoded(String(decoding: finder.masked(), as: UTF8.self)))
    }

    mutating func secrecy(of name: ArraySlice<UInt8>) -> Redaction.Secrecy {
        if let known = secrecies[name] { return known }
        // A name may be percent-encoded Latin-1.
        let text = String(decoding: name, as: UTF8.self)
        let isUTF8 = text.utf8.elementsEqual(name)
        let secrecy = redaction.secrecy(of: isUTF8 ? text : String(name.map { Character(Unicode.Scalar($0)) }))
        if secrecies.count < 1000 { secrecies[name] = secrecy }
        return secrecy
    }

    private func end(from start: Int, in range: Range<Int>, while condition: (UInt8) -> Bool) -> Int {
        bytes[min(start, range.upperBound)..<range.upperBound].firstIndex { !condition($0) } ?? range.upperBound
    }

    /// - Parameter orQuery: Whether the first item of a query also ends it: it may follow what only looks like an item,
    ///   as in `/items;v=1?password=`.
    private func end(
        from start: Int, in range: Range<Int>, to delimiters: String, orQuery: Bool = false
    ) -> Int {
        let rest = bytes[min(start, range.upperBound)..<range.upperBound]
        return rest.indices.first { index in
            delimiters.utf8.contains(rest[index])
                || orQuery && rest[index] == UInt8(ascii: "?") && isItem(at: index + 1)
        } ?? range.upperBound
    }

    /// Whether an item begins here.
    ///
    /// Its name is not long, and only its brackets may be escaped.
    private func isItem(at start: Int) -> Bool {
        let rest = bytes[start...].prefix(65)
        let mark = rest.indices.first { index in
            let isBracket = isAt("%5B", index) || isAt("%5D", index) || isAt("%5b", index) || isAt("%5d", index)
            return !rest[index].isNameByte || rest[index] == UInt8(ascii: "%") && !isBracket
        }
        return mark.map { $0 > start && bytes[$0] == UInt8(ascii: "=") } ?? false
    }
}

/// Items of queries and forms, and credentials with a known shape.
extension SecretFinder {
    mutating func findInText(_ range: Range<Int>, isForm: Bool = false) {
        var index = range.lowerBound
        while index < range.upperBound {
            switch bytes[index] {
            case UInt8(ascii: "="):
                index = item(at: index, range, isForm)
            case UInt8(ascii: ":") where isAt("://", index):
                index = userinfo(index + 3, range)
            case UInt8(ascii: "-") where isAt("-----BEGIN ", index):
                index = block(index + 11, range, isForm)
            case UInt8(ascii: "%") where isAt("%3A%2F%2F", index) || isAt("%3a%2f%2f", index):
                index = embedded(index, range)
            case UInt8(ascii: "%") where UInt8(hexDigits: bytes[(index + 1)..<range.upperBound].prefix(2)) != nil:
                // The digits of an escape are no letters of a word.
                index += 3
            case let byte where Self.firstBytes.contains(byte):
                let begins =
                    index == range.lowerBound || !bytes[index - 1].isWordByte || bytes[..<index].endsWithEscape
                index = begins ? word(index, range) : index + 1
            default:
                index += 1
            }
        }
    }

    private func isAt(_ text: StaticString, _ index: Int) -> Bool {
        text.withUTF8Buffer { bytes[index...].starts(with: $0) }
    }

    /// Hides the value of `name=value`, and returns where the search continues.
    private mutating func item(at mark: Int, _ range: Range<Int>, _ isForm: Bool) -> Int {
        let before = bytes[max(range.lowerBound, mark - 64)..<mark]
        let name = before.suffix(from: before.lastIndex { !$0.isNameByte }.map { $0 + 1 } ?? before.startIndex)
        if name.isEmpty { return mark + 1 }
        let plain = name.withoutPercents
        var secrecy = secrecy(of: plain)
        let isItem = isForm || name.startIndex > range.lowerBound && "?&;#".utf8.contains(bytes[name.startIndex - 1])
        let beginning = String(decoding: plain.prefix(5), as: UTF8.self)
        if isItem, Redaction.isKey(ofItem: beginning) { secrecy = redaction.secrecy(ofItem: beginning) }
        // In a URL, an apostrophe is a quote only in parentheses, as in OData: `/Users(ID='7')`.
        let hasQuotes = !isURL || name.startIndex > range.lowerBound && "(,".utf8.contains(bytes[name.startIndex - 1])
        let isQuoted = !isForm && (isAt("\"", mark + 1) || hasQuotes && isAt("'", mark + 1))
        let start = isQuoted ? mark + 2 : mark + 1
        // A value that is no secret ends before a query, but a secret in it does not.
        let isCut = secrecy > .nothing && value.end < range.upperBound && bytes[value.end] == UInt8(ascii: "?")
        let isNew = isQuoted || mark >= value.end || isCut
        if isQuoted {
            let hasLines = isAt("-----BEGIN ", start)
            let end = end(from: start, in: bytes.indices) {
                $0 != bytes[mark + 1] && (hasLines || $0 != UInt8(ascii: "\n"))
            }
            value = (end, false)
        } else if isNew {
            let delimiters = isForm ? "&" : isURL ? "&# \t\r\n\"<>" : "&# \t\r\n\"'<>"
            var end = end(from: start, in: range, to: delimiters, orQuery: secrecy == .nothing)
            // A string of JSON is read as a whole.
            if end < range.upperBound, bytes[end] == UInt8(ascii: "?"),
                bytes[start..<end].withoutPercents.endsInString
            {
                end = self.end(from: end, in: range, to: delimiters)
            }
            value = (end, bytes[start..<end].contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") })
        }
        let content = min(start, value.end)..<value.end
        guard secrecy > .nothing || isNew && value.hasEscapes else { return mark + 1 }
        let text = value.hasEscapes ? bytes[content].withoutPercents : bytes[content]
        if hide(content, Array(text), secrecy) { return value.end }
        guard isNew, value.hasEscapes else { return mark + 1 }
        findInItem(content, text)
        return value.end
    }

    /// Searches the value of an item, of which this is the text without escapes.
    private mutating func findInItem(_ content: Range<Int>, _ text: ArraySlice<UInt8>) {
        findInside(content, Array(text)) {
            $0.percentEncoded(.unreserved).replacing("%2A%2A%2A", with: Redaction.mask)
        }
    }

    /// Searches a URL that is a segment of another one, from its `://`, and returns where the search continues.
    private mutating func embedded(_ start: Int, _ range: Range<Int>) -> Int {
        var end = end(from: start, in: range, to: "/?#& \t\r\n\"'<>")
        let mark = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) ?? end
        let authority = bytes[start..<end].withoutPercents.dropFirst(3).prefix { !"/?#".utf8.contains($0) }
        // What follows a `=` is the value of an item, which is hidden as a whole, unless it belongs to the URL.
        let isOfURL =
            authority.contains(UInt8(ascii: "@"))
            || bytes[start..<mark].withoutPercents.contains(UInt8(ascii: "="))
        if !isOfURL { end = mark }
        findInItem(start..<end, bytes[start..<end].withoutPercents)
        return end
    }

    /// Hides `user:password` in `https://user:password@host`.
    private mutating func userinfo(_ start: Int, _ range: Range<Int>) -> Int {
        let end = end(from: start, in: range, to: " \t\r\n/?#\\\"<>")
        guard start < end, let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return start }
        hide(start..<at)
        return at
    }

    /// Hides the content of a PEM block (RFC 7468); without its last line, to the end.
    private mutating func block(_ start: Int, _ range: Range<Int>, _ isForm: Bool) -> Int {
        let label = start..<min(start + 64, range.upperBound)
        guard let marks = bytes.firstRange(of: "-----".utf8, in: label) else { return start }
        findInText(start..<marks.lowerBound, isForm: isForm)
        let end = bytes.firstRange(of: "-----END ".utf8, in: marks.upperBound..<range.upperBound)?.lowerBound
        hide(marks.upperBound..<(end ?? range.upperBound))
        return end ?? range.upperBound
    }

    private static let firstBytes = Set("ABbegrsx".utf8)
    /// The beginnings of tokens of GitHub, GitLab, Slack, Stripe, OpenAI, Amazon and Google.
    static let prefixes = [
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-",
        "xoxo-", "xoxp-", "xoxr-", "xoxs-", "sk_live_", "sk_test_", "rk_live_", "sk-", "AKIA", "ASIA", "AIza",
    ].map { Array($0.utf8) }

    /// Hides a token with a known prefix, a JSON Web Token, or what follows `Bearer` and `Basic`.
    private mutating func word(_ start: Int, _ range: Range<Int>) -> Int {
        let wordEnd = end(from: start, in: range, while: \.isWordByte)
        let word = bytes[start..<wordEnd]
        var (first, end) = (start, wordEnd)
        if word.count == 5 || word.count == 6,
            ["basic", "bearer"].contains(String(decoding: word, as: UTF8.self).lowercased())
        {
            first = self.end(from: wordEnd, in: range) { " \t+".utf8.contains($0) }
            // A space in a URL, whose next one or next segment is no part of a credential.
            let isInURL = first < range.upperBound && isAt("%20", first)
            if isInURL { first += 3 }
            func endOfValue(from start: Int, in range: Range<Int>) -> Int {
                let delimiters = " \t\r\n,;\"'\\<>&)" + (isInURL ? "/?#%" : "")
                var end = self.end(from: start, in: range, to: delimiters)
                while isInURL, end < range.upperBound, bytes[end] == UInt8(ascii: "%"), !isAt("%20", end) {
                    end = self.end(from: end + 1, in: range, to: delimiters)
                }
                return end
            }
            // Only the beginning decides, so that words which are no credentials are not read again and again.
            let written = bytes[first..<endOfValue(from: first, in: first..<min(first + 64, range.upperBound))]
            let beginning = isInURL ? written.withoutPercents : written
            let isOpaque = beginning.count >= 16 || beginning.contains { $0.isDigit || $0 == UInt8(ascii: "=") }
            // A parameter follows, as in `Bearer realm="api"`.
            let isParameter =
                beginning.last == UInt8(ascii: "=")
                && beginning.dropLast().allSatisfy { $0.isAlphanumeric && $0 > 0x60 }
            guard first > wordEnd, isOpaque, !isParameter else { return wordEnd }
            end = endOfValue(from: written.endIndex, in: range)
        } else if word.starts(with: "eyJ".utf8), word.count >= 8, end < range.upperBound, isAt(".", end) {
            end = self.end(from: end, in: range) { $0.isWordByte || "+/=.~".utf8.contains($0) }
            guard end - wordEnd > 4 else { return end }
        } else {
            let prefix = word.count < 13 ? nil : Self.prefixes.first { word.starts(with: $0) }
            let rest = word.dropFirst(prefix?.count ?? word.count)
            // Ordinary words may begin like `sk-` and `ASIA`.
            let mayBeWord = prefix.map { $0.count < 5 && $0.last != UInt8(ascii: "_") } ?? true
            guard rest.count >= 10, !mayBeWord || rest.contains(where: \.isDigit) else { return wordEnd }
        }
        secrets.append(Array(bytes[first..<end]))
        hide(first..<end)
        return end
    }
}

extension ArraySlice<UInt8> {
    /// Whether it is one of a few texts.
    func elements(in texts: [StaticString]) -> Bool {
        texts.contains { text in text.utf8CodeUnitCount == count && text.withUTF8Buffer { elementsEqual($0) } }
    }

    /// A name or a value of a query or a form, without its escapes.
    fileprivate var withoutPercents: Self {
        guard contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return self }
        var (text, index) = ([UInt8](), startIndex)
        while index < endIndex {
            let decoded =
                self[index] == UInt8(ascii: "%") ? UInt8(hexDigits: self[index...].dropFirst().prefix(2)) : nil
            text.append(decoded ?? (self[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : self[index]))
            index += decoded == nil ? 1 : 3
        }
        return text[...]
    }

    /// Whether it may be JSON that was cut in a string.
    fileprivate var endsInString: Bool {
        guard contains(where: { "[{".utf8.contains($0) }) else { return false }
        var (isInString, isEscaped) = (false, false)
        for byte in self {
            if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return isInString
    }
}

extension UInt8 {
    fileprivate var isNameByte: Bool { isAlphanumeric || self >= 0x80 || "_-.[]$%+".utf8.contains(self) }

    fileprivate var isWordByte: Bool { isAlphanumeric || self == UInt8(ascii: "_") || self == UInt8(ascii: "-") }
}
