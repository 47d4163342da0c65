/// Writes the bytes of a URL or a form into memory of the right size.
///
/// This is faster than a `String` that grows. A text that does not fit is left out.
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

    mutating func write(_ byte: UInt8) {
        guard count < buffer.count else { return }
        buffer[count] = byte
        count += 1
    }

    mutating func write(_ bytes: [UInt8]) {
        guard bytes.count <= buffer.count - count else { return }
        count = buffer[count...].update(fromContentsOf: bytes)
    }

    /// Writes the text if there is room for three bytes for each of its bytes.
    mutating func write(_ text: String, encoding: PercentEncoding) {
        var text = text
        text.withUTF8 { bytes in
            guard 3 * bytes.count <= buffer.count - count else { return }
            var end = count
            for index in bytes.indices {
                let byte = bytes[index]
                if encoding.allows(byte) || encoding.keepsEscapes && bytes.hasEscape(at: index) {
                    buffer[end] = byte
                    end += 1
                } else {
                    buffer[end] = UInt8(ascii: "%")
                    buffer[end + 1] = Self.hexDigit(byte >> 4)
                    buffer[end + 2] = Self.hexDigit(byte & 0xF)
                    end += 3
                }
            }
            count = end
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
