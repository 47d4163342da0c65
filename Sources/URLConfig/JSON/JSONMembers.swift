/// The name of a member or the index of an element, as the document has it.
struct JSONKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    private(set) var intValue: Int?

    init(stringValue name: String) { stringValue = name }
    init(stringLiteral name: String) { stringValue = name }
    init(intValue index: Int) { (stringValue, intValue) = ("", index) }
}

extension [any CodingKey] {
    /// The path as Swift writes it, such as `users[3].email`; a long path is cut at its start.
    ///
    /// Names that come from the document may be secret: they are masked, and under a hidden name not shown at all.
    func text(_ redaction: Redaction) -> String {
        guard !isEmpty else { return "the top level" }
        var (text, isHidden) = ("", false)
        for key in self {
            // Keys of dictionaries and of enums may also have a number.
            if let index = key.intValue, ["", "Index \(index)"].contains(key.stringValue) {
                text += "[\(index)]"
            } else {
                let mirror = Mirror(reflecting: key)
                let isDeclared = mirror.displayStyle == .enum && mirror.children.isEmpty
                let name = isDeclared ? key.stringValue : isHidden ? Redaction.mask : redaction.quote(key.stringValue)
                let isNumber = key.intValue.map { "\($0)" } == name
                text += isNumber ? "[\(name)]" : (text.isEmpty ? "" : ".") + name.shortened(to: 60)
            }
            isHidden = isHidden || redaction.hides(key)
        }
        guard let start = text.unicodeScalars.index(text.endIndex, offsetBy: -120, limitedBy: text.startIndex) else {
            return text
        }
        return "…" + text[start...].drop { $0 != "." && $0 != "[" }
    }
}

extension Redaction {
    /// Whether the values under a name are hidden; very long names are always hidden, since comparing them takes long.
    func hides(_ key: any CodingKey) -> Bool {
        isActive && key.stringValue.utf8.count > 256 || hides(key.stringValue)
    }
}

/// Reads values and the members of objects and arrays.
extension JSONTokenizer {
    /// Where the document's value starts, after a byte order mark.
    var root: Int { skippingSpace(from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) }

    func isObject(at index: Int) -> Bool { self[index] == UInt8(ascii: "{") }
    func opens(at index: Int) -> Bool { isObject(at: index) || self[index] == UInt8(ascii: "[") }
    func closes(at index: Int) -> Bool { self[index] == UInt8(ascii: "}") || self[index] == UInt8(ascii: "]") }

    /// Whether the last token is a string before a colon.
    func isName(_ token: Token) -> Bool {
        token.kind == .string && self[skippingSpace(from: position)] == UInt8(ascii: ":")
    }

    /// The place of the last token; quotes of a string are left out.
    func content(of token: Token) -> Range<Int> {
        guard token.kind == .string else { return token.start..<position }
        let isClosed = position - token.start > 1 && self[position - 1] == UInt8(ascii: "\"")
        return token.start + 1..<position - (isClosed ? 1 : 0)
    }

    /// The bytes of the value that starts here; they may end early.
    func value(at start: Int) -> ArraySlice<UInt8> {
        var tokens = reading(from: start)
        repeat {} while tokens.next() != nil && tokens.depth > 0
        return bytes[start..<tokens.position]
    }

    /// Finds the first member or element for a key, and the first with a similar name, reading up to `end`.
    ///
    /// A similar name differs in case, underscores and hyphens: `view_count` for `viewCount`.
    func member(_ key: any CodingKey, of container: Int) -> (exact: Frame?, similar: Frame?, end: Int) {
        var tokens = reading(from: container)
        var similar: Frame?
        let name = Array(key.stringValue.utf8)
        let folded = name.compactMap(\.foldedInName)
        while let member = tokens.nextMember() {
            let written = member.name.map { JSONString(bytes[$0]).bytes }
            let isExact = written.map { $0 == name } ?? (member.index == key.intValue)
            if isExact { return (member, similar, tokens.position) }
            if similar == nil, !folded.isEmpty, written?.compactMap(\.foldedInName) == folded { similar = member }
        }
        return (nil, similar, tokens.position)
    }

    /// The objects and arrays along a path, as far as it exists; `nil` if the search takes too long.
    ///
    /// A decoder may convert names: if a name does not exist, a similar one is used.
    func frames(along path: [any CodingKey]) -> [Frame]? {
        var frames: [Frame] = []
        // A similar name is used only after its whole object was read. In nested objects, that takes quadratic time.
        var budget = 3 * end + 1000
        for key in path {
            guard let container = frames.isEmpty ? root : frames.last?.value, opens(at: container) else { break }
            let (exact, similar, position) = member(key, of: container)
            budget -= position - container
            guard budget > 0 else { return nil }
            frames.append(exact ?? similar ?? Frame(start: container))
        }
        return frames
    }

