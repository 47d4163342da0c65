extension DataResponse {
    /// The content as text, in the character set that `Content-Type` names, by default UTF-8.
    ///
    /// UTF-8, UTF-16, UTF-32, Latin-1, windows-1251, windows-1252, Shift_JIS and EUC-JP are supported. A byte order
    /// mark is removed; it overrides the named character set (WHATWG Encoding §6).
    ///
    /// - Parameter encoding: The encoding, if `Content-Type` names a wrong one; by default `nil`.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/decoding`` if the content is not text in that character
    ///   set, or the character set is not supported. Empty content is not an error.
    public func text(encoding: String.Encoding? = nil) throws -> String {
        let text = encoding.map { String(data: data, encoding: $0) } ?? data.text(charset: contentType?.charset)
        if let text { return text }
        let name = encoding?.description ?? contentType?.charset?.shortened(to: 40) ?? "utf-8"
        throw RequestError(.decoding, reason: "the content is not text in the character set \(name)", response: self)
    }
}

extension Data {
    /// The text; `nil` if the bytes are not text in that character set, or it is not supported.
    func text(charset: String?) -> String? {
        let marks: KeyValuePairs<[UInt8], String.Encoding> = [
            [0xEF, 0xBB, 0xBF]: .utf8, [0, 0, 0xFE, 0xFF]: .utf32BigEndian, [0xFF, 0xFE, 0, 0]: .utf32LittleEndian,
            [0xFE, 0xFF]: .utf16BigEndian, [0xFF, 0xFE]: .utf16LittleEndian,
        ]
        if let (mark, encoding) = marks.first(where: { starts(with: $0.key) }) {
            return String(data: dropFirst(mark.count), encoding: encoding)
        }
        // The longest supported name has 12 bytes.
        let name = charset ?? "utf-8"
        let encoding: String.Encoding
        switch name.utf8.count <= 12 ? name.lowercased() : "" {
        case "utf-8", "utf8": encoding = .utf8
        case "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252", "cp1252": encoding = .windowsCP1252
        case "windows-1251", "cp1251": encoding = .windowsCP1251
        case "utf-16": encoding = .utf16
        case "utf-16be": encoding = .utf16BigEndian
        case "utf-16le": encoding = .utf16LittleEndian
        case "utf-32": encoding = .utf32
        case "shift_jis", "sjis", "shift-jis": encoding = .shiftJIS
        case "euc-jp": encoding = .japaneseEUC
        default: return nil
        }
        return String(data: self, encoding: encoding) ?? (encoding == .windowsCP1252 ? windowsText : nil)
    }

    /// windows-1252 has no character for five of the bytes; they are read as Latin-1 (WHATWG Encoding).
    private var windowsText: String {
        let scalars = (UInt8.min...UInt8.max).map { byte in
            String(data: Data([byte]), encoding: .windowsCP1252)?.unicodeScalars.first ?? Unicode.Scalar(byte)
        }
        return reduce(into: "") { $0.unicodeScalars.append(scalars[Int($1)]) }
    }
}
