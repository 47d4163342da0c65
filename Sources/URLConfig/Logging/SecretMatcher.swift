/// Finds known values in a text, and within base64.
///
/// It takes time in proportion to the text: a value is known by its first four bytes, and if 64 bytes are the same, or
/// the text breaks off, as much as is the same is found.
struct SecretMatcher: Sendable {
    /// Shorter values are not looked for: too much else is spelled like them.
    static let shortest = 4
    private static let longest = 64

    private var patterns: [(bytes: [UInt8], isBase64: Bool)] = []
    /// The patterns by their first four bytes, and a table that most texts need not look behind.
    private var buckets: [UInt32: [Int]] = [:]
    private var isUsed = [Bool](repeating: false, count: 1 << 12)

    /// - Parameter values: The values as they may be written in a request: they may have escapes.
    init(_ values: some Sequence<[UInt8]>) {
        for value in values {
            var spellings = [value]
            // It may have escapes of one kind or another, or look as if it had.
            for marks in ["%", "\\", "&", "%\\&", "%\\&"] {
                for spelling in spellings {
                    if let next = spelling.unescaped(marks)?.bytes, !spellings.contains(next) { spellings.append(next) }
                }
            }
            for bytes in spellings {
                add(bytes, isBase64: false)
                // Where a value begins within the three bytes that four characters stand for changes its spelling.
                for shift in 0..<3 {
                    let part = [UInt8](repeating: 0, count: shift) + bytes.prefix(Self.longest)
                    let text = Data(part).base64EncodedString().utf8.prefix(part.count * 4 / 3)
                    add(text.dropFirst([0, 2, 3][shift]), isBase64: true)
                }
            }
        }
    }

    private mutating func add(_ bytes: some Sequence<UInt8>, isBase64: Bool) {
        let bytes = bytes.map(\.folded)
        guard bytes.count >= Self.shortest else { return }
        let key = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        buckets[key, default: []].append(patterns.count)
        isUsed[Self.index(key)] = true
        patterns.append((bytes, isBase64))
    }

    private static func index(_ key: UInt32) -> Int { Int((key &* 0x9E37_79B1) >> 20) }

    func ranges(in text: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var (key, covered) = (UInt32(0), 0)
        for index in text.indices.prefix(patterns.isEmpty ? 0 : .max) {
            key = key << 8 | UInt32(text[index].folded)
            guard isUsed[Self.index(key)], index >= 3, let bucket = buckets[key] else { continue }
            for (bytes, isBase64) in bucket.map({ patterns[$0] }) {
                var (start, end) = (index - 3, index + 1)
                // Within what is found already, no more is compared than must be.
                let limit = min(bytes.count, start < covered ? Self.longest : .max, text.count - start)
                while end - start < limit, bytes[end - start] == text[end].folded { end += 1 }
                let isCut = [[], Array("…".utf8), Array("...".utf8)].contains { mark in
                    mark.isEmpty ? end == text.count : text[end...].starts(with: mark)
                }
                guard isCut || end - start >= min(bytes.count, Self.longest) else { continue }
                if isBase64, start >= covered {
                    while end < text.count, text[end].isCredentialByte { end += 1 }
                    while start > covered, text[start - 1].isCredentialByte, text[start - 1] != UInt8(ascii: "/") {
                        start -= 1
                    }
                }
                ranges.append(start..<end)
                covered = max(covered, end)
            }
        }
        return ranges
    }
}

extension [UInt8] {
    /// The bytes without one layer of escapes, as in URLs, JSON and HTML, and where each of them was; last the end.
    ///
    /// `nil` if there are no escapes.
    func unescaped(_ marks: String = "%\\&") -> (bytes: [UInt8], starts: [Int])? {
        guard contains(where: marks.utf8.contains) else { return nil }
        var (bytes, starts, index) = ([UInt8](), [Int](), 0)
        while index < count {
            let (decoded, length) = escape(at: index, marks) ?? ([self[index]], 1)
            bytes += decoded
            starts += repeatElement(index, count: decoded.count)
            index += length
        }
        return bytes.count < count ? (bytes, starts + [count]) : nil
    }

    /// What an escape at the beginning stands for, and its length.
    private func escape(at index: Int, _ marks: String) -> ([UInt8], length: Int)? {
        guard marks.utf8.contains(self[index]) else { return nil }
        let text = self[index...].prefix(12)
        let rest = text.dropFirst()
        switch text.first {
        case UInt8(ascii: "%"):
            return rest.count < 2 ? nil : number(rest.prefix(2), 16).map { ([UInt8($0)], 3) }
        case UInt8(ascii: "\\"):
            guard let escape = JSONString.escape(text) else {
                return rest.first == UInt8(ascii: "'") ? ([0x27], 2) : nil
            }
            let control: [UInt8: UInt8] = [UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09]
            let scalar = escape.scalar.map { Array(String($0).utf8) }
            return (scalar ?? rest.first.flatMap { control[$0] }.map { [$0] } ?? [], escape.length)
        case UInt8(ascii: "&"):
            guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return nil }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            let isHex = name.hasPrefix("#x") || name.hasPrefix("#X")
            let code = name.hasPrefix("#") ? number(rest[..<end].dropFirst(isHex ? 2 : 1), isHex ? 16 : 10) : nil
            let named = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
            let decoded = code.flatMap(Unicode.Scalar.init).map { String($0) } ?? named[name]
            return decoded.map { (Array($0.utf8), end + 1 - text.startIndex) }
        default: return nil
        }
    }

    private func number(_ digits: ArraySlice<UInt8>, _ radix: Int) -> UInt32? {
        let text = String(decoding: digits, as: UTF8.self)
        return text.allSatisfy(\.isHexDigit) ? UInt32(text, radix: radix) : nil
    }
}

extension UInt8 {
    /// The byte as it is compared: a form writes a space as `+`, and base64 has two alphabets.
    fileprivate var folded: UInt8 {
        switch self {
        case UInt8(ascii: "+"), UInt8(ascii: "-"): UInt8(ascii: " ")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: self
        }
    }
}
