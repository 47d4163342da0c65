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

        var requestBodyMember: (any Encodable)? { RequestBody.withoutNil(value) }
    }

    /// The value, without the members of dictionaries that are `nil`.
    static func withoutNil(_ value: any Encodable) -> any Encodable {
        (value as? any NilOmitting)?.withoutNil ?? value
    }

    /// A value in an array or a dictionary.
    fileprivate struct Element: Encodable {
        let value: any Encodable

        func encode(to encoder: any Encoder) throws {
            // `encode(to:)` of the value would ignore the strategies for dates and data.
            var container = encoder.singleValueContainer()
            try container.encode(RequestBody.withoutNil(value))
        }
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

/// A dictionary such as `[String: User?]`, which a literal of optional models is, and what contains one.
private protocol NilOmitting {
    /// Whether a value of this type may contain members that are `nil`: most arrays need no copy.
    static var omits: Bool { get }
    var withoutNil: any Encodable { get }
}

extension NilOmitting {
    fileprivate static func omits(in type: Any.Type) -> Bool { (type as? any NilOmitting.Type)?.omits == true }
}

extension Dictionary: NilOmitting where Key == String, Value: Encodable {
    fileprivate static var omits: Bool { Value.self is any OptionalType.Type || omits(in: Value.self) }
    fileprivate var withoutNil: any Encodable {
        guard Self.omits else { return self }
        let members = filter { ($1 as? any OptionalType)?.isNil != true }
        return Self.omits(in: Value.self) ? members.mapValues(RequestBody.Element.init) : members
    }
}

extension Array: NilOmitting where Element: Encodable {
    fileprivate static var omits: Bool { omits(in: Element.self) }
    fileprivate var withoutNil: any Encodable { Self.omits ? map(RequestBody.Element.init) : self }
}

extension Optional: NilOmitting where Wrapped: Encodable {
    fileprivate static var omits: Bool { omits(in: Wrapped.self) }
    fileprivate var withoutNil: any Encodable { (flatMap { $0 as? any NilOmitting })?.withoutNil ?? self }
}

extension Data: RequestBody.JSON {}
