/// Reads JSON (RFC 8259) token by token: in one pass, in linear time and without recursion, whatever the bytes are.
///
/// It remembers the first place that is not JSON (``fault``), but reads on after it. So it also reads what is cut,
/// JavaScript, or a line of an event stream. Errors, excerpts, problem details and masking are built on it.
struct JSONTokenizer {
    struct Token {
        enum Kind {
            case open, close, comma, colon, string
            /// Anything else up to the next space or delimiter: a number, `true`, or what is not JSON.
            case word
        }

        let kind: Kind
        let start: Int
        /// Whether a token of this kind may stand here.
        let isExpected: Bool
        /// Whether it is a value, or the beginning of one.
        let isValue: Bool
    }

    /// A member of an object, or an element of an array.
    struct Member {
        /// The name with its quotes; `nil` for an element.
        var name: Range<Int>?
        /// Where the value starts; the end of the text if there is only a name.
        var value: Int
    }

    /// An object or array that is open.
    struct Frame {
        let start: Int
        let isObject: Bool
        /// The index of the member that was reached last.
        fileprivate(set) var index = 0
        fileprivate var name: Range<Int>?
        fileprivate var value: Int?

        /// The member that was reached last; `nil` before the first, and after a comma.
        var member: Member? {
            isObject ? name.map { Member(name: $0, value: value ?? $0.upperBound) } : value.map { Member(value: $0) }
        }
    }

    /// A place, and what is there.
    struct Finding {
        /// The number of bytes before the place.
        let offset: Int
        /// What is there, such as `expected ":", found a letter`.
        let words: String
        /// What is open at the place, outermost first.
        let frames: [Frame]
    }

    private enum Expectation {
        case value, name, colon
        /// A comma or a closing bracket; at the top level, the end.
        case separator
    }

    /// As deep as `JSONDecoder` goes.
    private static let deepest = 512

