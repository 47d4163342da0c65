/// A string without its quotes and escapes; unpaired surrogates are left out.
struct JSONString {
    static let notUTF8 = "a byte that is not UTF-8"

    private(set) var bytes: [UInt8] = []
    /// The first place that is not valid JSON.
    private(set) var fault: (offset: Int, words: String)?

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// - Parameter quoted: The string with its quotes; the closing one may be missing.
    init(_ quoted: ArraySlice<UInt8>) {
        var index = quoted.startIndex + 1
        while index < quoted.endIndex, quoted[index] != UInt8(ascii: "\"") {
            let (start, byte) = (index, quoted[index])
            var words: String?
            if byte == UInt8(ascii: "\\") {
                let escape = Self.escape(quoted[index...])
                if escape == nil { words = "an invalid escape" }
                if let scalar = escape?.scalar { bytes += String(scalar).utf8 }
                // Of an invalid escape, only the backslash is skipped, or six bytes after `\u`.
                index += escape?.length ?? (quoted[index...].dropFirst().first == UInt8(ascii: "u") ? 6 : 1)
            } else {
                let length = byte < 0x80 ? 1 : Self.character(quoted[index...])
                if byte < 0x20 { words = "a control character in a string" }
                if length == nil { words = Self.notUTF8 }
                index += length ?? 1
                bytes += quoted[start..<index]
            }
            if let words { fault = fault ?? (start, words) }
        }
    }

    /// The number of bytes of the first character, also if the text ends within it; `nil` if it is malformed.
    private static func character(_ text: ArraySlice<UInt8>) -> Int? {
        var parser = UTF8.ForwardParser()
        var rest = text.makeIterator()
        switch parser.parseScalar(from: &rest) {
        case .valid(let character): return character.count
        case .error(let length) where length == text.count && 0xC2...0xF4 ~= text[text.startIndex]: return length
        default: return nil
        }
    }

    /// The length of an escape or of a surrogate pair (RFC 8259 §7) and its scalar; `nil` if it is malformed.
    static func escape(_ text: ArraySlice<UInt8>) -> (length: Int, scalar: Unicode.Scalar?)? {
        guard let letter = text.dropFirst().first else { return (1, nil) }
        guard letter == UInt8(ascii: "u") else {
            let control = zip("bfnrt".utf8, "\u{8}\u{C}\n\r\t".unicodeScalars).first { $0.0 == letter }
            if let control { return (2, control.1) }
            return "\"\\/".utf8.contains(letter) ? (2, Unicode.Scalar(letter)) : nil
        }
        let unit = codeUnit(text)
        let isLead = unit.map(UTF16.isLeadSurrogate) ?? false
        let length = isLead ? 12 : 6
        var units = [unit, isLead ? codeUnit(text.dropFirst(6)) : nil].compactMap { $0 }.makeIterator()
        var decoder = UTF16()
        if case .scalarValue(let scalar) = decoder.decode(&units) { return (length, scalar) }
        return text.count < length && !text.contains(UInt8(ascii: "\"")) ? (text.count, nil) : nil
    }

    /// The code unit of `\uXXXX`.
    private static func codeUnit(_ text: ArraySlice<UInt8>) -> UInt16? {
        let digits = String(decoding: text.dropFirst(2).prefix(4), as: UTF8.self)
        guard text.starts(with: "\\u".utf8), digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit) else { return nil }
        return UInt16(digits, radix: 16)
    }
}
