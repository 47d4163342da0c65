extension URLRequest {
    /// The path of a request, joined to the base path of ``Config/host``.
    ///
    /// ```swift
    /// $0.path = "/users/\(userID)/article"
    /// ```
    ///
    /// Literal text is the developer's own: its slashes stay, a valid `%XX` stays, a `?a=b` joins the query, and what a
    /// path may not hold is percent-encoded (RFC 3986 §3.3). An interpolated value is always exactly one segment, or a
    /// part of one: everything but RFC 3986's unreserved characters is percent-encoded.
    ///
    /// A segment that is `.` or `..`, raw or percent-encoded, and an interpolated value that leaves its segment empty are
    /// refused: the request cannot be sent, and says so (``RequestError/Code/invalidURL``). Whatever a path holds, the
    /// scheme, host and port are those of ``Config/host``.
    public struct Path: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
        /// Percent-encoded, as it was written: with or without a leading slash.
        var text = ""
        /// Percent-encoded, without its `?`.
        var query: String?
        /// What is wrong with the path, for the error that building a request throws.
        var flaw: String?

        /// A path from text that is known at run time, treated as literal text: its slashes and its `?a=b` count.
        ///
        /// For a value that must stay one segment, interpolate it.
        public init(_ text: String) {
            self.init(stringLiteral: text)
        }

        /// A path from a literal.
        public init(stringLiteral text: String) {
            var interpolation = StringInterpolation(path: self)
            interpolation.appendLiteral(text)
            self = interpolation.finished()
        }

        /// A path from a literal with values.
        public init(stringInterpolation: StringInterpolation) {
            self = stringInterpolation.finished()
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
        private var path: URLRequest.Path
        /// Where an empty value stands, as offsets in the UTF-8 of the text.
        private var emptyValues: [Int] = []
        /// Whether a dot or an escape was written: without one, no segment is made of dots.
        private var mayHoldDotSegment = false

        private static let plainText = PercentEncoding.path.refusing(".")
        private static let plainValue = PercentEncoding.unreserved.refusing(".")

        fileprivate init(path: URLRequest.Path) {
            self.path = path
        }

        /// Starts empty: text makes its own room, and short text needs none.
        public init(literalCapacity: Int, interpolationCount: Int) {
            path = URLRequest.Path()
        }

        /// Appends literal text.
        public mutating func appendLiteral(_ literal: String) {
            appendText(literal)
        }

        /// Appends a value as one segment, or a part of one.
        public mutating func appendInterpolation(_ value: String) {
            if value.isEmpty, path.query == nil { emptyValues.append(path.text.utf8.count) }
            if path.query == nil, value.needsNoEncoding(Self.plainValue) {
                path.text += value
            } else {
                append(value.percentEncoded(.unreserved))
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

        /// Appends text as if it were a part of the literal: it may hold slashes, `%XX` and a query.
        ///
        /// - Parameter text: Text that the caller vouches for. It cannot change the scheme, host or port either.
        public mutating func appendInterpolation(raw text: String) {
            appendText(text)
        }

        private mutating func appendText(_ text: String) {
            if path.query == nil, text.needsNoEncoding(Self.plainText) {
                path.text += text
            } else if path.query == nil, let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) {
                append(String(text[..<mark]).percentEncoded(.path))
                path.query = ""
                append(String(text[text.utf8.index(after: mark)...]).percentEncoded(.query))
            } else {
                append(text.percentEncoded(path.query == nil ? .path : .query))
            }
        }

        private mutating func append(_ encoded: String) {
            if path.query == nil {
                path.text += encoded
                mayHoldDotSegment = true
            } else {
                path.query? += encoded
            }
        }

        fileprivate consuming func finished() -> URLRequest.Path {
            if mayHoldDotSegment, let segment = path.text.split(separator: "/").first(where: \.isDotSegment) {
                path.flaw = "holds the segment '\(segment)', which would lead to another path"
            } else if emptyValues.contains(where: path.text.isEmptySegment(at:)) {
                path.flaw = "has an interpolated value that is empty, which would lead to another path"
            }
            // Last, because the offsets of the empty values count what goes here.
            if path.text.hasPrefix("//") {
                // Exactly one slash goes between base path and path; more would also start an authority.
                path.text = "/" + path.text.drop { $0 == "/" }
            }
            return path
        }
    }
}

extension String {
    /// Whether there is nothing between the slashes, or ends, around `offset` in the UTF-8.
    fileprivate func isEmptySegment(at offset: Int) -> Bool {
        let position = utf8.index(utf8.startIndex, offsetBy: offset)
        let startsSegment = position == utf8.startIndex || utf8[utf8.index(before: position)] == UInt8(ascii: "/")
        let endsSegment = position == utf8.endIndex || utf8[position] == UInt8(ascii: "/")
        return startsSegment && endsSegment
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