    func path(_ frames: [Frame]) -> [any CodingKey] {
        frames.filter { $0.value != nil }.map { key(of: $0) ?? JSONKey(intValue: $0.index) }
    }

    func hides(_ member: Frame, _ redaction: Redaction) -> Bool { key(of: member).map(redaction.hides) ?? false }

    private func key(of member: Frame) -> JSONKey? {
        member.name.map { JSONKey(stringValue: JSONString(bytes[$0]).text) }
    }
}

extension UInt8 {
    /// The byte in lower case, as names are compared; `nil` for underscores and hyphens.
    fileprivate var foldedInName: UInt8? {
        switch self {
        case UInt8(ascii: "_"), UInt8(ascii: "-"): nil
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): self | 0x20
        default: self
        }
    }
}

/// A string without its quotes and escapes; unpaired surrogates are left out.
struct JSONString {
    static let notUTF8 = "a byte that is not UTF-8"

    private(set) var bytes: [UInt8] = []
    /// The first place that is not valid JSON.
    private(set) var fault: (offset: Int, words: String)?

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// - Parameter quoted: The string with its quotes; the closing one may be missing.
    init(_ quoted: ArraySlice<UInt8>) {
        var index = quoted.startIndex + 1
        while index < quoted.endIndex, quoted[index] != UInt8(ascii: "\"") {
            let (start, byte) = (index, quoted[index])
            var words: String?
            if byte == UInt8(ascii: "\\") {
                let escape = Self.escape(quoted[index...])
                if escape == nil { words = "an invalid escape" }
                if let scalar = escape?.scalar { bytes += String(scalar).utf8 }
                // Of an invalid escape, only the backslash is skipped, or `\u` and its digits: not the next escape.
                let digits = quoted[index...].dropFirst(2).prefix(4).prefix { Character(Unicode.Scalar($0)).isHexDigit }
                let isUnicode = quoted[index...].dropFirst().first == UInt8(ascii: "u")
                index += escape?.length ?? (isUnicode ? 2 + digits.count : 1)
            } else {
                let length = byte < 0x80 ? 1 : Self.character(quoted[index...])
                if byte < 0x20 { words = "a control character in a string" }
                if length == nil { words = Self.notUTF8 }
                index += length ?? 1
                bytes += quoted[start..<index]
            }
            if let words { fault = fault ?? (start, words) }
        }
    }

    /// The number of bytes of the first character, even if the text ends within it; `nil` if it is malformed.
    private static func character(_ text: ArraySlice<UInt8>) -> Int? {
        var parser = UTF8.ForwardParser()
        var rest = text.makeIterator()
        switch parser.parseScalar(from: &rest) {
        case .valid(let character): return character.count
        case .error(let length) where length == text.count && 0xC2...0xF4 ~= text[text.startIndex]: return length
        default: return nil
        }
    }

    /// The length of an escape or of a surrogate pair (RFC 8259 §7) and its scalar; `nil` if it is malformed.
    static func escape(_ text: ArraySlice<UInt8>) -> (length: Int, scalar: Unicode.Scalar?)? {
        guard let letter = text.dropFirst().first else { return (1, nil) }
        guard letter == UInt8(ascii: "u") else {
            let control = zip("bfnrt".utf8, "\u{8}\u{C}\n\r\t".unicodeScalars).first { $0.0 == letter }
            if let control { return (2, control.1) }
            return "\"\\/".utf8.contains(letter) ? (2, Unicode.Scalar(letter)) : nil
        }
        let unit = codeUnit(text)
        let isLead = unit.map(UTF16.isLeadSurrogate) ?? false
        let length = isLead ? 12 : 6
        var units = [unit, isLead ? codeUnit(text.dropFirst(6)) : nil].compactMap { $0 }.makeIterator()
        var decoder = UTF16()
        if case .scalarValue(let scalar) = decoder.decode(&units) { return (length, scalar) }
        return text.count < length && !text.contains(UInt8(ascii: "\"")) ? (text.count, nil) : nil
    }

    /// The code unit of `\uXXXX`.
    private static func codeUnit(_ text: ArraySlice<UInt8>) -> UInt16? {
        let digits = String(decoding: text.dropFirst(2).prefix(4), as: UTF8.self)
        guard text.starts(with: "\\u".utf8), digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit) else { return nil }
        return UInt16(digits, radix: 16)
    }
}
