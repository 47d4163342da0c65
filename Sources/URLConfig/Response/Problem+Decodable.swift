extension Problem: Decodable {
    /// A problem from an object that has at least one of the five members, so that it is not taken for one by chance.
    ///
    /// ``DataResponse/problem`` knows more: the URL that type and instance are relative to, and the status.
    public init(from decoder: any Decoder) throws {
        let members = try Member.$patience.withValue(LockBox(.init(depth: decoder.codingPath.count + 1))) {
            try [String: Member](from: decoder)
        }
        guard ["type", "title", "status", "detail", "instance"].contains(where: { members[$0] != nil }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "no member of problem details (RFC 9457)"))
        }
        self.init(JSONScanner(Array(try JSONEncoder().encode(members.mapValues(\.value)))))
    }
}

extension MediaType {
    /// `application/problem+json` (RFC 9457 §6.1).
    public static let problem: Self = "application/problem+json"
}

extension DataResponse {
    /// What went wrong, if the server says so in `application/problem+json`, whatever the status (RFC 9457).
    ///
    /// `nil` for other content types, and for a content that is no JSON object or longer than any problem, 500 kB. For problems that come as another type there
    /// is `decode(Problem.self)`.
    public var problem: Problem? {
        guard hasContentType(.problem), data.count <= DecodingDiagnosis.limit else { return nil }
        let json = JSONScanner(Array(data))
        guard json[json.root] == UInt8(ascii: "{"), JSONSyntax(json).fault == nil else { return nil }
        return Problem(json, in: self)
    }
}

/// A value of any type.
private struct Member: Decodable {
    /// How deep objects and arrays may be within each other: enough for any problem, and for no stack to overflow.
    private static let depth = 32

    @TaskLocal static var patience = LockBox(Patience(depth: 0))

    /// How many values are looked at: each takes a decoder five failures at worst, which are slow.
    struct Patience {
        /// The depth of the problem's own members, which no others must push out.
        let depth: Int
        private var own = 1000
        private var others = 1000

        init(depth: Int) { self.depth = depth }

        mutating func isEnough(at depth: Int) -> Bool {
            if depth <= self.depth { own -= 1 } else { others -= 1 }
            return (depth <= self.depth ? own : others) >= 0
        }
    }

    let value: RequestBody.JSON

    init(from decoder: any Decoder) throws {
        let depth = decoder.codingPath.count
        let (isEnough, isOwn) = Self.patience.withLock { ($0.isEnough(at: depth), depth <= $0.depth) }
        // With this the array or object that it is in ends, and is `null`.
        guard isEnough || isOwn else { throw Flaw("too many values") }
        guard isEnough, depth <= Self.depth else {
            value = .null
            return
        }
        let container = try decoder.singleValueContainer()
        if let string = try? container.decode(String.self) {
            value = .string(string)
        } else if let integer = try? container.decode(Int.self) {
            value = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            value = .number(number)
        } else if let bool = try? container.decode(Bool.self) {
            value = .bool(bool)
        } else if let members = try? container.decode([String: Member].self) {
            value = .object(members.mapValues(\.value))
        } else if let elements = try? container.decode([Member].self) {
            value = .array(elements.map(\.value))
        } else {
            value = .null
        }
    }
}
