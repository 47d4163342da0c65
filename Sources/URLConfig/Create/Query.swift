extension URLRequest {
    /// Query items, in order.
    ///
    /// ```swift
    /// $0.query["query"] = "APL"
    /// $0.query["page"] = 2
    /// $0.query["ids"] = [1, 2]
    /// $0.query["gone"] = nil
    /// $0.query["since"] = date                          // ISO 8601, unless the encoder has another strategy
    /// $0.query.append(contentsOf: filter)               // any Encodable model
    /// ```
    ///
    /// Every character but the unreserved ones is percent-encoded (RFC 3986 §2.3): a space is `%20`.
    public struct Query: Sendable, ExpressibleByDictionaryLiteral {
        /// How several values with one name are written.
        public enum ArrayStyle: Sendable {
            /// `ids=1&ids=2`
            case repeatedKey
            /// `ids[]=1&ids[]=2`, the brackets percent-encoded.
            case brackets
            /// `ids=1,2`
            case comma
        }

        struct Item: Sendable, Hashable {
            /// `nil` for the properties of a model.
            var name: String?
            /// The value, not yet percent-encoded.
            var text = ""
            /// The values of an array, used instead of `text`.
            var list: [String]?
            /// Gives what replaces the item when the request is built: models and dates depend on the encoder.
            var encoded: Encoded?
            /// The ``Query/generation`` in which it was set: an item that is set again is another one.
            var generation = 0

            var ofNoGeneration: Self { Self(name: name, text: text, list: list, encoded: encoded) }
            var values: [String] { list ?? [text] }
        }

        /// A class, so that an item that a closure has not changed stays equal.
        final class Encoded: Sendable, Hashable {
            let items: @Sendable (JSONEncoder) throws(InvalidInput) -> [Item]

            init(_ items: @escaping @Sendable (JSONEncoder) throws(InvalidInput) -> [Item]) {
                self.items = items
            }

            static func == (left: Encoded, right: Encoded) -> Bool { left === right }
            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
        }

        var items: [Item] = []
        /// The number of closures that have changed the configuration; 0 for a query that is made by itself.
        var generation = 0

        /// How an array is written; by default ``ArrayStyle/repeatedKey``.
        public var arrayStyle = ArrayStyle.repeatedKey

        /// Items in the order of the literal, such as `[:]` for none; `nil` leaves an item out.
        public init(dictionaryLiteral elements: (String, (any QueryValue)?)...) {
            for case (let name, let value?) in elements { append(name, value) }
        }

        /// The first value of a name, without the properties of models.
        ///
        /// Setting it replaces every value of the name; `nil` removes them.
        public subscript(name: String) -> String? {
            get { items.first { $0.name == name }?.values.first }
            set { set(name, newValue.map { Item(name: name, text: $0) }) }
        }

        /// Sets a value of any type, in place of every value of the name, or removes them with `nil`.
        @_disfavoredOverload
        public subscript(name: String) -> (any QueryValue)? {
            get { self[name] as String? }
            set { set(name, newValue?.item(name)) }
        }

        /// Adds a value after the values that the name already has.
        public mutating func append(_ name: String, _ value: some QueryValue) { append(value.item(name)) }

        /// Adds the items of another query.
        public mutating func append(contentsOf other: Query) {
            for item in other.items { append(item) }
        }

        private mutating func append(_ item: consuming Item) {
            items.append(item)
            // In its place: to change it before would copy it.
            items[items.count - 1].generation = generation
        }

        private mutating func set(_ name: String, _ item: consuming Item?) {
            guard let item else { return items.removeAll { $0.name == name } }
            guard let first = items.firstIndex(where: { $0.name == name }) else {
                if items.isEmpty { items.reserveCapacity(4) }
                return append(item)
            }
            items[first] = item
            items[first].generation = generation
            items[(first + 1)...].removeAll { $0.name == name }
        }
    }
}

extension URLRequest.Query: RedactedReflectable {
    /// The names and the values, but not of models; secrets are hidden.
    var shownChildren: [(String, Any?)] {
        items.compactMap { item in
            item.name.map {
                ($0, URLSession.Config.default.redaction.masked(field: $0, item.values.joined(separator: ",")))
            }
        }
    }
}

