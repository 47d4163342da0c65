/// The bytes that a part of a URL contains unchanged; every other byte is written as `%XX`.
///
/// One bit for each ASCII character, so that a lookup needs no call.
struct PercentEncoding: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    /// Whether a valid `%XX` in the text stays; otherwise its `%` becomes `%25`.
    let keepsEscapes: Bool

    /// RFC 3986 §2.3: the characters that no part of a URL reserves.
    static let unreserved = Self(marks: "-._~")
    /// RFC 3986 §3.3, §3.4: text of a path and its query, their delimiters and escapes included.
    static let pathAndQuery = Self(marks: "-._~!$&'()*+,;=:@/?", keepsEscapes: true)
    /// Text of a path, or of a value in it, that has no query, no escapes and no segments of dots.
    static let plainPath = Self(marks: "-_~!$&'()*+,;=:@/")
    static let plainSegment = Self(marks: "-_~")
    /// RFC 3986 §4.1: path, query and fragment, their delimiters and escapes included.
    static let reference = Self(marks: "-._~!$&'()*+,;=:@/?#", keepsEscapes: true)
    /// WHATWG URL: application/x-www-form-urlencoded, before a space becomes a plus.
    static let form = Self(marks: "*-._ ")

    private init(marks: String, keepsEscapes: Bool = false) {
        self.keepsEscapes = keepsEscapes
        for byte in ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + marks).utf8 {
            if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte - 64) }
        }
    }

    @inline(__always)
    func allows(_ byte: UInt8) -> Bool {
        byte < 128 && (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1
    }
}

extension String {
    /// Whether every byte stays unchanged; it may be `false` for text that is not UTF-8 in memory.
    func needsNoEncoding(_ encoding: PercentEncoding) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy { encoding.allows($0) } } ?? false
    }

    func percentEncoded(_ encoding: PercentEncoding) -> String {
        if needsNoEncoding(encoding) { return self }
        var bytes: [UInt8] = []
        bytes.append(self, encoding: encoding)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension [UInt8] {
    mutating func append(_ text: String, encoding: PercentEncoding) {
        var text = text
        text.withUTF8 { bytes in
            if bytes.allSatisfy({ encoding.allows($0) }) { return append(contentsOf: bytes) }
            // Memory of its own: the array would check its capacity for each byte.
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * bytes.count) { encoded in
                var end = 0
                for (index, byte) in bytes.enumerated() {
                    if encoding.allows(byte) || encoding.keepsEscapes && bytes.hasEscape(at: index) {
                        encoded[end] = byte
                        end += 1
                    } else {
                        encoded[end] = UInt8(ascii: "%")
                        encoded[end + 1] = (byte >> 4).hexDigit
                        encoded[end + 2] = (byte & 0xF).hexDigit
                        end += 3
                    }
                }
                append(contentsOf: encoded[..<end])
            }
        }
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8 { self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "A") + self - 10 }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether a valid `%XX` starts at `index`.
    fileprivate func hasEscape(at index: Int) -> Bool {
        self[index] == UInt8(ascii: "%") && UInt8(hexDigits: self[(index + 1)...].prefix(2)) != nil
    }
}
