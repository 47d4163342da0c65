/// Reads the value of a header field from left to right: tokens, quoted strings, parameters (RFC 9110 §5.6).
///
/// It reads each byte once. Delimiters are ASCII.
struct FieldScanner {
    private var rest: Substring.UTF8View

    /// Takes the same time for any length: some callers make a scanner for each part of a text.
    init(_ text: some StringProtocol) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Whether one of the delimiters comes next.
    func isAt(_ delimiters: String) -> Bool { rest.first.map(delimiters.utf8.contains) ?? false }

    /// Skips one of the delimiters; `false` if none comes next.
    mutating func skip(_ delimiters: String) -> Bool {
        guard isAt(delimiters) else { return false }
        rest.removeFirst()
        return true
    }

    /// Skips spaces and tabs, which have already replaced the line breaks of a folded field.
    mutating func skipSpace() { rest = rest.drop(while: " \t".utf8.contains) }

    mutating func skip(to delimiters: String) {
        rest = rest.drop { !delimiters.utf8.contains($0) }
    }

    mutating func token() -> String? {
        let token = rest.prefix(while: \.isOfToken)
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : String(Substring(token))
    }

    /// The text before one of the delimiters, without the space around it.
    mutating func text(to delimiters: String) -> String {
        skipSpace()
        var text = rest.prefix { !delimiters.utf8.contains($0) }
        rest = rest[text.endIndex...]
        while let last = text.last, " \t".utf8.contains(last) { text.removeLast() }
        return String(Substring(text))
    }

    /// The text between quotes; without a closing quote it ends at the end of the field.
    mutating func quotedString() -> String? {
        guard skip("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            bytes.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// RFC 9110 §5.6.2: `tchar`.
    fileprivate var isOfToken: Bool {
        switch self {
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7A, 0x7C, 0x7E: true
        default: false
        }
    }
}

extension String {
    /// Whether it cannot be the value of a field (RFC 9110 §5.5).
    var hasControlCharacter: Bool { utf8.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F } }
}
