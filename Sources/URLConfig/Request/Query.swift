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

        /// The text of an item, not yet percent-encoded.
        enum Text: Sendable {
            case one(String)
            case list([String])
            /// A value that is encoded when the request is built, and its texts until then.
            indirect case encoded(any Encodable & Sendable, [String])

            var values: [String] {
                switch self {
                case .one(let value): [value]
                case .list(let values), .encoded(_, let values): values
                }
            }

            var isEncoded: Bool {
                if case .encoded = self { true } else { false }
            }
        }

        struct Item: Sendable {
            /// `nil` for the properties of a model.
            var name: String?
            var text: Text
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
            get { items.first { $0.name == name }?.text.values.first }
            set { set(name, newValue.map(Text.one)) }
        }

        /// Sets a value of any type, in place of every value of the name, or removes them with `nil`.
        @_disfavoredOverload
        public subscript(name: String) -> (any QueryValue)? {
            get { self[name] as String? }
            set { set(name, newValue?.queryText) }
        }

        /// Adds a value after those that the name has.
        public mutating func append(_ name: String, _ value: some QueryValue) {
            items.append(Item(name: name, text: value.queryText))
        }

        /// Adds the items of another query.
        public mutating func append(contentsOf other: Query) {
            items.append(contentsOf: other.items)
        }

        private mutating func set(_ name: String, _ text: Text?) {
            guard let first = items.firstIndex(where: { $0.name == name }) else {
                guard let text else { return }
                if items.isEmpty { items.reserveCapacity(4) }
                return items.append(Item(name: name, text: text))
            }
            if let text { items[first].text = text }
            items[(text == nil ? first : first + 1)...].removeAll { $0.name == name }
        }
    }
}

extension URLRequest.Query {
    /// The items as `application/x-www-form-urlencoded` (WHATWG URL), where a space is `+`.
    var formEncoded: String {
        ByteWriter.text(capacity: capacity) { write(to: &$0, encoding: .form) }.replacing(" ", with: "+")
    }

    /// The most bytes that the items take: three for each byte, and the delimiters.
    var capacity: Int {
        items.reduce(0) { total, item in
            let name = item.name?.utf8.count ?? 0
            return switch item.text {
            case .one(let text): total + 3 * (name + text.utf8.count) + 2
            case .list(let texts), .encoded(_, let texts): texts.reduce(total) { $0 + 3 * (name + $1.utf8.count) + 8 }
            }
        }
    }

    /// Writes the items of a query that is resolved.
    ///
    /// - Parameter start: Written before the first item, if there is one.
    func write(to writer: inout ByteWriter, after start: UInt8? = nil, encoding: PercentEncoding) {
        var separator = start
        func write(_ name: String, _ value: String) {
            if let separator { writer.write(separator) }
            separator = UInt8(ascii: "&")
            writer.write(name, encoding: encoding)
            writer.write(UInt8(ascii: "="))
            writer.write(value, encoding: encoding)
        }
        for item in items {
            guard let name = item.name else { continue }
            switch item.text {
            case .one(let value):
                write(name, value)
            case .list(let values) where arrayStyle == .comma, .encoded(_, let values) where arrayStyle == .comma:
                guard let first = values.first else { continue }
                write(name, first)
                for value in values.dropFirst() {
                    writer.write(UInt8(ascii: ","))
                    writer.write(value, encoding: encoding)
                }
            case .list(let values), .encoded(_, let values):
                for value in values { write(arrayStyle == .brackets ? name + "[]" : name, value) }
            }
        }
    }
}
