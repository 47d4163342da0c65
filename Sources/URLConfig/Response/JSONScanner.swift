/// Steps over JSON without believing in it: whatever the bytes are, it stays inside them and does not recurse.
///
/// It finds the members of what is well formed, and of anything else some; ``JSONSyntax`` tells the two apart.
struct JSONScanner {
    /// A member of an object, or an element of an array.
    struct Member {
        /// The name with its quotes; `nil` for an element.
        var name: Range<Int>?
        /// Where the value starts.
        var value: Int

        var start: Int { name?.lowerBound ?? value }
    }

    let bytes: [UInt8]
    /// Nothing is read from here on.
    var end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
    }

    /// The byte at a place; NUL, which JSON has nowhere, for one outside.
    @inline(__always)
    subscript(index: Int) -> UInt8 { index < end ? bytes[index] : 0 }

    /// Where the document's value starts, after a byte order mark.
    var root: Int { skippingSpace(from: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) }

    func skippingSpace(from start: Int) -> Int {
        var index = start
        while self[index].isJSONSpace { index += 1 }
        return index
    }

    /// Whether an object or an array opens here.
    func opens(at index: Int) -> Bool { self[index] == UInt8(ascii: "{") || self[index] == UInt8(ascii: "[") }

    /// Whether an object or an array closes here.
    func closes(at index: Int) -> Bool { self[index] == UInt8(ascii: "}") || self[index] == UInt8(ascii: "]") }

    /// The place after a string's closing quote, or the end.
    func endOfString(from start: Int) -> Int {
        var index = start + 1
        while index < end {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") { return index + 1 }
            index += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return end
    }

    /// The place after a value, or the end.
    func endOfValue(from start: Int) -> Int {
        if self[start] == UInt8(ascii: "\"") { return endOfString(from: start) }
        var index = start
        guard opens(at: start) else {
            while index < end, !bytes[index].endsJSONScalar { index += 1 }
            return index
        }
        var depth = 0
        while index < end {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index = endOfString(from: index)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            index += 1
            if depth == 0 { return index }
        }
        return end
    }

    /// What is in the object or array that opens at a place.
    func members(of container: Int) -> Members { Members(scanner: self, container: container) }

    struct Members: IteratorProtocol {
        private let scanner: JSONScanner
        private let isObject: Bool
        private var previous: Member?
        /// How far it has come.
        private(set) var position: Int
        /// Whether the closing bracket was met.
        private(set) var isClosed = false

        fileprivate init(scanner: JSONScanner, container: Int) {
            self.scanner = scanner
            isObject = scanner[container] == UInt8(ascii: "{")
            position = container + 1
        }

        mutating func next() -> Member? {
            if let previous {
                position = scanner.skippingSpace(from: scanner.endOfValue(from: previous.value))
                isClosed = scanner.closes(at: position)
                guard scanner[position] == UInt8(ascii: ",") else { return nil }
                position += 1
            }
            position = scanner.skippingSpace(from: position)
            isClosed = scanner.closes(at: position)
            guard !isClosed, position < scanner.end else { return nil }
            previous = isObject ? named() : Member(name: nil, value: position)
            return previous
        }

        private mutating func named() -> Member? {
            guard scanner[position] == UInt8(ascii: "\"") else { return nil }
            let name = position..<scanner.endOfString(from: position)
            position = scanner.skippingSpace(from: name.upperBound)
            if scanner[position] == UInt8(ascii: ":") {
                position = scanner.skippingSpace(from: position + 1)
            } else if position < scanner.end {
                return nil
            }
            return Member(name: name, value: position)
        }
    }
}

extension UInt8 {
    var isJSONSpace: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r")
            || self == UInt8(ascii: "\t")
    }

    fileprivate var endsJSONScalar: Bool {
        isJSONSpace || self == UInt8(ascii: ",") || self == UInt8(ascii: "]") || self == UInt8(ascii: "}")
            || self == UInt8(ascii: ":") || self == UInt8(ascii: "\"")
    }
}
