extension Problem: Decodable {
    /// A problem from an object that has at least one of the five members, so that it is not taken for one by chance.
    ///
    /// ``DataResponse/problem`` knows more: the URL that type and instance are relative to, and the status.
    public init(from decoder: any Decoder) throws {
        let members = try [String: Member](from: decoder)
        guard ["type", "title", "status", "detail", "instance"].contains(where: { members[$0] != nil }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "no member of problem details (RFC 9457)"))
        }
        self.init(members.mapValues(\.value))
    }
}

extension MediaType {
    /// `application/problem+json` (RFC 9457 §6.1).
    public static let problem: Self = "application/problem+json"
}

extension DataResponse {
    /// What went wrong, if the server says so in `application/problem+json`, whatever the status (RFC 9457).
    ///
    /// `nil` for other content types, and for a content that is no JSON object. For problems that come as another type there
    /// is `decode(Problem.self)`.
    public var problem: Problem? {
        guard hasContentType(.problem),
            let members = try? JSONDecoder().decode([String: Member].self, from: data)
        else { return nil }
        return Problem(members.mapValues(\.value), in: self)
    }
}

/// A value of any type.
private struct Member: Decodable {
    /// How deep objects and arrays may be within each other: enough for any problem, and for no stack to overflow.
    private static let depth = 32

    let value: RequestBody.JSON

    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.depth else {
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
