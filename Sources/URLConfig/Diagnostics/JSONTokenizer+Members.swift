/// Values, and the members of objects and arrays.
extension JSONTokenizer {
    /// Where the document's value starts, after a byte order mark.
    var root: Int { skippingSpace(from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) }

    func isObject(at index: Int) -> Bool { self[index] == UInt8(ascii: "{") }
    func opens(at index: Int) -> Bool { isObject(at: index) || self[index] == UInt8(ascii: "[") }
    func closes(at index: Int) -> Bool { self[index] == UInt8(ascii: "}") || self[index] == UInt8(ascii: "]") }

    /// Whether the token that was just read is a string before a colon.
    func isName(_ token: Token) -> Bool {
        token.kind == .string && self[skippingSpace(from: position)] == UInt8(ascii: ":")
    }

    /// The place of the token that was just read; of a string without its quotes.
    func content(of token: Token) -> Range<Int> {
        guard token.kind == .string else { return token.start..<position }
        let isClosed = position - token.start > 1 && self[position - 1] == UInt8(ascii: "\"")
        return token.start + 1..<position - (isClosed ? 1 : 0)
    }

    /// The bytes of the value that starts here, or as many as there are.
    func value(at start: Int) -> ArraySlice<UInt8> {
        var tokens = reading(from: start)
        repeat {} while tokens.next() != nil && tokens.depth > 0
        return bytes[start..<tokens.position]
    }

    /// The element or first member that a key names, the first with a similar name, and the end of what was read.
    ///
    /// A similar name differs in case and in what joins its words: `view_count` for `viewCount`.
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

    /// The objects and arrays along a path, as far as it exists; `nil` if it takes too long to find.
    ///
    /// A decoder may convert names: if one does not exist, a similar one is used.
    func frames(along path: [any CodingKey]) -> [Frame]? {
        var frames: [Frame] = []
        // A similar name is known only at the end of its object. Nested ones would take quadratic time.
        var budget = 3 * end + 1000
        for key in path {
            guard let container = frames.isEmpty ? root : frames.last?.value, opens(at: container) else { break }
            let isSearched = !isObject(at: container) || key.stringValue.utf8.count <= Redaction.longestName
            let (exact, similar, position) = isSearched ? member(key, of: container) : (nil, nil, container)
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
