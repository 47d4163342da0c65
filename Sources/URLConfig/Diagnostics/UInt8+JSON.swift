extension UInt8 {
    var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }

    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    var isAlphanumeric: Bool { isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

    /// A name for the byte; it does not show a byte that may be part of a secret.
    var jsonName: String {
        switch self {
        case UInt8(ascii: "\""): "a quote"
        case UInt8(ascii: "'"): "a single quote"
        case _ where isDigit: "a digit"
        case _ where isAlphanumeric: "a letter"
        case _ where ",:[]{}<".utf8.contains(self): "\"\(Character(Unicode.Scalar(self)))\""
        default: "something else"
        }
    }

    /// The byte in lower case, as names are compared; `nil` for underscores and hyphens.
    var foldedInName: UInt8? {
        switch self {
        case UInt8(ascii: "_"), UInt8(ascii: "-"): nil
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): self | 0x20
        default: self
        }
    }
}
