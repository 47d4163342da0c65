extension RequestBody {
    /// JSON written as a literal that mixes types at every depth.
    ///
    /// ```swift
    /// $0.body["meta"] = ["draft": true, "author": ["name": "Ann", "age": 30, "tags": ["a", 1, nil]]]
    /// ```
    public enum JSON: Sendable, Hashable {
        /// `null`
        case null
        /// `true` or `false`
        case bool(Bool)
        /// A whole number.
        case integer(Int)
        /// A number.
        case number(Double)
        /// A string.
        case string(String)
        /// An array.
        case array([JSON])
        /// An object.
        case object([String: JSON])
    }
}

extension RequestBody.JSON: Encodable {
    /// Encodes the JSON as it was written.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension RequestBody.JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array.
    public init(arrayLiteral elements: RequestBody.JSON...) { self = .array(elements) }
    /// An object; of two members with one name the last counts.
    public init(dictionaryLiteral elements: (String, RequestBody.JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}

extension RequestBody {
    /// A JSON object of members of any type; a `nil` is JSON's `null`.
    ///
    /// ```swift
    /// $0.body["page"] = ["number": number, "title": title]
    /// ```
    public struct Object: Encodable, Sendable {
        let members: [String: (any Encodable & Sendable)?]

        /// Encodes the members under their names as they are: an encoder's strategy for keys leaves a dictionary alone.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(members.mapValues { $0.map(AnyEncodable.init) })
        }
    }

    private struct AnyEncodable: Encodable {
        let value: any Encodable

        func encode(to encoder: any Encoder) throws {
            // By a container, not `value.encode(to:)`: the encoder's strategies for dates and data apply only there.
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }
}

extension RequestBody.Object: ExpressibleByDictionaryLiteral {
    /// An object; of two members with one name the last counts.
    public init(dictionaryLiteral elements: (String, (any Encodable & Sendable)?)...) {
        members = Dictionary(elements) { _, last in last }
    }
}
