/// The bytes of a string without its quotes and escapes, whatever is in it.
///
/// Escapes such as `\n` are left out, as is half a surrogate pair: they do not matter in a name.
struct JSONString: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>
    private var character = Unicode.UTF8.EncodedScalar().makeIterator()

    /// - Parameter quoted: The string with its quotes, of which the closing one may be missing.
    init(_ quoted: ArraySlice<UInt8>) {
        rest = quoted.dropFirst()
    }

    var text: String { String(decoding: Array(self), as: UTF8.self) }

    mutating func next() -> UInt8? {
        while true {
            if let byte = character.next() { return byte }
            guard let byte = rest.first, byte != UInt8(ascii: "\"") else { return nil }
            guard byte == UInt8(ascii: "\\") else { return rest.popFirst() }
            let escape = JSONEscape(rest)
            if let encoded = escape?.scalar.flatMap(UTF8.encode) { character = encoded.makeIterator() }
            // Of a malformed one only the backslash goes, or all of a code unit.
            let isCodeUnit = rest.dropFirst().first == UInt8(ascii: "u")
            rest = rest.dropFirst(escape?.length ?? (isCodeUnit ? 6 : 1))
        }
    }
}

/// An escape in a string (RFC 8259 §7), both halves of a surrogate pair together.
struct JSONEscape {
    /// The number of bytes, as far as the text goes.
    let length: Int
    /// What it stands for; `nil` for a control character with a letter of its own, and if it is cut.
    var scalar: Unicode.Scalar?

    /// - Parameter text: The text from the backslash on.
    init?(_ text: ArraySlice<UInt8>) {
        let letter = text.dropFirst().first
        guard letter == UInt8(ascii: "u") else {
            guard letter.map("\"\\/bfnrt".utf8.contains) ?? true else { return nil }
            length = min(2, text.count)
            scalar = letter.flatMap { "\"\\/".utf8.contains($0) ? Unicode.Scalar($0) : nil }
            return
        }
        let unit = Self.codeUnit(text)
        if let unit, let scalar = Unicode.Scalar(unit) {
            (length, self.scalar) = (6, scalar)
            return
        }
        let isLead = unit.map(UTF16.isLeadSurrogate) ?? false
        let trail = isLead ? Self.codeUnit(text.dropFirst(6)) : nil
        if let unit, let trail, UTF16.isTrailSurrogate(trail) {
            length = 12
            scalar = Unicode.Scalar(0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(trail & 0x3FF)))
        } else {
            let isCut = (unit == nil || isLead && trail == nil) && text.count < (isLead ? 12 : 6)
            guard isCut, !text.contains(UInt8(ascii: "\"")) else { return nil }
            length = text.count
        }
    }

    /// What `\uXXXX` stands for.
    private static func codeUnit(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard text.count >= 6, text.starts(with: "\\u".utf8) else { return nil }
        var unit: UInt16 = 0
        for byte in text.dropFirst(2).prefix(4) {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}

extension UTF8 {
    /// The number of bytes of the first character, as far as the text goes; `nil` if it is malformed.
    static func lengthOfCharacter(_ text: ArraySlice<UInt8>) -> Int? {
        var parser = ForwardParser()
        var rest = text.prefix(4).makeIterator()
        switch parser.parseScalar(from: &rest) {
        case .valid(let character): return character.count
        case .error(let length) where length == text.count && 0xC2...0xF4 ~= text[text.startIndex]: return length
        default: return nil
        }
    }
}
