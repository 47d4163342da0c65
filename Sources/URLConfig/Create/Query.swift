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
                ($0, URLSession.Config.default.redaction.masked(item: $0, item.values.joined(separator: ",")))
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
            // Without an array for the only value of most items.
            guard let list = item.list else {
                bytes.append(item: name, item.text, after: separator, encoding)
                separator = UInt8(ascii: "&")
                continue
            }
            for (index, value) in list.enumerated() {
                if arrayStyle == .comma, index > 0 {
                    bytes.append(UInt8(ascii: ","))
                    bytes.append(value, encoding: encoding)
                } else {
                    bytes.append(item: arrayStyle == .brackets ? name + "[]" : name, value, after: separator, encoding)
                    separator = UInt8(ascii: "&")
                }
            }
        }
    }

    /// Adds the properties of a model, sorted by name.
    ///
    /// They are encoded when the request is built, with ``Foundation/URLRequest/Config/encoder``. Dates are written in
    /// ISO 8601, in the years 1 to 9999, unless it has a strategy other than `.deferredToDate`. A property that is
    /// `nil` is left out, and an array becomes a list. Anything else, such as a nested object, is refused
    /// (``RequestError/Code/invalidURL``).
    ///
    /// - Parameter model: A value that is encoded as an object of single values and arrays of them.
    @_disfavoredOverload
    public mutating func append(contentsOf model: some Encodable & Sendable) {
        var item = Item()
        item.encode(model)
        append(item)
    }

    /// The items, without those that come unchanged from a preset.
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

extension [UInt8] {
    fileprivate mutating func append(
        item name: String, _ value: String, after separator: UInt8, _ encoding: PercentEncoding
    ) {
        append(separator)
        append(name, encoding: encoding)
        append(UInt8(ascii: "="))
        append(value, encoding: encoding)
    }
}