    let bytes: [UInt8]
    /// The end of the text; nothing is read from here on.
    var end: Int
    /// Whether a string ends at a line break, which it cannot contain: an odd quote must not swallow what follows.
    var endsStringsAtLineBreaks = false
    /// Whether strings, numbers and words are checked, too.
    private var isStrict = false
    /// The end of the last token.
    private(set) var position = 0
    /// How many objects and arrays are open.
    private(set) var depth = 0
    /// The objects and arrays that are open, outermost first, down to the deepest level.
    private(set) var frames: [Frame] = []
    /// The first place that is not JSON.
    private(set) var fault: Finding?
    /// The first number that is not an integer of 64 bits.
    private(set) var oddNumber: Finding?
    /// The first comma before a closing bracket, a fault only where there is no other: some decoders allow it.
    private var trailingComma: Finding?
    private var expectation = Expectation.value

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        end = self.bytes.count
    }

    /// The byte at a place; NUL, which JSON does not contain, outside the text.
    @inline(__always)
    subscript(index: Int) -> UInt8 { index < end ? bytes[index] : 0 }

    /// Where the document's value starts, after a byte order mark.
    var root: Int { skippingSpace(from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) }

    func skippingSpace(from start: Int) -> Int {
        var index = start
        while self[index].isJSONSpace { index += 1 }
        return index
    }

    /// Goes to the next token, and returns the space before it.
    mutating func skipSpace() -> Range<Int> {
        let start = position
        position = skippingSpace(from: start)
        return start..<position
    }

    /// The same text, read from a place on.
    func reading(from start: Int) -> Self {
        var tokens = Self(bytes)
        (tokens.end, tokens.position) = (end, start)
        return tokens
    }

    /// Checks the whole document, or as much as there is before its first fault.
    mutating func check() {
        (position, isStrict) = (root, true)
        while fault == nil, next() != nil {}
        fault = fault ?? trailingComma
        isStrict = false
    }

    /// The next token; `nil` at the end of the text.
    ///
    /// If the text ends after a name, an empty word stands for the value.
    mutating func next() -> Token? {
        let start = skipSpace().upperBound
        let kind = start < end ? Token.Kind(bytes[start]) : nil
        let isValue = expectation == .value || kind == nil && expectation == .colon
        if isValue, depth > 0 { frames[frames.count - 1].value = start }
        let isExpected = isExpected(kind)
        switch kind {
        case nil:
            guard isValue, frames.last?.name != nil else { return nil }
            expectation = .separator
        case .open: open()
        case .close: close(isExpected)
        case .comma: comma()
        case .colon:
            position += 1
            expectation = .value
        case .string where expectation == .name:
            string()
            frames[frames.count - 1].name = start..<position
            expectation = .colon
        case .string, .word:
            if kind == .string { string() } else { word() }
            expectation = .separator
        }
        let isStart = isValue && (isExpected || kind == nil)
        return Token(kind: kind ?? .word, start: start, isExpected: isExpected, isValue: isStart)
    }

    private mutating func open() {
        if depth == Self.deepest { report("more than \(Self.deepest) levels, the most that JSONDecoder reads,") }
        let isObject = self[position] == UInt8(ascii: "{")
        if depth < Self.deepest { frames.append(Frame(start: position, isObject: isObject)) }
        depth += 1
        position += 1
        expectation = closes(at: skippingSpace(from: position)) ? .separator : isObject ? .name : .value
    }

    private mutating func close(_ isExpected: Bool) {
        let isObject = self[position] == UInt8(ascii: "}")
        if isExpected, frames.last?.isObject != isObject { reportExpected(isObject ? "\"]\"" : "\"}\"") }
        if depth == frames.count { _ = frames.popLast() }
        depth = max(0, depth - 1)
        position += 1
        expectation = .separator
    }

    private mutating func comma() {
        let comma = position
        position += 1
        if closes(at: skippingSpace(from: position)) {
            trailingComma = trailingComma ?? finding("a comma with nothing after it", at: comma)
            expectation = .separator
        } else if depth > 0 {
            let top = frames.count - 1
            frames[top].index += 1
            (frames[top].name, frames[top].value) = (nil, nil)
            expectation = frames[top].isObject ? .name : .value
        }
    }

    /// Whether a token of a kind, or the end of the text, may come next; if not, that is a fault.
    private mutating func isExpected(_ kind: Token.Kind?) -> Bool {
        switch (expectation, kind) {
        case (.value, .open), (.value, .string), (.value, .word), (.name, .string), (.colon, .colon): return true
        case (.separator, .comma) where depth > 0, (.separator, .close) where depth > 0: return true
        case (.separator, nil) where depth == 0: return true
        case (.value, _): reportExpected("a value")
        case (.name, _): reportExpected("a name in quotes")
        case (.colon, _): reportExpected("\":\"")
        case (.separator, _) where depth == 0: report("there is more after the end of the document")
        case (.separator, _): reportExpected(frames.last?.isObject == true ? "\",\" or \"}\"" : "\",\" or \"]\"")
        }
        return false
    }

    private mutating func string() {
        position += 1
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                let length = isStrict ? JSONEscape(bytes[position..<end])?.length : 2
                if length == nil { report("an escape that is none") }
                position += length ?? 2
            case UInt8(ascii: "\n") where endsStringsAtLineBreaks: return
            case 0..<0x20 where isStrict: return report("a control character in a string")
            case 0x80... where isStrict:
                guard let length = UTF8.lengthOfCharacter(bytes[position..<end]) else { return report(Self.notUTF8) }
                position += length
            default: position += 1
            }
        }
        position = end
        reportExpected("a quote")
    }

    /// What is wrong where the text is not in UTF-8.
    static let notUTF8 = "a byte that is no UTF-8"

    private mutating func word() {
        let start = position
        repeat { position += 1 } while position < end && Token.Kind(bytes[position]) == .word
        guard isStrict else { return }
        position = start
        if self[start].isDigit || bytes[start] == UInt8(ascii: "-") { return number() }
        guard let literal = ["true", "false", "null"].first(where: { $0.utf8.first == bytes[start] }) else {
            return reportExpected("a value")
        }
        for byte in literal.utf8 {
            guard self[position] == byte else { return reportExpected(literal) }
            position += 1
        }
    }

    /// RFC 8259 §6.
    private mutating func number() {
        let start = position
        _ = skip("-")
        var isNumber = skip("0") ? !self[position].isDigit : digits()
        if isNumber, skip(".") { isNumber = digits() }
        if isNumber, skip("eE") {
            _ = skip("+-")
            isNumber = digits()
        }
        guard isNumber else { return report("a number that is none", at: start) }
        guard position < end || self[end - 1].isDigit else { return reportExpected("a digit") }
        let text = String(decoding: bytes[start..<position].prefix(21), as: UTF8.self)
        if Int64(text) == nil, UInt64(text) == nil { oddNumber = oddNumber ?? finding("no integer", at: position) }
    }

    /// Whether there are digits, or the text ends before them.
    private mutating func digits() -> Bool {
        let start = position
        while self[position].isDigit { position += 1 }
        return position > start || position == end
    }

    private mutating func skip(_ bytes: String) -> Bool {
        guard bytes.utf8.contains(self[position]) else { return false }
        position += 1
        return true
    }

    private mutating func reportExpected(_ what: String) {
        if fault == nil { report("expected \(what), found \(position < end ? bytes[position].jsonName : "the end")") }
    }

    private mutating func report(_ words: String, at offset: Int? = nil) {
        fault = fault ?? finding(words, at: offset ?? position)
    }

    private func finding(_ words: String, at offset: Int) -> Finding {
        Finding(offset: min(offset, end), words: words, frames: frames)
    }
}

extension JSONTokenizer.Token.Kind {
    /// The kind of token that starts with a byte, or contains it; `nil` for space.
    fileprivate init?(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): self = .open
        case UInt8(ascii: "}"), UInt8(ascii: "]"): self = .close
        case UInt8(ascii: ","): self = .comma
        case UInt8(ascii: ":"): self = .colon
        case UInt8(ascii: "\""): self = .string
        case _ where byte.isJSONSpace: return nil
        default: self = .word
        }
    }
}
