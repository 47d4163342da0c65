extension RequestBody {
    /// A JSON value, written as a literal or made from any `Encodable` value.
    ///
    /// ```swift
    /// $0.body["meta"] = ["draft": true, "author": ["name": .value(name), "age": 30, "tags": ["a", 1, .null]]]
    /// ```
    ///
    /// In an object, `nil` leaves the member out.
    public struct JSON: Encodable, Sendable {
        let value: any Encodable & Sendable

        init(_ value: any Encodable & Sendable) {
            self.value = (value as? Self)?.value ?? value
        }

        /// A value in a literal, such as a variable.
        public static func value(_ value: some Encodable & Sendable) -> Self {
            // Not an initializer, because in `["price": .init(price), "qty": 2]` Swift would call `Int(price)`.
            Self(value)
        }

        /// JSON null.
        public static let null = Self(Null())

        static func members(_ elements: [(String, (any Encodable & Sendable)?)]) -> [String: Self] {
            elements.reduce(into: [:]) { $0[$1.0] = Self(present: $1.1) }
        }

        init?(present value: (any Encodable & Sendable)?) {
            guard let value, (value as? any NilOmitting)?.isNil != true else { return nil }
            self.init(value)
        }

        /// A value without members that are `nil`.
        static func omittingNil(_ value: any Encodable) -> any Encodable {
            ((value as? any NilOmitting)?.omittingNil as? any Encodable) ?? value
        }

        /// Encodes the value with the strategies of the encoder.
        public func encode(to encoder: any Encoder) throws {
            // `value.encode(to:)` would ignore the strategies for dates and data.
            var container = encoder.singleValueContainer()
            try container.encode(Self.omittingNil(value))
        }

        private struct Null: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encodeNil()
            }
        }
    }
}

extension RequestBody.JSON: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [] }
}

extension RequestBody.JSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(value) }
    /// A whole number.
    public init(integerLiteral value: Int) { self.init(value) }
    /// A number.
    public init(floatLiteral value: Double) { self.init(value) }
    /// A string.
    public init(stringLiteral value: String) { self.init(value) }
    /// An array.
    public init(arrayLiteral elements: Self...) { self.init(elements) }
    /// An object; the last of several members with one name wins.
    public init(dictionaryLiteral elements: (String, Self?)...) {
        self.init(Self.members(elements.map { ($0, $1?.value) }))
    }
}

extension Optional where Wrapped == any Encodable & Sendable {
    /// JSON null; `nil` leaves the member out instead.
    public static var null: Self { RequestBody.JSON.null }
}

/// A type that may contain `nil` as a member of an object, such as `[String: Int?]`.
protocol NilOmitting {
    var isNil: Bool { get }
    var omittingNil: Self { get }
}

extension Optional: NilOmitting {
    var isNil: Bool { self == nil }
    var omittingNil: Self { map { ($0 as? any NilOmitting)?.omittingNil as? Wrapped ?? $0 } }
}

extension Array: NilOmitting where Element: NilOmitting {
    var isNil: Bool { false }
    var omittingNil: Self { map(\.omittingNil) }
}

extension Dictionary: NilOmitting where Value: NilOmitting {
    var isNil: Bool { false }
    var omittingNil: Self { filter { !$1.isNil }.mapValues(\.omittingNil) }
}
