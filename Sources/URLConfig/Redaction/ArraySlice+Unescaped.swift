extension ArraySlice<UInt8> {
    /// Removes one layer of escapes (URL, JSON, HTML); `nil` if there are none.
    ///
    /// `starts` contains the old index of each byte, and then the end index.
    func unescaped(_ marks: String = "%\\&") -> (bytes: [UInt8], starts: [Int])? {
        let isMark = { (byte: UInt8) in
            // The constants are compared first, which is fast: most bytes are no marks.
            (byte == 0x25 || byte == 0x26 || byte == 0x5C) && marks.utf8.contains(byte)
        }
        guard var index = firstIndex(where: isMark) else { return nil }
        var (bytes, starts) = ([UInt8](self[..<index]), [Int](startIndex..<index))
        while index < endIndex {
            if isMark(self[index]), let (decoded, length) = Self.escape(self[index...].prefix(12)) {
                bytes += decoded
                starts += repeatElement(index, count: decoded.count)
                index += length
            } else {
                bytes.append(self[index])
                starts.append(index)
                index += 1
            }
        }
        return bytes.count < count ? (bytes, starts + [endIndex]) : nil
    }

    /// The bytes of an escape at the beginning, and its length.
    private static func escape(_ text: Self) -> (decoded: [UInt8], length: Int)? {
        let rest = text.dropFirst()
        switch text.first {
        case UInt8(ascii: "%"):
            return UInt8(hexDigits: rest.prefix(2)).map { ([$0], 3) }
        case UInt8(ascii: "\\"):
            guard let escape = JSONString.escape(text) else {
                return rest.first == UInt8(ascii: "'") ? ([0x27], 2) : nil
            }
            return (escape.scalar.map { [UInt8](String($0).utf8) } ?? [], escape.length)
        default:
            guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return nil }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            let named = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"][name]
            let number = name.hasPrefix("#") ? name.dropFirst() : ""
            let isHex = number.first == "x" || number.first == "X"
            let code = UInt32(number.dropFirst(isHex ? 1 : 0), radix: isHex ? 16 : 10)
            let decoded = named ?? code.flatMap(Unicode.Scalar.init).map { String($0) }
            return decoded.map { ([UInt8]($0.utf8), end + 1 - text.startIndex) }
        }
    }
}
