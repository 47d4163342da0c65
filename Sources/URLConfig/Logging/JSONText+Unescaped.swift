extension JSONText {
    /// A member's name without its quotes and escapes.
    static func unescaped(_ name: ArraySlice<UInt8>) -> String {
        var output: [UInt8] = []
        var rest = name.dropFirst()
        if rest.last == UInt8(ascii: "\"") { rest.removeLast() }
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                output.append(byte)
                continue
            }
            guard escape == UInt8(ascii: "u") else {
                // Of the others, those with a letter stand for control characters, which count for no name.
                if !"bfnrt".utf8.contains(escape) { output.append(escape) }
                continue
            }
            let unit = codeUnit(rest)
            rest = rest.dropFirst(4)
            if let unit, UTF16.isLeadSurrogate(unit), rest.starts(with: "\\u".utf8),
                let trail = codeUnit(rest.dropFirst(2)), UTF16.isTrailSurrogate(trail)
            {
                rest = rest.dropFirst(6)
                output += String(decoding: [unit, trail], as: UTF16.self).utf8
            } else if let unit, let scalar = Unicode.Scalar(unit) {
                output += String(Character(scalar)).utf8
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// What the four digits of an escape stand for.
    private static func codeUnit(_ digits: ArraySlice<UInt8>) -> UInt16? {
        UInt16(String(decoding: digits.prefix(4), as: UTF8.self), radix: 16)
    }
}