extension URLRequest.Query {
    /// The items as `application/x-www-form-urlencoded` (WHATWG URL), where a space is `+`.
    var formEncoded: String {
        var bytes: [UInt8] = []
        write(to: &bytes, after: UInt8(ascii: "&"), encoding: .form)
        return String(decoding: bytes.dropFirst().map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }, as: UTF8.self)
    }

    /// Writes the items of a query that is resolved.
    ///
    /// - Parameter separator: Written before the first item, if there is one; `&` before each other item.
    func write(to bytes: inout [UInt8], after separator: UInt8, encoding: PercentEncoding) {
        var separator = separator
        for item in items {
            guard let name = item.name else { continue }
            for (index, value) in item.values.enumerated() {
                if arrayStyle == .comma, index > 0 {
                    bytes.append(UInt8(ascii: ","))
                } else {
                    bytes.append(separator)
                    bytes.append(arrayStyle == .brackets && item.list != nil ? name + "[]" : name, encoding: encoding)
                    bytes.append(UInt8(ascii: "="))
                    separator = UInt8(ascii: "&")
                }
                bytes.append(value, encoding: encoding)
            }
        }
    }

    /// Adds the properties of a model, sorted by name.
    ///
    /// They are encoded when the request is built, with ``Foundation/URLRequest/Config/encoder``. Dates are written in
    /// ISO 8601, unless it has a strategy other than `.deferredToDate`. A property that is `nil` is left out, and an
    /// array becomes a list. Anything else, such as a nested object, is refused (``RequestError/Code/invalidURL``).
    ///
    /// - Parameter model: A value that is encoded as an object of single values and arrays of them.
    @_disfavoredOverload
    public mutating func append(contentsOf model: some Encodable & Sendable) {
        var item = Item()
        item.encode(model)
        append(item)
    }

    /// The items, without those of a preset that no closure has set again.
    func items(notIn preset: Set<Item>) -> [Item] {
        // A query that a closure has made is its own.
        generation == 0 ? items : items.filter { !preset.contains($0) }
    }

    /// This query, with models and dates as text.
    func resolved(_ encoder: @autoclosure () -> JSONEncoder) throws(InvalidInput) -> Self {
        guard items.contains(where: { $0.encoded != nil }) else { return self }
        let encoder = encoder().forText
        var query = self
        query.items = []
        for item in items { query.items += try item.resolved(encoder) }
        return query
    }

    fileprivate struct Property: Decodable {
        var text = ""
        var list: [String]?

        init(from decoder: any Decoder) throws {
            if let list = try? [Scalar?](from: decoder) {
                self.list = list.compactMap(\.?.text)
            } else {
                text = try Scalar(from: decoder).text
            }
        }
    }

    private struct Scalar: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            // Decimal keeps every digit, Double at most 17. Double has the larger range.
            let text =
                (try? value.decode(String.self)) ?? (try? value.decode(Bool.self))?.description
                ?? (try? value.decode(Decimal.self))?.description ?? (try? value.decode(Double.self))?.description
            guard let text else {
                throw DecodingError.dataCorruptedError(
                    in: value,
                    debugDescription: "only text, numbers, true, false, null and arrays of these fit a query")
            }
            self.text = text
        }
    }
}

extension URLRequest.Query.Item {
    /// The items that stand for this one.
    func resolved(_ encoder: JSONEncoder) throws(InvalidInput) -> [Self] { try encoded?.items(encoder) ?? [self] }

    /// Encodes a model, or the value of a name, when the request is built.
    mutating func encode(_ model: some Encodable & Sendable) {
        encoded = .init { [name] encoder throws(InvalidInput) in
            do {
                // The encoder's key strategy does not change the keys of a dictionary.
                let data = try name.map { try encoder.encode([$0: model]) } ?? encoder.encode(model)
                let properties = try JSONDecoder().decode([String: URLRequest.Query.Property?].self, from: data)
                return properties.sorted { $0.key < $1.key }.compactMap { name, property in
                    property.map { Self(name: name, text: $0.text, list: $0.list) }
                }
            } catch {
                throw InvalidInput("cannot be filled from \(type(of: model)): \(error.summary)")
            }
        }
    }
}

/// A value of a query item or a form field, written as its raw value, or else as its description.
///
/// An enum with raw values only declares its conformance.
///
/// ```swift
/// enum Sorting: String, QueryValue { case newest, oldest }
/// $0.query["sort"] = Sorting.newest
/// ```
public protocol QueryValue: CustomStringConvertible, Sendable {}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The raw value.
    public var description: String { rawValue.textInURL }
}

extension QueryValue {
    func item(_ name: String) -> URLRequest.Query.Item {
        // The most common types first: a cast takes as long as the rest of this function.
        if Self.self == Int.self || Self.self == String.self { return .init(name: name, text: description) }
        if let raw = (self as? any RawRepresentable)?.rawValue as? any QueryValue { return raw.item(name) }
        guard let list = self as? [any QueryValue] else {
            var item = URLRequest.Query.Item(name: name, text: textInURL)
            if let date = self as? Date { item.encode(date) }
            // As in JSON, where the encoder refuses it or has a text for it.
            if let number = self as? any BinaryFloatingPoint, !number.isFinite { item.encode(Double(number)) }
            if (self as? Decimal)?.isNaN == true { item.encode(Double.nan) }
            return item
        }
        let items = list.map { $0.item(name) }
        var item = URLRequest.Query.Item(name: name, list: items.flatMap(\.values))
        guard items.contains(where: { $0.encoded != nil }) else { return item }
        item.encoded = .init { encoder throws(InvalidInput) in
            var values: [String] = []
            for item in items { values += try item.resolved(encoder).flatMap(\.values) }
            return [.init(name: name, list: values)]
        }
        return item
    }
}

extension CustomStringConvertible {
    /// A date in ISO 8601, a URL as absolute, anything else as its description.
    @inlinable var textInURL: String {
        switch self {
        case let date as Date: date.formatted(.iso8601)
        case let url as URL: url.absoluteString
        default: description
        }
    }
}

extension Array: QueryValue where Element: QueryValue {}
extension String: QueryValue, RequestBody.JSON {}
extension Substring: QueryValue {}
extension Bool: QueryValue, RequestBody.JSON {}
extension Int: QueryValue, RequestBody.JSON {}
extension Int8: QueryValue, RequestBody.JSON {}
extension Int16: QueryValue, RequestBody.JSON {}
extension Int32: QueryValue, RequestBody.JSON {}
extension Int64: QueryValue, RequestBody.JSON {}
extension UInt: QueryValue, RequestBody.JSON {}
extension UInt8: QueryValue, RequestBody.JSON {}
extension UInt16: QueryValue, RequestBody.JSON {}
extension UInt32: QueryValue, RequestBody.JSON {}
extension UInt64: QueryValue, RequestBody.JSON {}
extension Double: QueryValue, RequestBody.JSON {}
extension Float: QueryValue, RequestBody.JSON {}
extension Decimal: QueryValue, RequestBody.JSON {}
extension UUID: QueryValue, RequestBody.JSON {}
extension URL: QueryValue, RequestBody.JSON {}
extension Date: QueryValue, RequestBody.JSON {}
