/// Shows a few lines of JSON around a place: the object or array there, one member on each line, and an arrow.
///
/// Objects and arrays inside it are shown as `{…}` and `[…]`, so no value is shown without the names above it.
struct JSONExcerpt {
    let json: JSONTokenizer
    let redaction: Redaction
    /// Where a value is hidden because of something else than its own name, such as `{"name": "password", "value": …}`.
    private let hidden: Set<Int>

    init(json: JSONTokenizer, redaction: Redaction) {
        (self.json, self.redaction) = (json, redaction)
        let masks = redaction.isActive ? SecretFinder(json.bytes, .json, redaction).masks : []
        let whole = [Redaction.mask, "\"\(Redaction.mask)\""].map { Array($0.utf8) }
        hidden = Set(masks.filter { whole.contains($0.text) }.map(\.range.lowerBound))
    }

    /// Whether the value of a member is hidden.
    func hides(_ member: JSONTokenizer.Frame) -> Bool {
        if json.hides(member, redaction) { return true }
        guard let value = member.value else { return false }
        return hidden.contains(value) || json[value] == UInt8(ascii: "\"") && hidden.contains(value + 1)
    }

    /// Whether the value at the end of a path, or one around it, is hidden; also if it was not found.
    func hidesValue(at path: [any CodingKey]) -> Bool {
        json.frames(along: path)?.contains { hides($0) || $0.value.map { $0 >= json.end } ?? true } ?? true
    }

    func lines(around error: DecodingError, of count: Int) -> [String] {
        let path = error.path
        let tooFar = "(the place was not found in the first \(json.end.shownAsBytes))"
        guard var frames = json.frames(along: path).map(visible) else { return [tooFar] }
        let value = frames.isEmpty ? json.root : frames.last?.value
        let isFound = frames.count == path.count
        if isFound, case .keyNotFound(let key, _) = error {
            let name = "\"\(key.stringValue.shortened(to: 60))\""
            return lines(frames, path, value == nil ? "no \(name) here" : "not \(name)")
        }
        guard value.map({ $0 < json.end }) ?? (json.end == count) else { return [tooFar] }
        if isFound, let value, json.opens(at: value), !(frames.last.map(hides) ?? false) {
            frames.append(.init(start: value))
        } else if frames.isEmpty {
            return [self.value(at: json.root) + "  ← here"]
        }
        let isPastEnd = value == nil && error.context.isPastEnd
        return lines(frames, path, isPastEnd ? "it ends here" : "here", isEnd: isPastEnd)
    }

    /// The lines of the innermost frame, with an arrow to its member, or to the last member if `isEnd`.
    func lines(
        _ frames: [JSONTokenizer.Frame], _ path: [any CodingKey], _ note: String, isEnd: Bool = false
    ) -> [String] {
        guard let frame = frames.last else { return [] }
        var tokens = json.reading(from: frame.start)
        var shown: [JSONTokenizer.Frame] = []
        // The number of members still to be shown; until the place is reached, it is `nil` and the last four are kept.
        var rest = frame.value == nil && !isEnd ? 6 : nil
        while let member = tokens.nextMember(), rest != 0 {
            if member.value == frame.value, !isEnd { rest = 3 }
            if rest == nil, shown.count == 4 { shown.removeFirst() }
            shown.append(member)
            rest = rest.map { $0 - 1 }
        }
        let isClosed = tokens.depth == 0
        let arrow = "  ← " + note
        let (open, close) = brackets(at: frame.start)
        let head = (frames.count == 1 ? "" : Array(path.prefix(frames.count - 1)).text(redaction) + " ") + open
        guard let first = shown.first else { return [head + (isClosed ? close : "") + arrow] }
        let marked = isEnd ? shown.count - 1 : shown.firstIndex { $0.value == frame.value }
        var lines = [head + (marked == nil ? arrow : "")] + (first.index > 0 ? ["  …"] : [])
        for (index, member) in shown.enumerated() {
            let hasNext = index < shown.count - 1 || !isClosed && !isEnd
            lines.append("  " + text(member) + (hasNext ? "," : "") + (index == marked ? arrow : ""))
        }
        if isClosed { return lines + [close] }
        return isEnd ? lines : lines + ["  …", close]
    }

    /// The frames down to the first hidden value.
    func visible(_ frames: [JSONTokenizer.Frame]) -> [JSONTokenizer.Frame] {
        let hidden = frames.firstIndex(where: hides)
        return hidden.map { Array(frames[...$0]) } ?? frames
    }

    /// A member on one line, such as `"email" : null`.
    private func text(_ member: JSONTokenizer.Frame) -> String {
        let name = member.name.map { name in
            let text = String(decoding: json.bytes[name].prefix(1000), as: UTF8.self)
            return redaction.masked(text, as: .json).shortened(to: 60)
        }
        guard let start = member.value, start < json.end else { return name ?? "" }
        let value = hides(member) ? "\"\(Redaction.mask)\"" : value(at: start)
        return name.map { $0 + " : " + value } ?? value
    }

    /// A value on one line; a long value is cut.
    private func value(at start: Int) -> String {
        if json.opens(at: start) {
            let (open, close) = brackets(at: start)
            return open + (json.closes(at: json.skippingSpace(from: start + 1)) ? "" : "…") + close
        }
        let source = json.value(at: start).prefix(1000)
        let text = String(decoding: source, as: UTF8.self)
        guard json[start] == UInt8(ascii: "\"") else { return text.shortened(to: 60) }
        // A string may contain secrets, such as a URL with a token, or JSON.
        let content = String(text.unicodeScalars.dropFirst())
        let masked = String(redaction.masked(text, as: .json).unicodeScalars.dropFirst())
        let isClosed = masked == content || masked.utf8.last == UInt8(ascii: "\"")
        return "\"" + masked.shortened(to: 60) + (isClosed ? "" : "\"")
    }

    private func brackets(at start: Int) -> (String, String) { json.isObject(at: start) ? ("{", "}") : ("[", "]") }
}
