/// Where a document is no JSON (RFC 8259), and what is wrong there.
///
/// `JSONDecoder` says on Linux only that something is, somewhere; of a number that does not fit its type it says the same.
struct JSONSyntax {
    /// An object or array that is open, and the member or element in it that was come to last.
    ///
    /// Plain numbers, because one is written for every value there is.
    struct Frame {
        let container: Int
        let isObject: Bool
        var index = 0
        fileprivate var name = 0..<0
        fileprivate var value = 0

        /// `nil` before the first, and after a comma.
        var member: JSONScanner.Member? {
            value == 0 ? nil : .init(name: isObject ? name : nil, value: value)
        }
    }

    struct Finding: Error {
        /// The number of bytes before the place.
        var offset: Int
        /// What is wrong, such as `expected ":", found a letter`.
        var words: String
        /// What is open at the place, outermost first.
        var frames: [Frame]
    }

    /// What is wrong where the text is not in UTF-8.
    static let encoding = "a byte that is no UTF-8"

    /// As deep as `JSONDecoder` goes.
    private static let deepest = 512

    let scanner: JSONScanner
    var position = 0
    /// The innermost of what is open; by itself, because an element of an array is slow to change.
    private var top = Frame(container: 0, isObject: false)
    private var outer: [Frame] = []
    private var depth = 0
    /// A comma before a closing bracket, which some decoders allow.
    private var trailingComma: Finding?
    /// The first number that is no integer, or none of 64 bits.
    var oddNumber: Finding?
    /// The first place that is wrong, if any.
    private(set) var fault: Finding?
    /// Whether the text just ended too early.
    var isCut: Bool { fault?.offset == scanner.end }

    init(_ scanner: JSONScanner) {
        self.scanner = scanner
        position = scanner.root
        do {
            try run()
            fault = trailingComma
        } catch {
            fault = error
        }
    }

    private mutating func run() throws(Finding) {
        var expectsValue = true
        while true {
            position = scanner.skippingSpace(from: position)
            if expectsValue {
                expectsValue = try value()
            } else if depth == 0 {
                guard position == scanner.end else { throw finding("there is more after the end of the document") }
                return
            } else if scanner.closes(at: position) {
                try close()
            } else if scanner[position] == UInt8(ascii: ",") {
                expectsValue = try comma()
            } else {
                throw expected(top.isObject ? "\",\" or \"}\"" : "\",\" or \"]\"")
            }
        }
    }

    /// Reads a value, or the beginning of one that is an object or array; whether another must follow.
    private mutating func value() throws(Finding) -> Bool {
        top.value = position
        switch scanner[position] {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < Self.deepest else {
                throw finding("more than \(Self.deepest) levels, the most that JSONDecoder reads,")
            }
            depth += 1
            outer.append(top)
            top = Frame(container: position, isObject: scanner[position] == UInt8(ascii: "{"))
            position = scanner.skippingSpace(from: position + 1)
            if scanner.closes(at: position) {
                try close()
                return false
            }
            try name()
            return true
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: throw expected("a value")
        }
        return false
    }

    /// Reads a comma and, in an object, the next name; whether a value must follow.
    private mutating func comma() throws(Finding) -> Bool {
        let comma = position
        position = scanner.skippingSpace(from: position + 1)
        if scanner.closes(at: position) {
            trailingComma = trailingComma ?? finding("a comma with nothing after it", at: comma)
            try close()
            return false
        }
        top.index += 1
        top.value = 0
        try name()
        return true
    }

    private mutating func close() throws(Finding) {
        let isObject = scanner[position] == UInt8(ascii: "}")
        guard top.isObject == isObject else { throw expected(isObject ? "\"]\"" : "\"}\"") }
        depth -= 1
        top = outer.popLast() ?? top
        position += 1
    }

    /// Reads name and colon, in an object.
    private mutating func name() throws(Finding) {
        guard depth > 0, top.isObject else { return }
        guard scanner[position] == UInt8(ascii: "\"") else { throw expected("a name in quotes") }
        let start = position
        try string()
        (top.name, top.value) = (start..<position, position)
        position = scanner.skippingSpace(from: position)
        guard scanner[position] == UInt8(ascii: ":") else { throw expected("\":\"") }
        position = scanner.skippingSpace(from: position + 1)
        top.value = position
    }

    func expected(_ what: String) -> Finding {
        finding("expected \(what), found \(scanner.kind(at: position))")
    }

    func finding(_ words: String, at offset: Int? = nil) -> Finding {
        Finding(offset: min(offset ?? position, scanner.end), words: words, frames: Array((outer + [top]).dropFirst()))
    }
}
