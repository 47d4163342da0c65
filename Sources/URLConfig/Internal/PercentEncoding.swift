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

extension String {
    /// Appends `text`, each byte of its UTF-8 that is not allowed written as `%XX`.
    ///
    /// - Parameters:
    ///   - keepingEscapes: A valid `%XX` in `text` stays as it is; otherwise its `%` becomes `%25`.
    ///   - spaceAsPlus: The form rule: a space becomes `+`.
    @inline(__always)
    mutating func append(
        percentEncoding text: some StringProtocol,
        keepingEscapes: Bool = false,
        spaceAsPlus: Bool = false,
        allowed: (UInt8) -> Bool
    ) {
        if text.utf8.allSatisfy(allowed) {
            append(contentsOf: text)
            return
        }
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count * 2)
        for (index, byte) in bytes.enumerated() {
            if allowed(byte) || (keepingEscapes && bytes.hasEscape(at: index)) {
                output.append(byte)
            } else if spaceAsPlus && byte == UInt8(ascii: " ") {
                output.append(UInt8(ascii: "+"))
            } else {
                output.append(UInt8(ascii: "%"))
                output.append(hexDigits[Int(byte >> 4)])
                output.append(hexDigits[Int(byte & 0xF)])
            }
        }
        append(contentsOf: String(decoding: output, as: UTF8.self))
    }
}

extension Array where Element == UInt8 {
    /// Whether a valid `%XX` starts at `index`.
    fileprivate func hasEscape(at index: Int) -> Bool {
        self[index] == UInt8(ascii: "%") && index + 2 < count && self[index + 1].isHexDigit && self[index + 2].isHexDigit
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

private let hexDigits = Array("0123456789ABCDEF".utf8)
