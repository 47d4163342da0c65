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
    /// Names that come from the document may be secret: they are masked under a hidden name.
    func text(_ redaction: Redaction) -> String {
        guard !isEmpty else { return "the top level" }
        var (text, isHidden) = ("", false)
        for key in self {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                let mirror = Mirror(reflecting: key)
                let isDeclared = mirror.displayStyle == .enum && mirror.children.isEmpty
                let name = isHidden && !isDeclared ? Redaction.mask : key.stringValue.shortened(to: 60)
                text += text.isEmpty ? name : "." + name
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
