extension UInt8 {
    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    var isAlphanumeric: Bool { isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

    /// The byte that two hexadecimal digits stand for, as in `%2F`; `nil` for anything else.
    init?(hexDigits: some Collection<UInt8>) {
        // A sign is no digit.
        guard hexDigits.count == 2, hexDigits.allSatisfy(\.isAlphanumeric) else { return nil }
        self.init(String(decoding: hexDigits, as: UTF8.self), radix: 16)
    }
}

/// Texts that a server chooses, whose bytes are compared.
///
/// To compare or hash strings or characters may take quadratic time, because Swift sorts combining marks before.
extension StringProtocol {
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// The members of a list (RFC 9110 §5.6.1), even empty ones, without the spaces and tabs around them.
    var listMembers: [String] {
        utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { member in
            var rest = member.drop { " \t".utf8.contains($0) }
            while let last = rest.last, " \t".utf8.contains(last) { rest.removeLast() }
            return String(decoding: rest, as: UTF8.self)
        }
    }

    /// Whether another text has the same bytes.
    func hasBytes(of other: (some StringProtocol)?) -> Bool { other.map { utf8.elementsEqual($0.utf8) } ?? false }
}

extension Int64 {
    init?(digits text: some StringProtocol) {
        // Int64 also accepts a sign.
        guard text.utf8.allSatisfy(\.isDigit) else { return nil }
        self.init(text)
    }
}

extension Int {
    /// Such as `512 B` or `1.2 kB` (1,200 bytes).
    var shownAsBytes: String {
        var (value, unit) = (Double(self), "B")
        for larger in ["kB", "MB", "GB"] where value >= 999.5 { (value, unit) = (value / 1000, larger) }
        return unit == "B" ? "\(self) B" : "\((value * 10).rounded() / 10) \(unit)"
    }
}

extension Dictionary where Key == String {
    /// The members in the order of their names.
    ///
    /// Only the names are sorted, because the code that sorts is compiled for each type: 3 kB.
    func sortedByName() -> [Element] { keys.sorted().compactMap { name in self[name].map { (name, $0) } } }
}

extension ArraySlice<UInt8> {
    /// Whether the last three bytes are an escape of a URL, such as `%20`.
    var endsWithEscape: Bool {
        guard count >= 3, self[endIndex - 3] == UInt8(ascii: "%") else { return false }
        return UInt8(hexDigits: suffix(2)) != nil
    }
}

extension [UInt8] {
    /// The first place of a short text: at each place of its first byte, all of it may be compared.
    func firstRange(of text: some Collection<UInt8>, in range: Range<Int>) -> Range<Int>? {
        let text = Array(text)
        guard let first = text.first else { return nil }
        return withUnsafeBufferPointer { bytes -> Range<Int>? in
            guard let base = bytes.baseAddress else { return nil }
            var start = range.lowerBound
            while range.upperBound - start >= text.count,
                let found = memchr(base + start, Int32(first), range.upperBound - start - text.count + 1)
            {
                start = UnsafeRawPointer(found) - UnsafeRawPointer(base)
                if memcmp(found, text, text.count) == 0 { return start..<start + text.count }
                start += 1
            }
            return nil
        }
    }
}
