extension RequestBody {
    /// A value in a literal of JSON, which may nest and mix types.
    ///
    /// ```swift
    /// $0.body["meta"] = ["draft": true, "author": ["name": name, "age": 30, "tags": ["a", 1, .null]]]
    /// $0.body["meta"] = ["pages": 3, "authors": .value(authors)]
    /// ```
    ///
    /// In an object, `nil` leaves the member out. In an array, it is JSON null.
    ///
    /// A model or an array in a variable is written as `.value(authors)`, unless it is the whole value of a member. An
    /// `Encodable` type of your own may declare this conformance instead; it needs no code.
    public protocol JSON {
        /// The value as it is encoded; `nil` leaves the member out.
        var requestBodyMember: (any Encodable)? { get }
    }

    /// A value that the strategies of the encoder apply to; `nil` becomes JSON null.
    struct Member: JSON, Encodable, Sendable {
        let value: (any JSON & Sendable)?

        init(_ value: (any JSON & Sendable)?) {
            self.value = value
        }

        /// `nil` for a value that leaves its member out.
        init?(present value: (any JSON & Sendable)?) {
            guard let value, value.requestBodyMember != nil else { return nil }
            self.value = value
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            // `encode(to:)` of the value would ignore the strategies for dates and data.
            if let value = value?.requestBodyMember { try container.encode(value) } else { try container.encodeNil() }
        }
    }

    /// A value of any type.
    struct Model: JSON, Sendable {
        let value: any Encodable & Sendable

        var requestBodyMember: (any Encodable)? { (value as? any NilOmitting)?.withoutNil ?? value }
    }

    /// A literal in a literal, whose members are read when it is encoded.
    fileprivate struct Literal<Content: Encodable>: Encodable {
        let content: () -> Content

        func encode(to encoder: any Encoder) throws {
            // The key strategy does not apply to a dictionary that a container encodes.
            var container = encoder.singleValueContainer()
            try container.encode(content())
        }
    }
}

extension Optional where Wrapped == any RequestBody.JSON & Sendable {
    /// JSON null; `nil` leaves the member out instead.
    public static var null: Self { RequestBody.Member(nil) }

    /// Any value, such as a model or an array in a variable; `nil` leaves the member out.
    public static func value(_ value: (some Encodable & Sendable)?) -> Self { value.map(RequestBody.Model.init) }
}

extension Optional where Wrapped == any Encodable & Sendable {
    /// JSON null; `nil` leaves the member out instead.
    public static var null: Self { RequestBody.Member(nil) }
}

extension RequestBody.JSON where Self: Encodable {
    /// The value itself.
    public var requestBodyMember: (any Encodable)? { self }
}

/// The protocol is internal, so that the standard types get no public symbol.
protocol ComposedJSON {
    var composed: (any Encodable)? { get }
}

extension ComposedJSON {
    /// The value without the members that are `nil`.
    public var requestBodyMember: (any Encodable)? { composed }
}

// Not for every `Encodable`: in `user ?? .null`, the optional itself would be the value.
extension Optional: RequestBody.JSON, ComposedJSON where Wrapped: RequestBody.JSON {
    var composed: (any Encodable)? { flatMap(\.requestBodyMember) }
}

// The type of the elements is fixed, which makes it the type of each literal in a literal: Swift finds no other.
extension Array: RequestBody.JSON, ComposedJSON where Element == (any RequestBody.JSON & Sendable)? {
    var composed: (any Encodable)? { RequestBody.Literal { map { RequestBody.Member($0) } } }
}

extension Dictionary: RequestBody.JSON, ComposedJSON where Key == String, Value == (any RequestBody.JSON & Sendable)? {
    var composed: (any Encodable)? { RequestBody.Literal { compactMapValues(RequestBody.Member.init(present:)) } }
}

/// A dictionary such as `[String: User?]`, which a literal of optional models is.
private protocol NilOmitting {
    var withoutNil: any Encodable { get }
}

extension Dictionary: NilOmitting where Key == String, Value: Encodable & OptionalType {
    fileprivate var withoutNil: any Encodable { filter { !$1.isNil } }
}

extension Data: RequestBody.JSON {}
