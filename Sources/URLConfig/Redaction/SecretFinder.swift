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
        case form
        case multipart(boundary: String)
    }

    /// The places that are hidden, and what is shown there.
    private(set) var masks: [(range: Range<Int>, text: [UInt8])] = []
    /// The text under hidden names, without escapes.
    private(set) var secrets: [[UInt8]] = []

    private let bytes: [UInt8]
    private let redaction: Redaction
    private let depth: Int
    private var secrecies: [ArraySlice<UInt8>: Redaction.Secrecy] = [:]
    /// The value of the last item: reading the rest of `a=a=a=` at each mark would take quadratic time.
    private var value = (end: 0, hasEscapes: false)

    init(_ bytes: [UInt8], _ format: Format, _ redaction: Redaction, depth: Int = 0) {
        (self.bytes, self.redaction, self.depth) = (bytes, redaction, depth)
        switch format {
        case .json: findInJSON(from: 0)
        case .form: findInText(bytes.indices, isForm: true)
        case .multipart(let boundary): findInParts(boundary)
        case .text:
            let start = bytes.isStructure ? 0 : bytes.firstIndex { "{\"".utf8.contains($0) } ?? bytes.count
            findInText(0..<start)
            findInJSON(from: start)
        }
        hideKnown()
    }

    /// Finds only the values that the call knows.
    init(knownIn bytes: [UInt8], _ redaction: Redaction) {
        (self.bytes, self.redaction, depth) = (bytes, redaction, 0)
        hideKnown()
    }

    private mutating func hideKnown() {
        for range in redaction.known.values(redaction).ranges(in: bytes) { hide(range) }
    }

    /// The bytes with everything hidden, up to an index; a character is not cut.
    func masked(upTo limit: Int = .max) -> [UInt8] {
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

    private mutating func hide(_ range: Range<Int>, as text: String = Redaction.mask) {
        masks.append((range, Array(text.utf8)))
    }

    /// Hides the text under a name; `false` if it is no secret.
    private mutating func hide(_ range: Range<Int>, _ text: [UInt8], _ secrecy: Redaction.Secrecy) -> Bool {
        guard redaction.isSecret(text, secrecy) else { return false }
        secrets.append(text)
        hide(range)
        return true
    }

    /// Searches text that was written with escapes, which `encoded` adds again.
    private mutating func findInside(_ range: Range<Int>, _ text: [UInt8], encoded: (String) -> String) {
        guard depth < 3 else { return }
        let finder = Self(text, .text, redaction, depth: depth + 1)
        secrets += finder.secrets
        guard !finder.masks.isEmpty else { return }
        hide(range, as: encoded(String(decoding: finder.masked(), as: UTF8.self)))
    }

    private mutating func secrecy(of name: ArraySlice<UInt8>, isItem: Bool = false) -> Redaction.Secrecy {
        if !isItem, let known = secrecies[name] { return known }
        // A name may be percent-encoded Latin-1.
        let text = String(decoding: name, as: UTF8.self)
        let isUTF8 = text.utf8.elementsEqual(name)
        let secrecy = redaction.secrecy(
            of: isUTF8 ? text : String(name.map { Character(Unicode.Scalar($0)) }), isItem: isItem)
        if !isItem, secrecies.count < 1000 { secrecies[name] = secrecy }
        return secrecy
    }

    private func end(from start: Int, in range: Range<Int>, while condition: (UInt8) -> Bool) -> Int {
        bytes[min(start, range.upperBound)..<range.upperBound].firstIndex { !condition($0) } ?? range.upperBound
    }

    private func end(from start: Int, in range: Range<Int>, to delimiters: String) -> Int {
        end(from: start, in: range) { !delimiters.utf8.contains($0) }
    }
}

