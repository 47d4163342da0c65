/// Finds known values in a text, also in base64.
///
/// It takes linear time: values are looked up by their first four bytes. A match is the whole value, or all equal bytes
/// if there are at least 64 or the text is cut after them.
struct SecretMatcher: Sendable {
    /// Shorter values are ignored: they occur in ordinary words.
    static let shortest = 4
    private static let longest = 64

    /// The spellings of the values, by a hash of their first four bytes.
    private var table: [[(bytes: [UInt8], isBase64: Bool)]] = []

    var isEmpty: Bool { table.isEmpty }

    /// - Parameter values: The values, with or without escapes.
    init(_ values: some Sequence<[UInt8]>) {
        for value in values {
            var spellings = [value]
            for marks in ["%", "\\", "&", "%\\&", "%\\&"] {
                let next = spellings.compactMap { $0[...].unescaped(marks)?.bytes }
                spellings += next.filter { !spellings.contains($0) }
            }
            for bytes in spellings {
                add(bytes, isBase64: false)
                // The spelling in base64 depends on the position of the value in a group of three bytes.
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
                // Inside the last match, at most 64 bytes are compared, so that the time stays linear.
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
    /// The byte for comparisons: a form writes a space as `+`, and base64 has two alphabets.
    fileprivate var folded: UInt8 {
        switch self {
        case UInt8(ascii: "+"), UInt8(ascii: "-"): UInt8(ascii: " ")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: self
        }
    }
}
