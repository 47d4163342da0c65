extension JSONScanner {
    /// The length of an escape in a string (RFC 8259 §7), both halves of a surrogate pair together; `nil` if it is none.
    ///
    /// One that the end of the text cuts is as long as what there is of it.
    func lengthOfEscape(at start: Int) -> Int? {
        guard start + 1 < end else { return end - start }
        switch self[start + 1] {
        case UInt8(ascii: "u"): break
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        default: return nil
        }
        guard let unit = codeUnit(at: start) else { return isCut(start, length: 6) ? end - start : nil }
        guard UTF16.isSurrogate(unit) else { return 6 }
        guard UTF16.isLeadSurrogate(unit) else { return nil }
        guard let trail = codeUnit(at: start + 6) else { return isCut(start, length: 12) ? end - start : nil }
        return UTF16.isTrailSurrogate(trail) ? 12 : nil
    }

    /// What a `\uXXXX` stands for.
    private func codeUnit(at start: Int) -> UInt16? {
        guard self[start] == UInt8(ascii: "\\"), self[start + 1] == UInt8(ascii: "u") else { return nil }
        var unit: UInt16 = 0
        for index in start + 2..<start + 6 {
            let letter = self[index] | 0x20
            if isDigit(at: index) {
                unit = unit << 4 | UInt16(self[index] - UInt8(ascii: "0"))
            } else if UInt8(ascii: "a")...UInt8(ascii: "f") ~= letter {
                unit = unit << 4 | UInt16(letter - UInt8(ascii: "a") + 10)
            } else {
                return nil
            }
        }
        return unit
    }

    /// The length of a character that is not ASCII (RFC 3629 §4); `nil` if the bytes are no UTF-8.
    func lengthOfCharacter(at start: Int) -> Int? {
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch self[start] {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0x80...0xBF)
            }
        guard length > 0 else { return nil }
        for index in start + 1..<start + length {
            guard index < end else { return end - start }
            guard (index == start + 1 ? second : 0x80...0xBF).contains(self[index]) else { return nil }
        }
        return length
    }

    /// The place after a number (RFC 8259 §6); `nil` if it is none.
    func endOfNumber(from start: Int) -> Int? {
        var index = self[start] == UInt8(ascii: "-") ? start + 1 : start
        let isZero = self[index] == UInt8(ascii: "0")
        guard let whole = endOfDigits(from: index), !isZero || whole == index + 1 else { return nil }
        index = whole
        if self[index] == UInt8(ascii: ".") {
            guard let fraction = endOfDigits(from: index + 1) else { return nil }
            index = fraction
        }
        if self[index] | 0x20 == UInt8(ascii: "e") {
            let isSigned = self[index + 1] == UInt8(ascii: "+") || self[index + 1] == UInt8(ascii: "-")
            guard let exponent = endOfDigits(from: index + (isSigned ? 2 : 1)) else { return nil }
            index = exponent
        }
        return index
    }

    /// The place after one digit or more; also if the text ends before the first.
    private func endOfDigits(from start: Int) -> Int? {
        var index = start
        while isDigit(at: index) { index += 1 }
        return index > start || start >= end ? min(index, end) : nil
    }

    func isDigit(at index: Int) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self[index] }

    /// Whether a number is written as an integer of 64 bits.
    func isInteger(_ range: Range<Int>) -> Bool {
        for index in range where !isDigit(at: index) && self[index] != UInt8(ascii: "-") { return false }
        guard range.count > 18 else { return true }
        let text = String(decoding: bytes[range].prefix(21), as: UTF8.self)
        return Int64(text) != nil || UInt64(text) != nil
    }

    /// What a reader would call a byte, of which nothing is shown that may be part of a secret.
    func kind(at index: Int) -> String {
        switch self[index] {
        case _ where index >= end: "the end"
        case UInt8(ascii: "\""): "a quote"
        case UInt8(ascii: "'"): "a single quote"
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): "a letter"
        case UInt8(ascii: "0")...UInt8(ascii: "9"): "a digit"
        case let byte where ",:[]{}<".utf8.contains(byte): "\"\(Character(Unicode.Scalar(byte)))\""
        default: "something else"
        }
    }

    /// Whether the text ends before an escape does.
    private func isCut(_ start: Int, length: Int) -> Bool {
        start + length > end && !bytes[min(start + 2, end)..<end].contains(UInt8(ascii: "\""))
    }
}
