/// Which bytes stand for themselves in a part of a URL, and how every other byte is written.
///
/// One bit for each ASCII character: a value of two words, where a function over a byte costs a call for each of them.
struct PercentEncoding: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private var allowsNonASCII = false
    /// A valid `%XX` in the text stays as it is; otherwise its `%` becomes `%25`.
    private(set) var keepsEscapes = false
    /// A space becomes `+`, not `%20`.
    private(set) var writesSpaceAsPlus = false

    /// RFC 3986 §2.3: the characters that mean themselves everywhere.
    static let unreserved = Self().allowing("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// RFC 3986 §3.3: text of a path, its slashes and escapes included.
    static let path = unreserved.allowing("!$&'()*+,;=:@/").with { $0.keepsEscapes = true }

    /// RFC 3986 §3.4: text of a query, its delimiters and escapes included.
    static let query = path.allowing("?")

    /// RFC 3986 §4.1: path, query and fragment, their delimiters and escapes included.
    static let reference = query.allowing("#")

    /// WHATWG URL, the application/x-www-form-urlencoded percent-encode set, turned round.
    static let form = unreserved.refusing("~").allowing("*").with { $0.writesSpaceAsPlus = true }

    /// WHATWG HTML, multipart form data: a name between quotes.
    static let quoted = Self(low: .max, high: .max, allowsNonASCII: true).refusing("\"\r\n")

    func allowing(_ characters: String) -> Self {
        with { encoding in
            for byte in characters.utf8 {
                if byte < 64 { encoding.low |= 1 << byte } else { encoding.high |= 1 << (byte - 64) }
            }
        }
    }

    func refusing(_ characters: String) -> Self {
        with { encoding in
            for byte in characters.utf8 {
                if byte < 64 { encoding.low &= ~(1 << byte) } else { encoding.high &= ~(1 << (byte - 64)) }
            }
        }
    }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var encoding = self
        change(&encoding)
        return encoding
    }

    /// Whether a byte stands for itself.
    @inline(__always)
    func allows(_ byte: UInt8) -> Bool {
        guard byte < 128 else { return allowsNonASCII }
        return (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1
    }
}

extension String {
    /// Whether every byte stands for itself; text that is not UTF-8 in memory may say no though it does.
    func needsNoEncoding(_ encoding: PercentEncoding) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy { encoding.allows($0) } } ?? false
    }

    /// This text, percent-encoded but for what stands for itself; the same string if there is nothing to encode.
    func percentEncoded(_ encoding: PercentEncoding) -> String {
        if needsNoEncoding(encoding) { return self }
        return ByteWriter.text(capacity: 3 * utf8.count) { $0.write(self, encoding: encoding) }
    }
}
