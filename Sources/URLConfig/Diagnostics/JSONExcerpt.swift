/// A few lines of JSON around a place, one member a line.
///
/// ```
/// users[3] {
///   "id" : 4,
///   "email" : null,  ← here
///   "name" : "Ada"
/// }
/// ```
///
/// Hidden values are masked. Objects and arrays inside it stay closed, so that no value is shown without the
/// names above it.
struct JSONExcerpt {
    /// What of the container is shown, and where the arrow points from.
    enum Mark: Equatable {
        /// The container itself, and its first members.
        case container
        /// The member whose value starts at a place, and its neighbours.
        case member(Int)
        /// The last member, and those before it.
        case last
    }

    let json: JSONTokenizer
    let redaction: Redaction

    /// The lines around the place at which a decoder failed.
    func lines(around error: DecodingError, of count: Int) -> [String] {
        let path = error.context.codingPath.map(CodingStep.init)
        guard let place = JSONPlace(path, in: json, redaction),
            place.member.map({ $0.value < json.end }) ?? (json.end == count)
        else { return ["(the place is not among the first \(json.end.shownAsBytes), which is all that was searched)"] }
        let isFound = path.isEmpty || place.depth == path.count - 1
        if let member = place.member, isFound, !place.isHidden, json.opens(at: member.value) {
            let title = path.isEmpty ? "" : path.text(redaction)
            guard case .keyNotFound(let key, _) = error else {
                return lines(of: member.value, path: title, .container, "here")
            }
            let name = key.stringValue.shortened(to: 60)
            guard let similar = json.member(CodingStep(name: key.stringValue), of: member.value).0 else {
                return lines(of: member.value, path: title, .container, "no \"\(name)\" in here")
            }
            return lines(of: member.value, path: title, .member(similar.value), "not \"\(name)\"")
        }
        guard let container = place.container else {
            return place.member.map { [text($0) + "  ← here"] } ?? []
        }
        let title = place.depth == 0 ? "" : Array(path.prefix(place.depth)).text(redaction)
        if let member = place.member { return lines(of: container, path: title, .member(member.value), "here") }
        let isPastEnd = error.context.isPastEnd
        return lines(of: container, path: title, isPastEnd ? .last : .container, isPastEnd ? "it ends here" : "here")
    }

    /// The lines.
    ///
    /// - Parameters:
    ///   - container: Where the object or array opens.
    ///   - path: What it is called.
    ///   - mark: Where the arrow points from.
    ///   - note: What the arrow says.
    func lines(of container: Int, path: String, _ mark: Mark, _ note: String) -> [String] {
        var tokens = json.reading(from: container)
        var shown: [JSONTokenizer.Member] = []
        var isSkipping = false
        // How many more are shown: known once the mark is reached. Until then the last four are kept.
        var rest = mark == .container ? 6 : nil
        while let member = tokens.nextMember(), rest != 0 {
            if mark == .member(member.value) { rest = 3 }
            if rest == nil, shown.count == 4 {
                shown.removeFirst()
                isSkipping = true
            }
            shown.append(member)
            rest = rest.map { $0 - 1 }
        }
        let isClosed = tokens.depth == 0
        let arrow = "  ← " + note
        let (open, close) = json[container] == UInt8(ascii: "{") ? ("{", "}") : ("[", "]")
        let head = path + (path.isEmpty ? "" : " ") + open
        guard !shown.isEmpty else { return [head + (isClosed ? close : "") + arrow] }
        let marked = mark == .last ? shown.count - 1 : shown.firstIndex { mark == .member($0.value) }
        var lines = [head + (marked == nil ? arrow : "")] + (isSkipping ? ["  …"] : [])
        for (index, member) in shown.enumerated() {
            let hasNext = index < shown.count - 1 || !isClosed && mark != .last
            lines.append("  " + text(member) + (hasNext ? "," : "") + (index == marked ? arrow : ""))
        }
        if isClosed { return lines + [close] }
        return mark == .last ? lines : lines + ["  …", close]
    }

    /// A member on one line, such as `"email" : null`.
    ///
    /// Hidden values are masked, long ones are cut, and of an object or array only the brackets are shown.
    private func text(_ member: JSONTokenizer.Member) -> String {
        let name = member.name.map { shown(json.bytes[$0]) + (member.value < json.end ? " : " : "") } ?? ""
        guard member.value < json.end else { return name }
        return name + (json.hides(member, redaction) ? "\"\(Redaction.mask)\"" : value(at: member.value))
    }

    private func value(at start: Int) -> String {
        let isEmpty = json.closes(at: json.skippingSpace(from: start + 1))
        return switch json[start] {
        case UInt8(ascii: "{"): isEmpty ? "{}" : "{…}"
        case UInt8(ascii: "["): isEmpty ? "[]" : "[…]"
        case UInt8(ascii: "\""): string(json.value(at: start))
        default: shown(json.value(at: start))
        }
    }

    /// A string, which may be a URL with a token, or JSON again.
    ///
    /// The end of a long string is not shown: it may be a secret whose name is further to the front.
    private func string(_ quoted: ArraySlice<UInt8>) -> String {
        let text = String(decoding: quoted.prefix(1000).dropFirst(), as: UTF8.self)
        let masked = redaction.quote(text)
        if masked == text { return quoted.count <= 1000 ? shown(quoted) : "\"" + text.shortened(to: 50) }
        return "\"" + (masked.hasSuffix("\"") ? String(masked.dropLast()) : masked).shortened(to: 70) + "\""
    }

    /// Source text as it is, on one line; of a long one the two ends.
    private func shown(_ source: ArraySlice<UInt8>) -> String {
        let text = { (bytes: ArraySlice<UInt8>) in String(decoding: bytes, as: UTF8.self).shortened(to: 80) }
        guard source.count > 80 else { return text(source) }
        let (start, end) = (startOfCharacter(at: source.startIndex + 50), startOfCharacter(at: source.endIndex - 20))
        return text(source[..<start]) + "…" + text(source[end...])
    }

    private func startOfCharacter(at index: Int) -> Int {
        var start = index
        while start > index - 3, json[start] & 0xC0 == 0x80 { start -= 1 }
        return start
    }
}
