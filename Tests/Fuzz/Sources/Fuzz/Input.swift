import Foundation

/// What libFuzzer has made, read from left to right.
struct Input {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    /// A number from zero up to a limit, which is not reached.
    mutating func number(below limit: Int) -> Int { Int(rest.popFirst() ?? 0) % limit }

    mutating func element<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    /// The bytes up to 0xFF, which is in no text.
    mutating func part() -> [UInt8] {
        let part = rest.prefix { $0 != 0xFF }
        rest = rest[part.endIndex...].dropFirst()
        return Array(part)
    }

    mutating func text() -> String { String(decoding: part(), as: UTF8.self) }

    /// All bytes that were not read.
    mutating func bytes() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}

extension String {
    /// Whether the bytes are the same; `==` is also true for other characters that look the same.
    func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether it could start another line, field or header.
    var hasBreak: Bool { utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 } }
}
