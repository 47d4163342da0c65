/// Writes the bytes of a URL or a form into memory of the right size.
///
/// This is faster than a `String` that grows. Bytes that do not fit are left out.
struct ByteWriter {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    static func text(capacity: Int, _ write: (inout ByteWriter) -> Void) -> String {
        String(unsafeUninitializedCapacity: capacity) { buffer in
            var writer = ByteWriter(buffer: buffer)
            write(&writer)
            return writer.count
        }
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        guard count < buffer.count else { return }
        buffer[count] = byte
        count += 1
    }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard bytes.count <= buffer.count - count else { return }
            count = buffer[count...].update(fromContentsOf: bytes)
        }
    }

    /// Writes at most three bytes for each byte of the text.
    mutating func write(_ text: String, encoding: PercentEncoding) {
        var text = text
        text.withUTF8 { bytes in
            for (index, byte) in bytes.enumerated() {
                if encoding.allows(byte) || encoding.keepsEscapes && bytes.hasEscape(at: index) {
                    write(byte)
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

extension UnsafeBufferPointer<UInt8> {
    /// Whether a valid `%XX` starts at `index`.
    fileprivate func hasEscape(at index: Int) -> Bool {
        self[index] == UInt8(ascii: "%") && index + 2 < count
            && self[(index + 1)...(index + 2)].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
}
