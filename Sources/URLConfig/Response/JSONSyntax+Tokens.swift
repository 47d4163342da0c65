/// Strings, numbers and words: each reads one from `position` on.
extension JSONSyntax {
    mutating func string() throws(Finding) {
        position += 1
        while position < scanner.end {
            switch scanner[position] {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                guard let length = scanner.lengthOfEscape(at: position) else { throw finding("an escape that is none") }
                position += length
            case 0..<0x20: throw finding("a control character in a string")
            case 0x80...:
                guard let length = scanner.lengthOfCharacter(at: position) else { throw finding(Self.encoding) }
                position += length
            default: position += 1
            }
        }
        throw expected("a quote")
    }

    mutating func number() throws(Finding) {
        let start = position
        guard let end = scanner.endOfNumber(from: start) else { throw finding("a number that is none") }
        position = end
        // A text that ends in the middle of a number.
        guard end < scanner.end || scanner.isDigit(at: end - 1) else { throw expected("a digit") }
        if oddNumber == nil, !scanner.isInteger(start..<end) { oddNumber = finding("no integer") }
    }

    mutating func literal(_ text: String) throws(Finding) {
        for byte in text.utf8 {
            guard scanner[position] == byte else { throw expected(text) }
            position += 1
        }
    }
}
