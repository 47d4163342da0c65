extension URLRequest {
    /// The path of a request, joined to the base path of ``Config/host``.
    ///
    /// ```swift
    /// $0.path = "/users/\(userID)/article"
    /// ```
    ///
    /// Literal text keeps its slashes and valid escapes (`%XX`), and its `?a=b` joins the query. Characters that a path
    /// cannot contain are percent-encoded (RFC 3986 §3.3). A value is one segment, or a part of one: all characters but
    /// the unreserved ones are percent-encoded. A path never changes scheme, host or port.
    ///
    /// These are refused (``RequestError/Code/invalidURL``):
    /// - the segments `.` and `..`, even percent-encoded,
    /// - an empty value, if it leaves its segment empty,
    /// - a collection other than text, such as an array,
    /// - a number that is not finite, and a date outside the years 1 to 9999.
    public struct Path: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible,
        RedactedReflectable
    {
        /// Percent-encoded.
        private(set) var text: [UInt8]
        private(set) var query: [UInt8]?
        private(set) var invalidReason: String?

        /// A path from text that is known at run time.
        ///
        /// - Parameter text: Treated as literal text, so `?` and `/` keep their meaning.
        @_disfavoredOverload
        public init(_ text: String) { self = "\(raw: text)" }

        // Otherwise `.init("/users/\(id)")` would be text that is known at run time, and the value more than a segment.
        // It still is with a value that a path cannot have, such as an optional.
        /// The path itself, so that `.init("/users/\(id)")` means the same as `"/users/\(id)"`.
        public init(_ path: Self) { self = path }

        /// A path from a literal.
        public init(stringLiteral text: String) { self.init(text) }

        /// A path from a literal with values.
        public init(stringInterpolation: StringInterpolation) {
            text = stringInterpolation.text
            if !stringInterpolation.isPlain { splitAndCheck() }
            invalidReason = stringInterpolation.invalidReason ?? invalidReason
            // One slash separates base path and path. Two would start an authority.
            let slashes = text.prefix { $0 == UInt8(ascii: "/") }.count
            if slashes > 1 { text.removeFirst(slashes - 1) }
        }

        private mutating func splitAndCheck() {
            // The first question mark is from a literal: in values they are percent-encoded.
            if let mark = text.firstIndex(of: UInt8(ascii: "?")) {
                query = text[(mark + 1)...].filter { $0 != 0 }
                text.removeSubrange(mark...)
            }
            for segment in text.split(separator: UInt8(ascii: "/")) {
                let segment = segment.filter { $0 != 0 }
                if segment.isEmpty {
                    invalidReason = "has an interpolated value that is empty, which would lead to another path"
                } else if segment.isDotSegment {
                    let text = String(decoding: segment, as: UTF8.self)
                    invalidReason = "contains the segment '\(text)', which would lead to another path"
                }
            }
            text.removeAll { $0 == 0 }
        }

        /// The path, percent-encoded, and its query if it has one; secrets are hidden.
        public var description: String {
            let text = String(decoding: text + (query.map { "?".utf8 + $0 } ?? []), as: UTF8.self)
            return URLSession.Config.default.redaction.masked(text)
        }
    }
}

extension URLRequest.Path {
    /// Collects the literals and the values of a path.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        /// Percent-encoded, with the query; an empty value is a NUL, which no encoded text contains.
        fileprivate var text: [UInt8] = []
        /// Whether there is no query, no segment of dots and no empty value.
        fileprivate var isPlain = true
        /// Why a value cannot be part of a path.
        fileprivate var invalidReason: String?

        /// An empty interpolation.
        public init(literalCapacity: Int, interpolationCount: Int) {
            // Enough for most values: the memory is allocated once.
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Appends literal text.
        public mutating func appendLiteral(_ literal: String) {
            isPlain = isPlain && literal.needsNoEncoding(.plainPath)
            text.append(literal, encoding: .pathAndQuery)
        }

        /// Appends a value's description, or a `Date` in ISO 8601, as one segment or a part of one.
        @inlinable
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            // The most common types first: other casts take longer.
            let isText = value is String || value is Int || value is any StringProtocol
            if isText { append(value: value.description) } else { append(other: value) }
        }

        /// Appends a raw value as one segment, or a part of one.
        @_disfavoredOverload
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: CustomStringConvertible {
            appendInterpolation(value.rawValue)
        }

        // Swift would prefer the function for `CustomStringConvertible` to unavailable ones. With a warning, these are
        // preferred, and then the request is refused.

        /// Refused: the message says what to write instead.
        @available(*, deprecated, message: "interpolate each element, or a path of several segments as \\(raw: path)")
        public mutating func appendInterpolation<Element>(_ elements: [Element]) { refuse("an array") }

        /// Refused: a set has no order.
        @available(*, deprecated, message: "interpolate each element")
        public mutating func appendInterpolation<Element>(_ elements: Set<Element>) { refuse("a set") }

        /// Refused: a dictionary has no order.
        @available(*, deprecated, message: "interpolate each value, or set query items")
        public mutating func appendInterpolation<Key, Value>(_ members: [Key: Value]) { refuse("a dictionary") }

        private mutating func refuse(_ value: String) {
            invalidReason = "has an interpolated value that is \(value); interpolate its elements"
        }

        /// Appends a value that is neither text nor an `Int`.
        @usableFromInline
        mutating func append(other value: some CustomStringConvertible) {
            if value is any Collection { return refuse("a collection") }
            let isFinite = (value as? any BinaryFloatingPoint)?.isFinite ?? ((value as? Decimal)?.isNaN != true)
            if !isFinite { invalidReason = "has an interpolated value that is no finite number" }
            if let date = value as? Date, date.httpDate == nil {
                invalidReason = "has an interpolated date that is not in the years 1 to 9999"
            }
            append(value: value.textInURL)
        }

        @usableFromInline
        mutating func append(value: String) {
            isPlain = isPlain && !value.isEmpty && value.needsNoEncoding(.plainSegment)
            if value.isEmpty { text.append(0) } else { text.append(value, encoding: .unreserved) }
        }

        /// Appends text as a part of the literal: it may contain slashes, `%XX` and a query.
        ///
        /// - Parameter text: Text that the caller trusts.
        public mutating func appendInterpolation(raw text: String) { appendLiteral(text) }
    }
}

extension [UInt8] {
    fileprivate var isDotSegment: Bool {
        var decoded: [UInt8] = []
        for byte in self {
            decoded.append(byte)
            // A decoded byte may complete another escape: `%%32e` and `%252e` become `%2e`, a dot.
            while decoded.count > 2, decoded[decoded.count - 3] == UInt8(ascii: "%"),
                let value = UInt8(hexDigits: decoded.suffix(2))
            {
                decoded.removeLast(3)
                decoded.append(value)
            }
        }
        return [".", ".."].contains { decoded.elementsEqual($0.utf8) }
    }
}
