/// JSON as text, masked and laid out in one pass over its tokens.
///
/// What is not JSON passes, too, in linear time. `JSONSerialization` would refuse it, and change numbers and the order
/// of members.
struct JSONText {
    private var json: JSONTokenizer
    private let redaction: Redaction
    private let isPretty: Bool
    private var output: [UInt8] = []

    /// The text with hidden values masked.
    ///
    /// - Parameter isPretty: Lays the text out over lines; otherwise everything but hidden values stays byte for byte.
    static func masked(_ text: [UInt8], _ redaction: Redaction, isPretty: Bool) -> [UInt8] {
        var text = JSONText(json: JSONTokenizer(text), redaction: redaction, isPretty: isPretty)
        text.json.endsStringsAtLineBreaks = true
        text.output.reserveCapacity(text.json.end * (isPretty ? 2 : 1))
        while text.appendNext() {}
        return text.output
    }

    private mutating func appendNext() -> Bool {
        space()
        guard let token = json.next() else { return false }
        let source = json.bytes[token.start..<json.position]
        switch token.kind {
        case .open:
            output += source
            if isPretty, json.closes(at: json.skippingSpace(from: json.position)), let token = json.next() {
                output.append(json[token.start])
            } else {
                newLine()
            }
        case .close:
            newLine()
            output += source
        case .comma:
            output += source
            newLine()
        case .string where json[json.skippingSpace(from: json.position)] == UInt8(ascii: ":"): name(source)
        case .string: output += string(source)
        default: output += redaction.masked(Array(source), .bytes) == Array(source) ? source : Self.mask
        }
        return true
    }

    private static let mask = Array("\"\(Redaction.mask)\"".utf8)[...]

    /// A name, the colon after it and a hidden value.
    private mutating func name(_ source: ArraySlice<UInt8>) {
        output += string(source)
        let end = json.position
        _ = json.next()
        output += isPretty ? Array(" : ".utf8)[...] : json.bytes[end..<json.position]
        guard redaction.hides(JSONString(source).text) else { return }
        let space = json.skipSpace()
        if !isPretty { output += json.bytes[space] }
        output += Self.mask
        let depth = json.depth
        repeat {} while json.next() != nil && json.depth > depth
    }

    /// A string, in which there may be something that is hidden.
    private func string(_ source: ArraySlice<UInt8>) -> [UInt8] {
        let isClosed = source.count > 1 && source.last == UInt8(ascii: "\"")
        let text = redaction.masked(Array(source.dropFirst().dropLast(isClosed ? 1 : 0)), .text)
        return source.prefix(1) + text + (isClosed ? source.suffix(1) : [])
    }

    private mutating func space() {
        let space = json.skipSpace()
        if !isPretty {
            output += json.bytes[space]
        } else if !space.isEmpty, json.depth == 0, json.position < json.end, !output.isEmpty, output.last != 0x0A {
            // Between two values there is a comma, but between two documents, as in JSON lines, only space.
            output.append(UInt8(ascii: "\n"))
        }
    }

    private mutating func newLine() {
        guard isPretty else { return }
        output.append(UInt8(ascii: "\n"))
        // Bounded, so that text which only nests deeper and deeper grows by a constant factor.
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * min(json.depth, 16)))
    }
}