/// Items of queries and forms, and credentials with a known shape.
extension SecretFinder {
    private mutating func findInText(_ range: Range<Int>, isForm: Bool = false) {
        var index = range.lowerBound
        while index < range.upperBound {
            switch bytes[index] {
            case UInt8(ascii: "="):
                index = item(at: index, range, isForm)
            case UInt8(ascii: ":") where isAt("://", index):
                index = userinfo(index + 3, range)
            case UInt8(ascii: "-") where isAt("-----BEGIN ", index):
                index = block(index + 11, range)
            case let byte where Self.firstBytes.contains(byte):
                index = index == range.lowerBound || !bytes[index - 1].isWordByte ? word(index, range) : index + 1
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
        let isQuoted = !isForm && (isAt("\"", mark + 1) || isAt("'", mark + 1))
        let start = isQuoted ? mark + 2 : mark + 1
        let isNew = isQuoted || mark >= value.end
        if isQuoted {
            let end = end(from: start, in: bytes.indices) { $0 != bytes[mark + 1] && $0 != UInt8(ascii: "\n") }
            value = (end, false)
        } else if isNew {
            let end = end(from: start, in: range, to: isForm ? "&" : "&# \t\r\n\"'<>")
            value = (end, bytes[start..<end].contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") })
        }
        let isItem = isForm || name.startIndex > range.lowerBound && "?&;#".utf8.contains(bytes[name.startIndex - 1])
        let secrecy = secrecy(of: name.withoutPercents, isItem: isItem)
        let content = min(start, value.end)..<value.end
        guard secrecy > .nothing || isNew && value.hasEscapes else { return mark + 1 }
        let text = value.hasEscapes ? bytes[content].withoutPercents : bytes[content]
        if hide(content, Array(text), secrecy) { return value.end }
        guard isNew, value.hasEscapes else { return mark + 1 }
        findInside(content, Array(text)) {
            $0.percentEncoded(.unreserved).replacing("%2A%2A%2A", with: Redaction.mask)
        }
        return value.end
    }

    /// Hides `user:password` in `https://user:password@host`.
    private mutating func userinfo(_ start: Int, _ range: Range<Int>) -> Int {
        let end = end(from: start, in: range, to: " \t\r\n/?#\\\"<>")
        guard start < end, let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return start }
        hide(start..<at)
        return at
    }

    /// Hides the content of a PEM block (RFC 7468); without its last line, to the end.
    private mutating func block(_ start: Int, _ range: Range<Int>) -> Int {
        let label = start..<min(start + 64, range.upperBound)
        guard let marks = bytes.firstRange(of: "-----".utf8, in: label) else { return start }
        let end = bytes.firstRange(of: "-----END ".utf8, in: marks.upperBound..<range.upperBound)?.lowerBound
        hide(marks.upperBound..<(end ?? range.upperBound))
        return end ?? range.upperBound
    }

    private static let firstBytes = Set("ABbegrsx".utf8)
    /// The beginnings of tokens of GitHub, GitLab, Slack, Stripe, OpenAI, Amazon and Google.
    private static let prefixes = [
        "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-",
        "xoxr-", "xoxs-", "sk_live_", "sk_test_", "rk_live_", "sk-", "AKIA", "ASIA", "AIza",
    ].map { Array($0.utf8) }

    /// Hides a token with a known prefix, a JSON Web Token, or what follows `Bearer` and `Basic`.
    private mutating func word(_ start: Int, _ range: Range<Int>) -> Int {
        let wordEnd = end(from: start, in: range, while: \.isWordByte)
        let word = bytes[start..<wordEnd]
        var (first, end) = (start, wordEnd)
        if word.count == 5 || word.count == 6,
            ["basic", "bearer"].contains(String(decoding: word, as: UTF8.self).lowercased())
        {
            let delimiters = " \t\r\n,;\"'\\<>&)"
            first = self.end(from: wordEnd, in: range) { " \t+".utf8.contains($0) }
            // Only the beginning decides, so that words which are no credentials are not read again and again.
            let beginning = bytes[
                first..<self.end(from: first, in: first..<min(first + 64, range.upperBound), to: delimiters)]
            let isOpaque = beginning.count >= 16 || beginning.contains { $0.isDigit || $0 == UInt8(ascii: "=") }
            // A parameter follows, as in `Bearer realm="api"`.
            let isParameter =
                beginning.last == UInt8(ascii: "=")
                && beginning.dropLast().allSatisfy { $0.isAlphanumeric && $0 > 0x60 }
            guard first > wordEnd, isOpaque, !isParameter else { return wordEnd }
            end = self.end(from: beginning.endIndex, in: range, to: delimiters)
        } else if word.starts(with: "eyJ".utf8), word.count >= 8, end < range.upperBound, isAt(".", end) {
            end = self.end(from: end, in: range) { $0.isWordByte || "+/=.~".utf8.contains($0) }
            guard end - wordEnd > 4 else { return end }
        } else {
            let prefix = word.count < 13 ? nil : Self.prefixes.first { word.starts(with: $0) }
            let rest = word.dropFirst(prefix?.count ?? word.count)
            guard rest.count >= 10, rest.contains(where: \.isDigit) else { return wordEnd }
        }
        secrets.append(Array(bytes[first..<end]))
        hide(first..<end)
        return end
    }
}

/// JSON, also within other text.
extension SecretFinder {
    /// An open object or array.
    private struct Frame {
        let isObject: Bool
        /// The name of the object, or of the array that it is in.
        let name: ArraySlice<UInt8>
        /// The least secrecy of the values in it.
        let secrecy: Redaction.Secrecy
        /// In `{"name": "password", "value": …}`, the secrecy of the value, and the value if it comes first.
        var named = Redaction.Secrecy.nothing
        var value: (token: JSONTokenizer.Token, content: Range<Int>)?
    }

    private mutating func findInJSON(from start: Int) {
        var json = JSONTokenizer(bytes).reading(from: start)
        var (frames, gap) = ([Frame](), start)
        // Of the value that is read next.
        var (name, secrecy) = (bytes[0..<0], Redaction.Secrecy.nothing)
        while true {
            // The line break in a secret does not end it.
            json.endsStringsAtLineBreaks = secrecy == .nothing
            guard let token = json.next() else { break }
            let content = json.content(of: token)
            switch token.kind {
            case .open:
                let isObject = bytes[token.start] == UInt8(ascii: "{")
                frames.append(Frame(isObject: isObject, name: name, secrecy: isObject ? secrecy.inObject : secrecy))
                secrecy = isObject ? .nothing : secrecy
            case .close, .comma:
                if token.kind == .close { _ = frames.popLast() }
                let isElement = frames.last?.isObject == false
                (name, secrecy) =
                    isElement ? (frames[frames.count - 1].name, frames[frames.count - 1].secrecy) : ([], .nothing)
            case .colon: continue
            case .string where json.isName(token):
                findInGap(&gap, token.start, json.position)
                name = text(of: content)
                secrecy = self.secrecy(of: name, in: frames.last)
                if content.count > 12 { findInText(content) }
            case .string, .word:
                if token.kind == .string { findInGap(&gap, token.start, json.position) }
                find(token, content, secrecy)
                if !frames.isEmpty { pair(token, content, name, &frames[frames.count - 1]) }
            }
        }
        findInGap(&gap, bytes.count, bytes.count)
    }

    /// Searches what is between two strings.
    private mutating func findInGap(_ gap: inout Int, _ end: Int, _ next: Int) {
        // Nothing that is hidden is shorter.
        if end - gap > 5 { findInText(gap..<end) }
        gap = next
    }

    private func text(of content: Range<Int>) -> ArraySlice<UInt8> {
        guard bytes[content].contains(UInt8(ascii: "\\")) else { return bytes[content] }
        return JSONString(bytes[content.lowerBound - 1..<content.upperBound]).bytes[...]
    }

    private mutating func secrecy(of name: ArraySlice<UInt8>, in frame: Frame?) -> Redaction.Secrecy {
        guard let frame else { return secrecy(of: name) }
        var secrecy = max(secrecy(of: name), frame.secrecy)
        if name.elements(in: ["value", "Value"]) { secrecy = max(secrecy, frame.named) }
        guard secrecy <= .opaqueText, name.count <= 12, !frame.name.isEmpty else { return secrecy }
        let parent = String(decoding: frame.name, as: UTF8.self)
        return max(secrecy, redaction.secrecy(of: String(decoding: name, as: UTF8.self), in: parent))
    }

    /// Hides a value, or what is secret in it.
    private mutating func find(_ token: JSONTokenizer.Token, _ content: Range<Int>, _ secrecy: Redaction.Secrecy) {
        guard token.kind == .string else {
            if secrecy > .nothing, isSecret(word: bytes[content], secrecy) {
                hide(content, as: "\"\(Redaction.mask)\"")
            }
            return
        }
        let text = text(of: content)
        if secrecy > .nothing, hide(content, Array(text), secrecy) { return }
        guard text.startIndex != content.lowerBound else { return findInText(content) }
        findInside(content, Array(text)) { $0.escapedForJSON }
    }

    /// Whether a number, `true`, `null`, or in invalid JSON any other word is secret.
    private func isSecret(word: ArraySlice<UInt8>, _ secrecy: Redaction.Secrecy) -> Bool {
        if word.elements(in: ["true", "false", "null"]) { return secrecy == .everything }
        let isNumber = word.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) }
        return secrecy >= (isNumber ? .textAndNumbers : .plural)
    }

