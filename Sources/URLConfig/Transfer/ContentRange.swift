/// The value of `Content-Range` in bytes (RFC 9110 §14.4).
struct ContentRange: Hashable, Sendable {
    /// The offsets of the bytes; `nil` if none of the requested ones exist, as in `bytes */100`.
    let range: Range<Int64>?
    /// The length of the whole representation; `nil` if it is unknown, as in `bytes 0-9/*`.
    let total: Int64?

    /// `nil` for another unit, and for a value that cannot be true.
    init?(_ text: String) {
        var scanner = FieldScanner(text)
        scanner.skipSpace()
        guard scanner.token()?.lowercased() == "bytes", scanner.isAt(" \t") else { return nil }
        let range = scanner.text(to: "/")
        guard scanner.skip("/") else { return nil }
        let total = scanner.text(to: "")
        self.total = Int64(digits: total)
        guard total == "*" || self.total != nil else { return nil }
        if range == "*" {
            self.range = nil
            guard self.total != nil else { return nil }
        } else {
            let bounds = range.split(separator: "-", omittingEmptySubsequences: false)
            guard bounds.count == 2, let first = Int64(digits: bounds[0]), let last = Int64(digits: bounds[1]),
                first <= last, last < self.total ?? .max
            else { return nil }
            self.range = first..<last + 1
        }
    }
}

extension Int64 {
    /// A number of bytes in a header field: only digits (RFC 9110 §8.6).
    init?(digits text: some StringProtocol) {
        // Int64 also accepts a sign.
        guard text.utf8.allSatisfy(\.isDigit) else { return nil }
        self.init(text)
    }
}
