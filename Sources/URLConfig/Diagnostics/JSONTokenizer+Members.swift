/// Values, and the members of objects and arrays.
extension JSONTokenizer {
    /// Whether an object or array opens here.
    func opens(at index: Int) -> Bool { self[index] == UInt8(ascii: "{") || self[index] == UInt8(ascii: "[") }

    /// Whether an object or array closes here.
    func closes(at index: Int) -> Bool { self[index] == UInt8(ascii: "}") || self[index] == UInt8(ascii: "]") }

    /// The bytes of the value that starts here, as far as they go.
    func value(at start: Int) -> ArraySlice<UInt8> {
        var tokens = reading(from: start)
        repeat {} while tokens.next() != nil && tokens.depth > 0
        return bytes[start..<tokens.position]
    }

    /// The next member of the object or array that is read from its bracket on; `nil` at its end or at a fault in it.
    mutating func nextMember() -> Member? {
        while true {
            let isInside = depth == 1
            guard let token = next() else { return nil }
            if isInside, token.isValue { return frames[0].member }
            if isInside, token.kind == .close || !token.isExpected { return nil }
        }
    }

    /// The first member of an object with a name, as `JSONDecoder` reads it, and the first with a similar name.
    ///
    /// A similar name differs in case and in what joins its words: `view_count` for `viewCount`.
    func member(named name: String, in object: Int) -> (exact: Member?, similar: Member?, end: Int) {
        var tokens = reading(from: object)
        var similar: Member?
        let folded = name.utf8.compactMap(\.foldedInName)
        while let member = tokens.nextMember() {
            guard let quoted = member.name else { continue }
            let written = JSONString(bytes[quoted])
            if written.elementsEqual(name.utf8) { return (member, similar, tokens.position) }
            if similar == nil, !folded.isEmpty, written.lazy.compactMap(\.foldedInName).elementsEqual(folded) {
                similar = member
            }
        }
        return (nil, similar, tokens.position)
    }

    /// A name without its quotes and escapes; of a very long one the beginning.
    func name(_ quoted: Range<Int>) -> String {
        JSONString(bytes[quoted.clamped(to: 0..<end)].prefix(Redaction.longestStep)).text
    }

    /// Whether the value of a member is hidden: also if its name is too long to be looked at.
    func hides(_ member: Member, _ redaction: Redaction) -> Bool {
        guard let quoted = member.name else { return false }
        return redaction.isActive && quoted.count > Redaction.longestStep || redaction.hides(name(quoted))
    }
}
