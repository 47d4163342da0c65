extension URLRequest {
    /// The path of a request, joined to the base path of ``Config/host``.
    ///
    /// ```swift
    /// $0.path = "/users/\(userID)/article"
    /// ```
    ///
    /// In literal text slashes and valid escapes (`%XX`) stay, a `?a=b` joins the query, and what a path cannot contain
    /// is percent-encoded (RFC 3986 §3.3). An interpolated value is always one segment, or a part of one: everything
    /// but RFC 3986's unreserved characters is percent-encoded.
    ///
    /// A segment that is `.` or `..`, raw or percent-encoded, and an empty value that leaves its segment empty are
    /// refused (``RequestError/Code/invalidURL``). A path never changes scheme, host or port.
    public struct Path: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
        /// Percent-encoded, as it was written: with or without a leading slash.
        var text = ""
        /// Percent-encoded, without its `?`.
        var query: String?
        /// What is wrong with the path, for the error that building a request throws.
        var invalidReason: String?

        /// A path from text that is known at run time.
        ///
        /// - Parameter text: Treated as literal text. A value that must stay one segment is interpolated instead.
        public init(_ text: String) {
            self.init(stringLiteral: text)
        }

        /// A path from a literal.
        public init(stringLiteral text: String) {
            var interpolation = StringInterpolation(literalCapacity: 0, interpolationCount: 0)
            interpolation.appendLiteral(text)
            self = interpolation.path()
        }

        /// A path from a literal with values.
        public init(stringInterpolation: StringInterpolation) {
            self = stringInterpolation.path()
        }

        private init() {}

        /// The path, percent-encoded, and its query if it has one.
        public var description: String {
            query.map { text + "?" + $0 } ?? text
        }
    }
}

extension URLRequest.Path {
    /// Collects the literals and the values of a path.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        /// Percent-encoded, the query included; a NUL, which no encoded text contains, stands for an empty value.
        private var text = ""
        /// Whether there are only letters that neither start a query nor make a segment of dots.
        private var isPlain = true

        /// Starts empty: text makes its own room, and short text needs none.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends literal text.
        public mutating func appendLiteral(_ literal: String) {
            append(literal, plain: .pathWithoutDots, .pathAndQuery)
        }

        /// Appends a value as one segment, or a part of one.
        public mutating func appendInterpolation(_ value: String) {
            append(value, plain: .unreservedWithoutDots, .unreserved)
            if value.isEmpty {
                text += "\0"
                isPlain = false
            }
        }

        /// Appends a value's description as one segment, or a part of one.
        @inlinable
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendInterpolation(value.description)
        }

        /// Appends the raw value of an identifier or a case as one segment, or a part of one.
        @_disfavoredOverload
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: CustomStringConvertible {
            appendInterpolation(value.rawValue.description)
        }

        /// Appends text as if it were a part of the literal: it may contain slashes, `%XX` and a query.
        ///
        /// - Parameter text: Text that the caller trusts.
        public mutating func appendInterpolation(raw text: String) {
            appendLiteral(text)
        }

        private mutating func append(_ piece: String, plain: PercentEncoding, _ encoding: PercentEncoding) {
            if piece.needsNoEncoding(plain) {
                text += piece
            } else {
                text += piece.percentEncoded(encoding)
                isPlain = false
            }
        }

        fileprivate consuming func path() -> URLRequest.Path {
            var path = URLRequest.Path()
            path.text = text
            if !isPlain { path.split() }
            if path.text.hasPrefix("//") {
                // Exactly one slash goes between base path and path; more would also start an authority.
                path.text = "/" + path.text.drop { $0 == "/" }
            }
            return path
        }
    }

    /// Takes the query off, and refuses segments that would lead to another path.
    private mutating func split() {
        // The first question mark is a literal's: a value has none.
        if let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = text[mark...].dropFirst().filter { $0 != "\0" }
            text = String(text[..<mark])
        }
        if text.utf8.contains(0) {
            if text.split(separator: "/").contains(where: { $0.utf8.allSatisfy { $0 == 0 } }) {
                invalidReason = "has an interpolated value that is empty, which would lead to another path"
            }
            text.removeAll { $0 == "\0" }
        }
        if let segment = text.split(separator: "/").first(where: \.isDotSegment) {
            invalidReason = "contains the segment '\(segment)', which would lead to another path"
        }
    }
}

extension Substring {
    fileprivate var isDotSegment: Bool {
        var decoded: [UInt8] = []
        for byte in utf8 {
            decoded.append(byte)
            // What an escape stands for may complete another: `%%32e` and `%252e` are `%2e`, and that is a dot.
            while decoded.count > 2, decoded[decoded.count - 3] == UInt8(ascii: "%"),
                let value = UInt8(String(decoding: decoded.suffix(2), as: UTF8.self), radix: 16)
            {
                decoded.removeLast(3)
                decoded.append(value)
            }
            let mayBeDots = decoded.first == UInt8(ascii: ".") || decoded.first == UInt8(ascii: "%")
            guard mayBeDots else { return false }
        }
        return decoded == [UInt8(ascii: ".")] || decoded == [UInt8(ascii: "."), UInt8(ascii: ".")]
    }
}
