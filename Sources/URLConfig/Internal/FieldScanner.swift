/// Reads the value of a header field from left to right: tokens, quoted strings, parameters (RFC 9110 §5.6).
///
/// By bytes, and each of them once, whatever a server sends.
struct FieldScanner {
    private var rest: Substring.UTF8View

    init(_ text: some StringProtocol) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Whether that byte comes next.
    func isAt(_ byte: UInt8) -> Bool { rest.first == byte }

    /// Spaces and tabs, which the line breaks of a folded field have become.
    mutating func skipSpace() {
        rest = rest.drop(while: \.isSpace)
    }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard isAt(byte) else { return false }
        rest.removeFirst()
        return true
    }

    /// All before one of the delimiters.
    mutating func skip(to delimiters: UInt8...) { skip(to: delimiters) }

    mutating func skip(to delimiters: [UInt8]) {
        rest = rest.drop { !delimiters.contains($0) }
    }

    mutating func skip(while delimiters: [UInt8]) {
        rest = rest.drop(while: delimiters.contains)
    }

    mutating func token() -> String? {
        let token = rest.prefix(while: \.isTokenByte)
        rest = rest[token.endIndex...]
        return token.isEmpty ? nil : String(Substring(token))
    }

    /// The text before one of the delimiters, without the space around it.
    mutating func text(to delimiters: UInt8...) -> String { text(to: delimiters) }

    mutating func text(to delimiters: [UInt8]) -> String {
        skipSpace()
        var text = rest.prefix { !delimiters.contains($0) }
        rest = rest[text.endIndex...]
        while text.last?.isSpace == true { text.removeLast() }
        return String(Substring(text))
    }

    /// The text between quotes; one that is not closed ends with the field.
    mutating func quotedString() -> String? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            bytes.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// RFC 9110 §5.6.2: `tchar`.
    fileprivate var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
