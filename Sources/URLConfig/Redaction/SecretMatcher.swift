/// Finds known values in a text, also in base64.
///
/// The time is linear, however many values begin alike. A match is the whole value. If at least 64 bytes are equal, or
/// the text is cut after the equal bytes, the match is these bytes.
struct SecretMatcher: Sendable {
    /// Shorter values are ignored: they occur in ordinary words.
    static let shortest = 4
    private static let longest = 64

    /// The spellings of the values, sorted by the hash of their first four bytes, then by their bytes.
    private var spellings: [(hash: Int, bytes: [UInt8], isBase64: Bool)] = []
    /// The spellings with each hash.
    private var table: [Range<Int>] = []

    var isEmpty: Bool { spellings.isEmpty }

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
        guard !isEmpty else { return }
        spellings.sort { $0.hash == $1.hash ? $0.bytes.lexicographicallyPrecedes($1.bytes) : $0.hash < $1.hash }
        table = Array(repeating: 0..<0, count: 1 << 10)
        for (index, spelling) in spellings.enumerated() {
            let start = table[spelling.hash].isEmpty ? index : table[spelling.hash].lowerBound
            table[spelling.hash] = start..<index + 1
        }
    }

    private mutating func add(_ bytes: some Sequence<UInt8>, isBase64: Bool) {
        let bytes = bytes.map(\.folded)
        guard bytes.count >= Self.shortest else { return }
        spellings.append((Self.hash(bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }), bytes, isBase64))
    }

    private static func hash(_ key: UInt32) -> Int { Int((key &* 0x9E37_79B1) >> 22) }

    func ranges(in text: ArraySlice<UInt8>) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var (key, covered) = (UInt32(0), text.startIndex)
        for index in isEmpty ? 0..<0 : text.indices {
            key = key << 8 | UInt32(text[index].folded)
            let (start, candidates) = (index - 3, table[Self.hash(key)])
            // Inside the last match, at most 64 bytes are compared, so that the time stays linear.
            guard start >= text.startIndex, !candidates.isEmpty,
                let (end, isBase64) = match(text[start...], candidates, start < covered ? Self.longest : .max)
            else { continue }
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
        return ranges
    }

    /// The end of the longest match at the start of a text.
    ///
    /// Each byte of the text narrows the sorted candidates down.
    private func match(_ text: ArraySlice<UInt8>, _ candidates: Range<Int>, _ limit: Int) -> (Int, isBase64: Bool)? {
        var (candidates, end, match) = (candidates, text.startIndex, nil as (Int, isBase64: Bool)?)
        while true {
            let depth = end - text.startIndex
            let isLong = depth >= Self.longest || depth >= Self.shortest && text[end...].isCut
            if isLong { match = (end, spellings[candidates.lowerBound].isBase64) }
            while let first = candidates.first, spellings[first].bytes.count == depth {
                if !isLong { match = (end, spellings[first].isBase64) }
                candidates.removeFirst()
            }
            guard depth < limit, end < text.endIndex else { return match }
            let byte = text[end].folded
            guard let first = candidates.first, let last = candidates.last else { return match }
            if spellings[first].bytes[depth] != byte || spellings[last].bytes[depth] != byte {
                let start = candidates.partitioningIndex { spellings[$0].bytes[depth] >= byte }
                let end = candidates.partitioningIndex { spellings[$0].bytes[depth] > byte }
                guard start < end else { return match }
                candidates = start..<end
            }
            end += 1
        }
    }
}

extension Range<Int> {
    /// The first index with a property that all indices after it have, too; the end if there is none.
    fileprivate func partitioningIndex(_ hasProperty: (Int) -> Bool) -> Int {
        var (start, end) = (lowerBound, upperBound)
        while start < end {
            let middle = (start + end) / 2
            if hasProperty(middle) { end = middle } else { start = middle + 1 }
        }
        return start
    }
}

extension ArraySlice<UInt8> {
    /// Whether the text is cut here.
    fileprivate var isCut: Bool { isEmpty || starts(with: "…".utf8) || starts(with: "...".utf8) }
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
