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
        if count < buffer.count { append(byte) }
    }

    /// Text that is encoded already.
    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard let source = bytes.baseAddress, bytes.count <= buffer.count - count else { return }
            buffer.baseAddress?.advanced(by: count).update(from: source, count: bytes.count)
            count += bytes.count
        }
    }

    /// Text, each byte of its UTF-8 that does not stand for itself written as `%XX`: at most three bytes for one.
    mutating func write(_ text: String, encoding: PercentEncoding) {
        var text = text
        text.withUTF8 { bytes in
            guard bytes.count <= (buffer.count - count) / 3 else { return }
            for index in bytes.indices {
                let byte = bytes[index]
                if encoding.allows(byte) || (encoding.keepsEscapes && bytes.hasEscape(at: index)) {
                    append(byte)
                } else if encoding.writesSpaceAsPlus && byte == UInt8(ascii: " ") {
                    append(UInt8(ascii: "+"))
                } else {
                    append(UInt8(ascii: "%"))
                    append(Self.hexDigit(byte >> 4))
                    append(Self.hexDigit(byte & 0xF))
                }
            }
        }
    }

    /// A byte for which there is room.
    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
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
