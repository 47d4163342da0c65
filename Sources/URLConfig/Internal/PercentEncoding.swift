/// Which bytes stand for themselves in a part of a URL; every other byte is written as `%XX`.
///
/// Plain functions over a byte: the compiler turns each into a bit test, where a `Set` or a `CharacterSet` costs a call.
enum Allowed {
    /// RFC 3986 §2.3: the characters that mean themselves everywhere.
    static func unreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    /// RFC 3986 §3.3: what a path may hold, its slashes included.
    static func path(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"):
            true
        default: unreserved(byte)
        }
    }

    /// RFC 3986 §3.4: what a query may hold.
    static func query(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || path(byte)
    }

    /// WHATWG URL, the application/x-www-form-urlencoded percent-encode set, turned round.
    static func form(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "*") || (byte != UInt8(ascii: "~") && unreserved(byte))
    }
}

/// Writes the bytes of a URL or a form once, front to back, into memory of the right size.
///
/// A `String` that grows piece by piece checks, copies and moves each piece; this is a third of the cost of building a request
/// that way. The capacity is the caller's to know: what does not fit is left out, never written past the end.
struct ByteWriter {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    /// Text of at most `capacity` bytes.
    static func text(capacity: Int, _ write: (inout ByteWriter) -> Void) -> String {
        String(unsafeUninitializedCapacity: capacity) { buffer in
            var writer = ByteWriter(buffer: buffer)
            write(&writer)
            return writer.count
        }
    }

    private init(buffer: UnsafeMutableBufferPointer<UInt8>) {
        self.buffer = buffer
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        guard count < buffer.count else { return }
        buffer[count] = byte
        count += 1
    }

    /// Text that is encoded already.
    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write($0) }
    }

    private mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        let bytes = bytes.prefix(buffer.count - count)
        _ = buffer[count...].update(fromContentsOf: bytes)
        count += bytes.count
    }

    /// Text, each byte of its UTF-8 that is not allowed written as `%XX`: at most three bytes for one.
    ///
    /// - Parameters:
    ///   - keepingEscapes: A valid `%XX` in the text stays as it is; otherwise its `%` becomes `%25`.
    ///   - spaceAsPlus: The form rule: a space becomes `+`.
    @inline(__always)
    mutating func write(
        encoding text: String, keepingEscapes: Bool = false, spaceAsPlus: Bool = false, allowed: (UInt8) -> Bool
    ) {
        var text = text
        text.withUTF8 { bytes in
            if bytes.allSatisfy(allowed) { return write(bytes) }
            for index in bytes.indices {
                let byte = bytes[index]
                if allowed(byte) || (keepingEscapes && bytes.hasEscape(at: index)) {
                    write(byte)
                } else if spaceAsPlus && byte == UInt8(ascii: " ") {
                    write(UInt8(ascii: "+"))
                } else {
                    write(UInt8(ascii: "%"))
                    write(Self.hexDigit(byte >> 4))
                    write(Self.hexDigit(byte & 0xF))
                }
            }
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension String {
    @inline(__always)
    func consists(of allowed: (UInt8) -> Bool) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy(allowed) } ?? utf8.allSatisfy(allowed)
    }

    /// This text, percent-encoded but for what is allowed; the same string if there is nothing to encode.
    @inline(__always)
    func percentEncoded(keepingEscapes: Bool = false, allowed: (UInt8) -> Bool) -> String {
        if consists(of: allowed) { return self }
        return ByteWriter.text(capacity: 3 * utf8.count) {
            $0.write(encoding: self, keepingEscapes: keepingEscapes, allowed: allowed)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether a valid `%XX` starts at `index`.
    fileprivate func hasEscape(at index: Int) -> Bool {
        self[index] == UInt8(ascii: "%") && index + 2 < count && self[index + 1].isHexDigit
            && self[index + 2].isHexDigit
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