    /// Hides the value of `{"name": "password", "value": …}`, in any order.
    private mutating func pair(
        _ token: JSONTokenizer.Token, _ content: Range<Int>, _ name: ArraySlice<UInt8>, _ frame: inout Frame
    ) {
        if name.elements(in: ["value", "Value"]) { frame.value = (token, content) }
        guard token.kind == .string, name.elements(in: ["name", "key", "Name", "Key"]) else { return }
        frame.named = secrecy(of: text(of: content))
        guard frame.named > .nothing, let (token, content) = frame.value else { return }
        find(token, content, frame.named)
        frame.value = nil
    }
}

/// Multipart forms.
extension SecretFinder {
    private mutating func findInParts(_ boundary: String) {
        let mark = "\r\n--" + boundary
        // The first boundary may be without a line break before it.
        var start =
            bytes.starts(with: mark.utf8.dropFirst(2))
            ? mark.utf8.count - 2 : bytes.firstRange(of: mark.utf8, in: bytes.indices)?.upperBound ?? bytes.count
        while start < bytes.count {
            let next = bytes.firstRange(of: mark.utf8, in: start..<bytes.count)
            let end = next?.lowerBound ?? bytes.count
            if let head = bytes.firstRange(of: "\r\n\r\n".utf8, in: start..<end) {
                findInPart(String(decoding: bytes[start..<head.lowerBound], as: UTF8.self), head.upperBound..<end)
            }
            start = next?.upperBound ?? bytes.count
        }
    }

