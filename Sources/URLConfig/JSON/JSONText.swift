/// Formats JSON with one member or element on each line, in linear time.
///
/// Invalid JSON is accepted. `JSONSerialization` would throw, or change numbers and the order of members.
struct JSONText {
    private var json: JSONTokenizer
    private(set) var output: [UInt8] = []

    init(_ text: [UInt8]) {
        json = JSONTokenizer(text)
        json.endsStringsAtLineBreaks = true
        output.reserveCapacity(2 * text.count)
        while appendNext() {}
    }

    private mutating func appendNext() -> Bool {
        let hasSpace = !json.skipSpace().isEmpty
        // In JSON lines, only space separates two documents.
        if hasSpace, json.depth == 0, json.position < json.end, !output.isEmpty, output.last != 0x0A {
            output.append(UInt8(ascii: "\n"))
        }
        guard let token = json.next() else { return false }
        // Without it, two halves of a word would become one.
        if hasSpace, token.kind == .word || token.kind == .string, let last = output.last,
            !"{[,: \n".utf8.contains(last)
        {
            output.append(UInt8(ascii: " "))
        }
        if token.kind == .close { breakLine() }
        output += json.bytes[token.start..<json.position]
        if token.kind == .open {
            guard json.closes(at: json.skippingSpace(from: json.position)), let close = json.next() else {
                breakLine()
                return true
            }
            output.append(json[close.start])
        } else if token.kind == .comma {
            breakLine()
        } else if json.isName(token) {
            _ = json.next()
            output += " : ".utf8
        }
        return true
    }

    private mutating func breakLine() {
        output.append(UInt8(ascii: "\n"))
        // The indentation is limited, so that deeply nested text grows by a constant factor.
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * min(json.depth, 16)))
    }
}
