/// Reads JSON (RFC 8259) token by token: in one pass, in linear time and without recursion, for any bytes.
///
/// It records the first fault and continues after it. Errors, excerpts and masking use it.
struct JSONTokenizer {
    struct Token {
        enum Kind {
            /// A `word` is a number, `true`, or any other bytes up to the next space or delimiter.
            case open, close, comma, colon, string, word
        }

        let kind: Kind
        let start: Int
        let isExpected: Bool
    }

    /// An open object or array, and its last member or element that was read.
    struct Frame {
        let start: Int
        fileprivate(set) var index = 0
        /// The name with its quotes; `nil` for an element.
        fileprivate(set) var name: Range<Int>?
        /// The start of the value; the end of the name before the value is read, `nil` if there is no member.
        fileprivate(set) var value: Int?
    }

    /// A place, its description, such as `expected ":", found a letter`, and the open objects and arrays.
    typealias Finding = (offset: Int, words: String, frames: [Frame])

    private enum Expectation: String {
        case value = "a value"
        case name = "a name in quotes"
        case colon = "\":\""
        /// A comma or a closing bracket; at the top level, the end.
        case separator
    }

    /// The number of levels that `JSONDecoder` accepts.
    private static let maximumDepth = 512

    let bytes: [UInt8]
    /// Where reading stops.
    var end: Int
    /// Whether a string ends at a line break, so that an odd quote does not hide the rest of the text.
    var endsStringsAtLineBreaks = false
    private var isStrict = false
    /// The end of the last token.
    private(set) var position = 0
    private(set) var depth = 0
    /// The open objects and arrays, outermost first, at most ``maximumDepth``.
    private var frames: [Frame] = []
    private(set) var fault: Finding?
    /// The first number that is not an integer of 64 bits.
    private(set) var oddNumber: Finding?
    /// The first comma before a closing bracket; some decoders allow it, so it is a fault only if there is no other.
    private var trailingComma: Finding?
    private var expectation = Expectation.value

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        end = self.bytes.count
    }

    /// The byte at a place; after the end NUL, which JSON does not contain.
    @inline(__always)
    subscript(index: Int) -> UInt8 { index < end ? bytes[index] : 0 }

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

    func reading(from start: Int) -> Self {
        var tokens = Self(bytes)
        (tokens.end, tokens.position) = (end, start)
        return tokens
    }

    /// Reads up to the first fault, and checks strings, numbers and words.
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
            return Token(kind: .word, start: start, isExpected: true)
        case .open: open()
        case .close: close(isExpected)
        case .comma: comma()
        case .colon:
            position += 1
            expectation = .value
        case .string where expectation == .name:
            string()
            frames[frames.count - 1].name = start..<position
            frames[frames.count - 1].value = position
            expectation = .colon
        case .string, .word:
            if kind == .string { string() } else { word() }
            expectation = .separator
        }
        return kind.map { Token(kind: $0, start: start, isExpected: isExpected) }
    }

    /// The next member of the outermost object or array; `nil` at its end or at a fault.
    mutating func nextMember() -> Frame? {
        while true {
            let isInside = depth == 1
            guard let token = next() else { return nil }
            guard isInside else { continue }
            guard token.isExpected, token.kind != .close else { return nil }
            if token.kind != .colon, frames[0].value == token.start { return frames[0] }
        }
    }

    private var isInObject: Bool { frames.last.map { isObject(at: $0.start) } ?? false }

    private mutating func open() {
        if depth == Self.maximumDepth {
            report("more than \(Self.maximumDepth) levels, the most that JSONDecoder reads,")
        }
        if depth < Self.maximumDepth { frames.append(Frame(start: position)) }
        expectation = isObject(at: position) ? .name : .value
        depth += 1
        position += 1
        if closes(at: skippingSpace(from: position)) { expectation = .separator }
    }

    private mutating func close(_ isExpected: Bool) {
        let isOfObject = self[position] == UInt8(ascii: "}")
        if isExpected, isInObject != isOfObject { reportExpected(isOfObject ? "\"]\"" : "\"}\"") }
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
        } else if let frame = frames.last {
            frames[frames.count - 1] = Frame(start: frame.start, index: frame.index + 1)
            expectation = isObject(at: frame.start) ? .name : .value
        }
    }

    /// Whether a token of a kind, or the end of the text, may come next; reports a fault if not.
    private mutating func isExpected(_ kind: Token.Kind?) -> Bool {
        switch (expectation, kind) {
        case (.value, .open), (.value, .string), (.value, .word), (.name, .string), (.colon, .colon): return true
        case (.separator, .comma) where depth > 0, (.separator, .close) where depth > 0: return true
        case (.separator, nil) where depth == 0: return true
        case (.separator, _) where depth == 0: report("unexpected data after the JSON value")
        case (.separator, _): reportExpected(isInObject ? "\",\" or \"}\"" : "\",\" or \"]\"")
        default: reportExpected(expectation.rawValue)
        }
        return false
    }

    private mutating func string() {
        let start = position
        position += 1
        while position < end, bytes[position] != UInt8(ascii: "\"") {
            if endsStringsAtLineBreaks, bytes[position] == UInt8(ascii: "\n") { return }
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        let isClosed = position < end
        position = isClosed ? position + 1 : end
        if isStrict, let fault = JSONString(bytes[start..<position]).fault { report(fault.words, at: fault.offset) }
        if !isClosed { reportExpected("a quote") }
    }

    private mutating func word() {
        let start = position
        guard isStrict else {
            repeat { position += 1 } while position < end && Token.Kind(bytes[position]) == .word
            return
        }
        if self[start].isDigit || self[start] == UInt8(ascii: "-") { return number() }
        guard let literal = ["true", "false", "null"].first(where: { $0.utf8.first == bytes[start] }) else {
            return reportExpected("a value")
        }
        position += zip(literal.utf8, bytes[start..<end]).prefix { $0 == $1 }.count
        if position < start + literal.utf8.count { reportExpected(literal) }
    }

    /// RFC 8259 §6.
    private mutating func number() {
        let start = position
        _ = skip("-")
        var isNumber = skip("0") ? !self[position].isDigit : skip()
        if isNumber, skip(".") { isNumber = skip() }
        if isNumber, skip("eE") {
            _ = skip("+-")
            isNumber = skip()
        }
        guard isNumber else { return report("a malformed number", at: start) }
        guard position < end || self[end - 1].isDigit else { return reportExpected("a digit") }
        let text = String(decoding: bytes[start..<position].prefix(21), as: UTF8.self)
        if Int64(text) == nil, UInt64(text) == nil { oddNumber = oddNumber ?? finding("not an integer", at: position) }
    }

    /// Skips one byte of a set, or all digits; `false` if nothing was skipped, except at the end of the text.
    private mutating func skip(_ set: String? = nil) -> Bool {
        let start = position
        if let set, set.utf8.contains(self[start]) { position += 1 }
        while set == nil, self[position].isDigit { position += 1 }
        return position > start || position == end
    }

    private mutating func reportExpected(_ what: String) {
        if fault == nil { report("expected \(what), found \(position < end ? bytes[position].jsonName : "the end")") }
    }

    private mutating func report(_ words: String, at offset: Int? = nil) {
        fault = fault ?? finding(words, at: offset ?? position)
    }

    private func finding(_ words: String, at offset: Int) -> Finding { (min(offset, end), words, frames) }
}

extension JSONTokenizer.Token.Kind {
    /// The kind of token that a byte belongs to; `nil` for space.
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

extension UInt8 {
    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

    /// A name for the byte; it does not show a byte that may be part of a secret.
    fileprivate var jsonName: String {
        switch self {
        case UInt8(ascii: "\""): "a quote"
        case UInt8(ascii: "'"): "a single quote"
        case _ where isDigit: "a digit"
        case _ where isAlphanumeric: "a letter"
        case _ where ",:[]{}<".utf8.contains(self): "\"\(Character(Unicode.Scalar(self)))\""
        default: "something else"
        }
    }
}
