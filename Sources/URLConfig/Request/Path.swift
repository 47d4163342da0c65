extension URLRequest {
    /// The path of a request, joined to the base path of ``Config/host``.
    ///
    /// ```swift
    /// $0.path = "/users/\(userID)/article"
    /// ```
    ///
    /// Literal text keeps its slashes and valid escapes (`%XX`), and its `?a=b` joins the query. Characters that a path
    /// cannot contain are percent-encoded (RFC 3986 §3.3). A value is one segment, or a part of one: every character but
    /// the unreserved ones is percent-encoded. A path never changes scheme, host or port.
    ///
    /// Refused (``RequestError/Code/invalidURL``) are the segments `.` and `..`, also percent-encoded, and an empty
    /// value that leaves its segment empty.
    public struct Path: Sendable, Hashable, ExpressibleByStringInterpolation, CustomStringConvertible {
        private(set) var text: String
        private(set) var query: String?
        private(set) var invalidReason: String?

        /// A path from text that is known at run time.
        ///
        /// - Parameter text: Treated as literal text. Interpolate a value that must stay one segment.
        public init(_ text: String) {
            self = "\(raw: text)"
        }

        /// A path from a literal.
        public init(stringLiteral text: String) {
            self.init(text)
        }

        /// A path from a literal with values.
        public init(stringInterpolation: StringInterpolation) {
            text = stringInterpolation.text
            if !stringInterpolation.isPlain { splitAndCheck() }
            if text.hasPrefix("//") {
                // One slash separates base path and path. Two would start an authority.
                text = "/" + text.drop { $0 == "/" }
            }
        }

        private mutating func splitAndCheck() {
            // The first question mark is from a literal: those of values are percent-encoded.
            if let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) {
                query = text[mark...].dropFirst().filter { $0 != "\0" }
                text = String(text[..<mark])
            }
            for segment in text.split(separator: "/") {
                let segment = segment.filter { $0 != "\0" }
                if segment.isEmpty {
                    invalidReason = "has an interpolated value that is empty, which would lead to another path"
                } else if segment.isDotSegment {
                    invalidReason = "contains the segment '\(segment)', which would lead to another path"
                }
            }
            text.removeAll { $0 == "\0" }
        }

        /// The path, percent-encoded, and its query if it has one.
        public var description: String {
            query.map { text + "?" + $0 } ?? text
        }
    }
}

extension URLRequest.Path {
    /// Collects the literals and the values of a path.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        /// Percent-encoded, with the query; an empty value is a NUL, which no encoded text contains.
        fileprivate var text = ""
        /// Whether there is no query, no segment of dots and no empty value.
        fileprivate var isPlain = true

        /// An empty interpolation.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends literal text.
        public mutating func appendLiteral(_ literal: String) {
            append(literal, plain: .plainPath, .pathAndQuery)
        }

        /// Appends a value's description as one segment, or a part of one; of a `Date`, its ISO 8601 text.
        @inlinable
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            append(value: value.textInURL)
        }

        /// Appends a raw value as one segment, or a part of one.
        @_disfavoredOverload
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: CustomStringConvertible {
            append(value: value.rawValue.textInURL)
        }

        @usableFromInline
        mutating func append(value: String) {
            append(value, plain: .plainSegment, .unreserved)
            if value.isEmpty {
                text += "\0"
                isPlain = false
            }
        }

        /// Appends text as a part of the literal: it may contain slashes, `%XX` and a query.
        ///
        /// - Parameter text: Text that the caller trusts.
        public mutating func appendInterpolation(raw text: String) {
            appendLiteral(text)
        }

        private mutating func append(_ piece: String, plain: PercentEncoding, _ encoding: PercentEncoding) {
            let isPlain = piece.needsNoEncoding(plain)
            text += isPlain ? piece : piece.percentEncoded(encoding)
            if !isPlain { self.isPlain = false }
        }
    }
}

extension String {
    fileprivate var isDotSegment: Bool {
        var decoded: [UInt8] = []
        for byte in utf8 {
            decoded.append(byte)
            // A decoded byte may complete another escape: `%%32e` and `%252e` become `%2e`, a dot.
            while decoded.count > 2, decoded[decoded.count - 3] == UInt8(ascii: "%"),
                let value = UInt8(String(decoding: decoded.suffix(2), as: UTF8.self), radix: 16)
            {
                decoded.removeLast(3)
                decoded.append(value)
            }
        }
        return [".", ".."].contains { decoded.elementsEqual($0.utf8) }
    }
}
