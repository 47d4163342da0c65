/// Finds known values in a text, and within base64.
///
/// It takes time in proportion to the text: a value is known by its first four bytes, and if 64 bytes are the same, or
/// the text breaks off, as much as is the same is found.
struct SecretMatcher: Sendable {
    /// Shorter values are not looked for: too much else is spelled like them.
    static let shortest = 4
    private static let longest = 64

    /// Spellings of the values, by a hash of their first four bytes.
    private var table: [[(bytes: [UInt8], isBase64: Bool)]] = []

    var isEmpty: Bool { table.isEmpty }

    /// - Parameter values: The values as they may be written in a request: they may have escapes.
    init(_ values: some Sequence<[UInt8]>) {
        for value in values {
            var spellings = [value]
            // It may have escapes of one kind or another, or look as if it had.
            for marks in ["%", "\\", "&", "%\\&", "%\\&"] {
                for spelling in spellings {
                    if let next = spelling[...].unescaped(marks)?.bytes, !spellings.contains(next) {
                        spellings.append(next)
                    }
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
        if isEmpty { table = Array(repeating: [], count: 1 << 10) }
        table[Self.index(bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })].append((bytes, isBase64))
    }

    private static func index(_ key: UInt32) -> Int { Int((key &* 0x9E37_79B1) >> 22) }

    func ranges(in text: ArraySlice<UInt8>) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var (key, covered) = (UInt32(0), text.startIndex)
        for index in isEmpty ? 0..<0 : text.indices {
            key = key << 8 | UInt32(text[index].folded)
            let start = index - 3
            guard start >= text.startIndex else { continue }
            for (bytes, isBase64) in table[Self.index(key)] {
                // Within what is found already, no more is compared than must be.
                let limit = min(bytes.count, start < covered ? Self.longest : .max, text.endIndex - start)
                var end = start
                while end - start < limit, bytes[end - start] == text[end].folded { end += 1 }
                guard end - start >= Self.shortest else { continue }
                let isCut = { end == text.endIndex || ["…", "..."].contains { text[end...].starts(with: $0.utf8) } }
                guard end - start >= min(bytes.count, Self.longest) || isCut() else { continue }
                var found = start..<end
                if isBase64, start >= covered {
                    let before = text[covered..<start].reversed().prefix {
                        $0.isCredentialByte && $0 != UInt8(ascii: "/")
                    }
                    found = start - before.count..<end + text[end...].prefix(while: \.isCredentialByte).count
                }
                ranges.append(found)
                covered = max(covered, found.upperBound)
            }
        }
        return ranges
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
