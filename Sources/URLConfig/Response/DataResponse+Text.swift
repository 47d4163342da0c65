extension DataResponse {
    /// The content as text, in the character set that `Content-Type` names; UTF-8 if it names none.
    ///
    /// A byte order mark is dropped, and overrides the named character set (WHATWG Encoding §6).
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/decoding`` if the content is not text in that character
    ///   set, or the character set is unknown. An empty content is not an error.
    public func text() throws -> String {
        let charset = contentType?.parameters["charset"]
        return try text(data.text(charset: charset), "the character set \(charset?.shortened(to: 40) ?? "utf-8")")
    }

    /// The content as text, in an encoding that overrides the one of `Content-Type`; throws as ``text()``.
    ///
    /// - Parameter encoding: The encoding.
    public func text(encoding: String.Encoding) throws -> String {
        try text(String(data: data, encoding: encoding), "the encoding \(encoding)")
    }

    private func text(_ text: String?, _ encoding: String) throws -> String {
        if let text { return text }
        throw RequestError(
            .decoding, reason: "the content is not text in \(encoding)", response: self)
    }
}

extension Data {
    /// The text; `nil` if the bytes are not text in that character set, or it is unknown.
    func text(charset: String?) -> String? {
        let marks: KeyValuePairs<[UInt8], String.Encoding> = [
            [0xEF, 0xBB, 0xBF]: .utf8, [0, 0, 0xFE, 0xFF]: .utf32BigEndian, [0xFF, 0xFE, 0, 0]: .utf32LittleEndian,
            [0xFE, 0xFF]: .utf16BigEndian, [0xFF, 0xFE]: .utf16LittleEndian,
        ]
        if let (mark, encoding) = marks.first(where: { starts(with: $0.key) }) {
            return String(data: dropFirst(mark.count), encoding: encoding)
        }
        guard let encoding = String.Encoding(charset: charset ?? "utf-8") else { return nil }
        return String(data: self, encoding: encoding) ?? (encoding == .windowsCP1252 ? windowsText : nil)
    }

    /// Five bytes have no character in windows-1252; WHATWG reads only those as Latin-1.
    private var windowsText: String {
        let scalars = (UInt8.min...UInt8.max).map { byte in
            String(data: Data([byte]), encoding: .windowsCP1252)?.unicodeScalars.first ?? Unicode.Scalar(byte)
        }
        return reduce(into: "") { $0.unicodeScalars.append(scalars[Int($1)]) }
    }
}

extension String.Encoding {
    /// The encoding that a `charset` parameter names (IANA character sets, WHATWG Encoding §4.2).
    fileprivate init?(charset: String) {
        // The longest that is known has 12 letters.
        switch charset.utf8.count <= 12 ? charset.lowercased() : "" {
        case "utf-8", "utf8": self = .utf8
        case "us-ascii", "ascii", "iso-8859-1", "latin1", "iso_8859-1", "l1", "windows-1252", "cp1252":
            self = .windowsCP1252
        case "iso-8859-2", "latin2": self = .isoLatin2
        case "windows-1250", "cp1250": self = .windowsCP1250
        case "windows-1251", "cp1251": self = .windowsCP1251
        case "windows-1253", "cp1253": self = .windowsCP1253
        case "windows-1254", "cp1254": self = .windowsCP1254
        case "utf-16": self = .utf16
        case "utf-16be": self = .utf16BigEndian
        case "utf-16le": self = .utf16LittleEndian
        case "utf-32": self = .utf32
        case "shift_jis", "sjis", "shift-jis": self = .shiftJIS
        case "euc-jp": self = .japaneseEUC
        case "iso-2022-jp": self = .iso2022JP
        case "macintosh", "x-mac-roman": self = .macOSRoman
        default: return nil
        }
    }
}
