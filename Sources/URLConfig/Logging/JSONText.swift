/// JSON as text, masked and laid out in one pass over its tokens.
///
/// It also works on what is not valid JSON, and in linear time, since it is run on whatever a server sends.
/// `JSONSerialization` would refuse such text, and change numbers and the order of members.
struct JSONText {
    private var json: JSONTokenizer
    private let isPretty: Bool
    private let hides: (String) -> Bool
    private let shown: (String) -> String
    private var output: [UInt8] = []

    /// The text with the values of hidden members masked.
    ///
    /// - Parameters:
    ///   - isPretty: Lays the text out over lines; otherwise everything but hidden values stays byte for byte.
    ///   - hides: Whether the value of a member is hidden.
    ///   - shown: Masks what is hidden in a string that is shown.
    static func masked(
        _ text: String, isPretty: Bool, hides: @escaping (String) -> Bool, shown: @escaping (String) -> String
    ) -> String {
        var text = JSONText(json: JSONTokenizer(Array(text.utf8)), isPretty: isPretty, hides: hides, shown: shown)
        text.json.endsStringsAtLineBreaks = true
        text.output.reserveCapacity(text.json.end * (isPretty ? 2 : 1))
        text.run()
        return String(decoding: text.output, as: UTF8.self)
    }

    private mutating func run() {
        while true {
            space()
            guard let token = json.next() else { return }
            let source = json.bytes[token.start..<json.position]
            if token.kind == .close { newLine() }
            if token.kind == .string { string(source) } else { output += source }
            if token.kind == .open { open() }
            if token.kind == .comma { newLine() }
        }
    }

    private mutating func space() {
        let space = json.skipSpace()
        guard !space.isEmpty else { return }
        if !isPretty {
            output += json.bytes[space]
        } else if json.depth == 0, json.position < json.end, !output.isEmpty,
            output.last != UInt8(ascii: "\n")
        {
            // Between two values there is a comma, but between two documents, as in JSON lines, only space.
            output.append(UInt8(ascii: "\n"))
        }
    }

    /// What follows an opening bracket: a line, or the bracket that closes it.
    private mutating func open() {
        guard isPretty, json.closes(at: json.skippingSpace(from: json.position)), let token = json.next() else {
            return newLine()
        }
        output.append(json[token.start])
    }

    private mutating func newLine() {
        guard isPretty else { return }
        output.append(UInt8(ascii: "\n"))
        // Bounded, so that text which only nests deeper and deeper grows by a constant factor.
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * min(json.depth, 16)))
    }

    /// A string; if it is a name, the colon after it and a hidden value, too.
    private mutating func string(_ source: ArraySlice<UInt8>) {
        guard json[json.skippingSpace(from: json.position)] == UInt8(ascii: ":") else {
            output += value(source)
            return
        }
        output += source
        let end = json.position
        _ = json.next()
        output += isPretty ? Array(" : ".utf8)[...] : json.bytes[end..<json.position]
        guard hides(JSONString(source).text) else { return }
        let space = json.skipSpace()
        if !isPretty { output += json.bytes[space] }
        output += "\"\(Redaction.mask)\"".utf8
        skipHidden()
    }

    /// A string as it is written, unless it contains something that is hidden.
    private func value(_ source: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard source.contains(where: "=@\\".utf8.contains) else { return source }
        let text = JSONString(source).text
        let shown = shown(text)
        guard !shown.utf8.elementsEqual(text.utf8) else { return source }
        return (try? Self.encoder.encode(shown)).map { Array($0)[...] } ?? source
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return encoder
    }()

    /// Skips a hidden value.
    ///
    /// One that is not JSON, such as words without quotes, ends with its line at the latest.
    private mutating func skipHidden() {
        json.endsStringsAtLineBreaks = false
        defer { json.endsStringsAtLineBreaks = true }
        let (start, depth) = (json.position, json.depth)
        while true {
            let next = json.skippingSpace(from: json.position)
            if json.depth == depth {
                let space = json.bytes[json.position..<next]
                let isNewLine = json.position > start && space.contains { "\r\n".utf8.contains($0) }
                if isNewLine || json[next] == UInt8(ascii: ",") || json.closes(at: next) { return }
            }
            guard let token = json.next() else { return }
            if json.depth == depth, token.kind == .string || token.kind == .close { return }
        }
    }
}
