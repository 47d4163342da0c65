extension URLRequest {
    /// Query items, in order.
    ///
    /// ```swift
    /// $0.query["query"] = "APL"
    /// $0.query["page"] = 2
    /// $0.query["ids"] = [1, 2]
    /// $0.query["gone"] = nil
    /// $0.query["since"] = date                          // ISO 8601 unless the encoder's strategy is another
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

        struct Item: Sendable {
            /// `nil` for the properties of a model.
            var name: String?
            /// The value, not yet percent-encoded.
            var text = ""
            /// The values of an array, used instead of `text`.
            var list: [String]?
            /// Gives what replaces the item when the request is built: models and dates depend on the encoder.
            var encoded: (@Sendable (JSONEncoder) throws(Reason) -> [Item])?

            var values: [String] { list ?? [text] }
        }

        var items: [Item] = []

        /// How an array is written; by default ``ArrayStyle/repeatedKey``.
        public var arrayStyle = ArrayStyle.repeatedKey

        /// An empty query.
        public init() {}

        /// Items in the order of the literal; `nil` leaves an item out.
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

        /// Adds a value after those that the name has.
        public mutating func append(_ name: String, _ value: some QueryValue) { items.append(value.item(name)) }

        /// Adds the items of another query.
        public mutating func append(contentsOf other: Query) { items += other.items }

        private mutating func set(_ name: String, _ item: consuming Item?) {
            guard let item else { return items.removeAll { $0.name == name } }
            guard let first = items.firstIndex(where: { $0.name == name }) else {
                if items.isEmpty { items.reserveCapacity(4) }
                return items.append(item)
            }
            items[first] = item
            items[(first + 1)...].removeAll { $0.name == name }
        }
    }
}

extension URLRequest.Query {
    /// The items as `application/x-www-form-urlencoded` (WHATWG URL), where a space is `+`.
    var formEncoded: String {
        let text = ByteWriter.text(capacity: capacity) { write(to: &$0, after: UInt8(ascii: "&"), encoding: .form) }
        return String(text.dropFirst()).replacing(" ", with: "+")
    }

    /// The most bytes that the items take: three for each byte, and the delimiters.
    var capacity: Int {
        items.reduce(0) { total, item in
            let name = item.name?.utf8.count ?? 0
            guard let list = item.list else { return total + 3 * (name + item.text.utf8.count) + 2 }
            return list.reduce(total) { $0 + 3 * (name + $1.utf8.count) + 8 }
        }
    }

    /// Writes the items of a query that is resolved.
    ///
    /// - Parameter separator: Written before the first item, if there is one; `&` before each other item.
    func write(to writer: inout ByteWriter, after separator: UInt8, encoding: PercentEncoding) {
        var separator = separator
        func write(_ name: String, _ value: String) {
            writer.write(separator)
            separator = UInt8(ascii: "&")
            writer.write(name, encoding: encoding)
            writer.write(UInt8(ascii: "="))
            writer.write(value, encoding: encoding)
        }
        for item in items {
            guard let name = item.name else { continue }
            guard let list = item.list else {
                write(name, item.text)
                continue
            }
            for (index, value) in list.enumerated() {
                if arrayStyle == .comma, index > 0 {
                    writer.write(UInt8(ascii: ","))
                    writer.write(value, encoding: encoding)
                } else {
                    write(arrayStyle == .brackets ? name + "[]" : name, value)
                }
            }
        }
    }
}
