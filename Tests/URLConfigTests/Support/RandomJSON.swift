/// A random JSON document in pieces, which can be broken at random.
struct RandomJSON {
    private static let names = [
        "id", "view_count", "viewCount", "child", "a", "\\u0062", "x\\\"y", "ä", "", "children",
    ]
    private static let noise = [
        "{", "}", "[", "]", "\"", "\\", ":", ",", " ", "\n", "\u{1}", "null", "1e999", "-", "0", "\\u", "\\ud800", "ä",
        "<", "'", "[[[[[[[[", "\"id\":\"x\",", "\"child\":{", "}}", "1.5", "\\ud83d\\ude00", "01", "1.", "tru", ",]",
    ]

    private var pieces: [[UInt8]] = []
    private let secret: String

    /// The number of bytes after which the document is cut.
    private var length = Int.max

    var bytes: [UInt8] { Array(pieces.joined().prefix(length)) }

    /// A document that contains `secret` under some hidden names.
    init(secret: String, _ random: inout SeededGenerator) {
        self.secret = secret
        append(depth: 5, &random)
    }

    private mutating func append(depth: Int, _ random: inout SeededGenerator) {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random) {
        case 0: append("null")
        case 1: append("\(Int.random(in: -9...300, using: &random))")
        case 2: append("\(Double.random(in: -1...1, using: &random))")
        case 3, 4: append("\"\(Self.names.randomElement(using: &random) ?? "")\"")
        case 5: append("true")
        case 6, 7:
            append("[")
            for index in 0..<Int.random(in: 0...6, using: &random) {
                if index > 0 { append(",") }
                append(depth: depth - 1, &random)
            }
            append("]")
        default:
            append("{")
            for index in 0..<Int.random(in: 0...6, using: &random) {
                if index > 0 { append(",\n") }
                appendMember(depth: depth, &random)
            }
            append("}")
        }
    }

    private mutating func appendMember(depth: Int, _ random: inout SeededGenerator) {
        if Int.random(in: 0..<5, using: &random) == 0 {
            let values = ["\"\(secret)\"", "{\"k3y\":[\"\(secret)\"]}", "[1,{\"a\":\"\(secret)\\\"\"}]"]
            append("\"password\":\(values.randomElement(using: &random) ?? "")")
        } else {
            append("\"\(Self.names.randomElement(using: &random) ?? "")\":")
            append(depth: depth - 1, &random)
        }
    }

    private mutating func append(_ text: String) {
        pieces.append(Array(text.utf8))
    }

    /// Changes the document in at most three places.
    ///
    /// A hidden name and its value are not changed: without the name, the value would not be hidden.
    mutating func mutate(_ random: inout SeededGenerator) {
        defer { if Bool.random(using: &random) { length = Int.random(in: 0...bytes.count, using: &random) } }
        for _ in 0..<Int.random(in: 0...3, using: &random) where !pieces.isEmpty {
            let index = Int.random(in: pieces.indices, using: &random)
            guard !pieces[index].starts(with: "\"password".utf8) else { continue }
            let noise = Array((Self.noise.randomElement(using: &random) ?? "").utf8)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: pieces.remove(at: index)
            case 1: pieces.insert(noise, at: index)
            case 2: pieces[index] = noise
            case 3: pieces.insert([.random(in: .min ... .max, using: &random)], at: index)
            case 4: pieces.removeSubrange(index...)
            default:
                guard let byte = pieces[index].indices.randomElement(using: &random) else { continue }
                pieces[index][byte] = .random(in: .min ... .max, using: &random)
            }
        }
    }
}