    private mutating func findInPart(_ head: String, _ content: Range<Int>) {
        var (name, type) = ("", MediaType.text)
        for line in head.components(separatedBy: "\r\n") {
            let field = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            switch field[0].lowercased() {
            // The parameters are written as those of a media type.
            case "content-disposition" where field.count == 2:
                name = MediaType("a/b;" + field[1].drop { $0 != ";" })?.parameters["name"] ?? name
            case "content-type" where field.count == 2: type = MediaType(String(field[1])) ?? .octetStream
            default: break
            }
        }
        let text = Array(bytes[content])
        if hide(content, text, secrecy(of: Array(name.utf8)[...])) { return }
        let isReadable = ["utf-8", "us-ascii"].contains(type.charset?.lowercased() ?? "utf-8")
        guard isReadable, let format = Self.Format(type, text) else {
            return hide(content, as: Data(text).summary(type))
        }
        let finder = Self(text, format, redaction, depth: depth + 1)
        secrets += finder.secrets
        if !finder.masks.isEmpty { hide(content, as: String(decoding: finder.masked(), as: UTF8.self)) }
    }
}

extension SecretFinder.Format {
    /// The format of a body; `nil` if it is not parsed here.
    ///
    /// Foundation sends a body without a content type as a form.
    init?(_ type: MediaType?, _ bytes: [UInt8]) {
        let isMarkup = bytes.first { !$0.isJSONSpace } == UInt8(ascii: "<")
        switch type {
        case let type? where type.isMultipart:
            guard let boundary = type.parameters["boundary"], 1...200 ~= boundary.utf8.count else { return nil }
            self = .multipart(boundary: boundary)
        case let type? where type.isForm: self = .form
        case let type? where type.isJSON: self = .json
        case _ where isMarkup: return nil
        case nil: self = bytes.isStructure ? .json : bytes.contains(UInt8(ascii: "{")) ? .text : .form
        case let type? where ["text/plain", "text/event-stream"].contains(type.essence): self = .text
        default: return nil
        }
    }
}

extension Redaction.Secrecy {
    /// The least secrecy of the members of an object under a name.
    fileprivate var inObject: Self {
        switch self {
        case .everything, .opaqueText: self
        case .textAndNumbers: .opaqueText
        case .nothing, .plural, .text: .nothing
        }
    }
}

extension [UInt8] {
    /// Whether it begins with an object or an array of JSON.
    var isStructure: Bool { first { !$0.isJSONSpace }.map("{[".utf8.contains) ?? false }
}

extension Data {
    /// What is shown in place of a body that is not.
    func summary(_ type: MediaType?) -> String { "<\(count) bytes\(type.map { " " + $0.essence } ?? "")>" }
}

extension String {
    /// The text of a JSON string, without its quotes.
    var escapedForJSON: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(self)).map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) } ?? ""
    }
}

extension ArraySlice<UInt8> {
    /// Whether it is one of a few texts.
    fileprivate func elements(in texts: [StaticString]) -> Bool {
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
}

extension UInt8 {
    fileprivate var isNameByte: Bool { isAlphanumeric || self >= 0x80 || "_-.[]$%+".utf8.contains(self) }

    fileprivate var isWordByte: Bool { isAlphanumeric || self == UInt8(ascii: "_") || self == UInt8(ascii: "-") }
}
