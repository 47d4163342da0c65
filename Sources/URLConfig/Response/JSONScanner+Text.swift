extension JSONScanner {
    /// A member's name without its quotes and escapes; of a very long one the beginning.
    func name(_ range: Range<Int>) -> String {
        JSONText.unescaped(bytes[range.clamped(to: 0..<end)].prefix(Redaction.longestStep))
    }

    /// Whether the value of a member is hidden: also if the name is too long to be looked at.
    func hides(_ member: Member, _ redaction: Redaction) -> Bool {
        guard let range = member.name else { return false }
        return redaction.isActive && range.count > Redaction.longestStep || redaction.hides(name(range))
    }

    /// The names and indices that lead to a member.
    func step(_ member: Member, index: Int) -> CodingStep {
        member.name.map { CodingStep(name: name($0)) } ?? CodingStep(name: "", index: index)
    }

    /// A member on one line, such as `"email" : null`: what is hidden masked, long texts cut, no more of an object or array
    /// than that it is one.
    func text(_ member: Member, _ redaction: Redaction) -> String {
        let name = member.name.map { shown($0) + (member.value < end ? " : " : "") } ?? ""
        guard member.value < end else { return name }
        return name + (hides(member, redaction) ? "\"\(Redaction.mask)\"" : value(at: member.value, redaction))
    }

    private func value(at start: Int, _ redaction: Redaction) -> String {
        if self[start] == UInt8(ascii: "\"") { return string(start..<endOfValue(from: start), redaction) }
        guard opens(at: start) else { return shown(start..<endOfValue(from: start)) }
        let (open, close) = self[start] == UInt8(ascii: "{") ? ("{", "}") : ("[", "]")
        return open + (closes(at: skippingSpace(from: start + 1)) ? "" : "…") + close
    }

    /// A string, which may well be a URL with a token, or JSON again.
    ///
    /// Of one that is too long to be looked at, the end is not shown: it may be a secret whose name is further to the front.
    private func string(_ range: Range<Int>, _ redaction: Redaction) -> String {
        let text = String(decoding: bytes[range].prefix(1000).dropFirst(), as: UTF8.self)
        let masked = redaction.quote(text)
        if masked == text { return range.count <= 1000 ? shown(range) : "\"" + text.shortened(to: 50) }
        return "\"" + (masked.hasSuffix("\"") ? String(masked.dropLast()) : masked).shortened(to: 70) + "\""
    }

    /// Source text as it is, on one line; of a long one the two ends.
    private func shown(_ range: Range<Int>) -> String {
        guard range.count > 80 else { return Self.text(bytes[range]) }
        return Self.text(bytes[range.lowerBound..<startOfCharacter(at: range.lowerBound + 50)]) + "…"
            + Self.text(bytes[startOfCharacter(at: range.upperBound - 20)..<range.upperBound])
    }

    private func startOfCharacter(at index: Int) -> Int {
        var start = index
        while start > index - 3, self[start] & 0xC0 == 0x80 { start -= 1 }
        return start
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).shortened(to: 80)
    }
}
