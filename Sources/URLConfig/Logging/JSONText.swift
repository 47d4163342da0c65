/// JSON as text, masked and laid out in one pass over its bytes.
///
/// It works on what is no valid JSON too (cut, hostile, JavaScript, a line of an event stream), in linear time and without
/// recursion, because it is run on whatever a server sends. `JSONSerialization` would refuse such text, and change numbers
/// and the order of members besides.
struct JSONText {
    private let input: [UInt8]
    private let isPretty: Bool
    private let hides: (String) -> Bool
    private let shown: (String) -> String
    private var output: [UInt8] = []
    private var position = 0
    private var depth = 0

    /// The text with the values of hidden members masked.
    ///
    /// - Parameters:
    ///   - isPretty: Lays the text out over lines; otherwise all but hidden values stays byte for byte.
    ///   - hides: Whether the value of a member is hidden.
    ///   - shown: A string that is not hidden, and may yet hold something that is.
    static func masked(
        _ text: String, isPretty: Bool, hides: @escaping (String) -> Bool, shown: @escaping (String) -> String
    ) -> String {
        var json = JSONText(input: Array(text.utf8), isPretty: isPretty, hides: hides, shown: shown)
        json.run()
        return String(decoding: json.output, as: UTF8.self)
    }

    private init(
        input: [UInt8], isPretty: Bool, hides: @escaping (String) -> Bool, shown: @escaping (String) -> String
    ) {
        self.input = input
        self.isPretty = isPretty
        self.hides = hides
        self.shown = shown
        output.reserveCapacity(input.count * (isPretty ? 2 : 1))
    }

    private mutating func run() {
        while position < input.count {
            let byte = input[position]
            switch byte {
            case UInt8(ascii: "\""):
                string()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                position += 1
                output.append(byte)
                depth += 1
                let next = skippingSpace(from: position)
                if isPretty, next < input.count, input[next] == UInt8(ascii: "}") || input[next] == UInt8(ascii: "]") {
                    position = next + 1
                    output.append(input[next])
                    depth -= 1
                } else {
                    newLine()
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                position += 1
                depth = max(0, depth - 1)
                newLine()
                output.append(byte)
            case UInt8(ascii: ","):
                position += 1
                output.append(byte)
                newLine()
            case _ where isPretty && byte.isJSONSpace:
                // The whole of it at once: looking past what follows each single one takes time that grows with the square.
                position = skippingSpace(from: position)
                // Between two values there is a comma, but between two documents, as in JSON lines, only space.
                if depth == 0, !output.isEmpty, position < input.count { endDocument() }
            default:
                position += 1
                output.append(byte)
            }
        }
    }

    private mutating func string() {
        let end = endOfString(from: position)
        let name = input[position..<end]
        position = end
        let colon = skippingSpace(from: end)
        guard colon < input.count, input[colon] == UInt8(ascii: ":") else {
            output += value(name)
            return
        }
        output += name
        if isPretty {
            output += " : ".utf8
        } else {
            output += input[end...colon]
        }
        position = colon + 1
        guard hides(Self.unescaped(name)) else { return }
        let value = skippingSpace(from: position)
        if !isPretty { output += input[position..<value] }
        output += "\"\(Redaction.mask)\"".utf8
        position = endOfValue(from: value)
    }

    /// A string as it is written, unless it holds something that is hidden.
    private func value(_ string: ArraySlice<UInt8>) -> [UInt8] {
        guard string.contains(where: "=@\\".utf8.contains) else { return Array(string) }
        let text = Self.unescaped(string)
        let shown = shown(text)
        guard !shown.utf8.elementsEqual(text.utf8), let quoted = try? Self.encoder.encode(shown) else {
            return Array(string)
        }
        return Array(quoted)
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return encoder
    }()

    /// The position after a string's closing quote, or the end of its line: JSON has no line breaks in strings, and an odd quote
    /// must not swallow what follows.
    private func endOfString(from start: Int, acrossLines: Bool = false) -> Int {
        var index = start + 1
        while index < input.count {
            switch input[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "\""): return index + 1
            case UInt8(ascii: "\n") where !acrossLines: return index
            default: index += 1
            }
        }
        return input.count
    }

    /// The position after a value.
    ///
    /// One that is no JSON, such as words without quotes, ends with its line at the latest.
    private func endOfValue(from start: Int) -> Int {
        var index = start
        var depth = 0
        while index < input.count {
            switch input[index] {
            case UInt8(ascii: "\""): index = endOfString(from: index, acrossLines: true)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return trimmingSpace(from: start, to: index) }
                depth -= 1
                index += 1
            case UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if depth == 0 { return trimmingSpace(from: start, to: index) }
                index += 1
                continue
            default:
                index += 1
                continue
            }
            if depth == 0 { return index }
        }
        return input.count
    }

    private func skippingSpace(from start: Int) -> Int {
        var index = start
        while index < input.count, input[index].isJSONSpace { index += 1 }
        return index
    }

    private func trimmingSpace(from start: Int, to end: Int) -> Int {
        var end = end
        while end > start, input[end - 1].isJSONSpace { end -= 1 }
        return end
    }

    private mutating func newLine() {
        guard isPretty else { return }
        output.append(UInt8(ascii: "\n"))
        // Bounded, so that text which only nests deeper and deeper grows by a constant factor.
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * min(depth, 16)))
    }

    private mutating func endDocument() {
        if output.last != UInt8(ascii: "\n") { output.append(UInt8(ascii: "\n")) }
    }
}
