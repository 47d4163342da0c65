extension URLRequest {
    /// Query items, in order.
    ///
    /// ```swift
    /// $0.query["query"] = "APL"
    /// $0.query["page"] = 2
    /// $0.query["ids"] = [1, 2]
    /// $0.query["gone"] = nil
    /// $0.query.append(contentsOf: Query(filter))        // any Encodable model
    /// ```
    ///
    /// All but the unreserved characters is percent-encoded (RFC 3986 §2.3): a space is `%20`.
    public struct Query: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        /// The text of a query item, not yet encoded.
        public enum Text: Sendable, Hashable {
            /// One value.
            case one(String)
            /// Several values under one name, written as ``Query/arrayStyle`` says.
            case list([String])

            var values: [String] {
                switch self {
                case .one(let value): [value]
                case .list(let values): values
                }
            }
        }

        /// How several values under one name are written.
        public enum ArrayStyle: Sendable, Hashable {
            /// `ids=1&ids=2`
            case repeatedKey
            /// `ids[]=1&ids[]=2`, the brackets percent-encoded.
            case brackets
            /// `ids=1,2`
            case comma
        }

        struct Item: Sendable, Hashable {
            var name: String
            var text: Text
        }

        var items: [Item] = []
        var invalidReason: String?

        /// How a list of values is written; by default ``ArrayStyle/repeatedKey``.
        public var arrayStyle = ArrayStyle.repeatedKey
        /// Whether there are no items.
        public var isEmpty: Bool { items.isEmpty }

        /// An empty query.
        public init() {}

        /// Items in the order of the literal; one that is `nil` is left out.
        public init(dictionaryLiteral elements: (String, (any QueryValue)?)...) {
            for case (let name, let value?) in elements { append(name, value) }
        }

        /// The first value under a name.
        ///
        /// Setting one replaces all under that name, in place; `nil` removes them.
        public subscript(name: String) -> String? {
            get { items.first { $0.name == name }?.text.values.first }
            set { set(name, newValue?.queryText) }
        }

        /// Sets a value of any kind under a name, in place of all that were there; `nil` removes them.
        @_disfavoredOverload
        public subscript(name: String) -> (any QueryValue)? {
            get { self[name] as String? }
            set { set(name, newValue?.queryText) }
        }

        /// Adds a value, whether or not the name is there already.
        public mutating func append(_ name: String, _ value: some QueryValue) {
            items.append(Item(name: name, text: value.queryText))
        }

        /// Adds the items of another query.
        public mutating func append(contentsOf other: Query) {
            items.append(contentsOf: other.items)
            invalidReason = invalidReason ?? other.invalidReason
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
    /// The items as `application/x-www-form-urlencoded` (WHATWG URL): a space is `+`.
    var formEncoded: String {
        ByteWriter.text(capacity: capacity) { write(to: &$0, encoding: .form) }.replacing(" ", with: "+")
    }

    /// The most bytes that the items take, encoded: three for one, and the delimiters.
    var capacity: Int {
        items.reduce(0) { total, item in
            switch item.text {
            case .one(let text): total + 3 * (item.name.utf8.count + text.utf8.count) + 2
            case .list(let texts): texts.reduce(total) { $0 + 3 * (item.name.utf8.count + $1.utf8.count) + 8 }
            }
        }
    }

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
            switch item.text {
            case .one(let value):
                write(item.name, value)
            case .list(let values) where arrayStyle == .comma:
                guard let first = values.first else { continue }
                write(item.name, first)
                for value in values.dropFirst() {
                    writer.write(UInt8(ascii: ","))
                    writer.write(value, encoding: encoding)
                }
            case .list(let values):
                let name = arrayStyle == .brackets ? item.name + "[]" : item.name
                for value in values { write(name, value) }
            }
        }
    }
}
