extension URLRequest.Query {
    /// The properties of a model, sorted by name.
    ///
    /// They are encoded when the request is built, with ``Foundation/URLRequest/Config/encoder``. Dates are in ISO 8601
    /// unless its strategy is another than `.deferredToDate`. A property that is `nil` is left out, an array becomes a
    /// list. Anything else, such as a nested object, is refused (``RequestError/Code/invalidURL``).
    ///
    /// - Parameter model: A value that is encoded as an object of single values and arrays of them.
    public init(_ model: some Encodable & Sendable) {
        append(contentsOf: model)
    }

    /// Adds the properties of a model, sorted by name; see ``init(_:)``.
    @_disfavoredOverload
    public mutating func append(contentsOf model: some Encodable & Sendable) {
        items.append(Item(name: nil, text: .encoded(model, [])))
    }

    /// This query, with models and dates as text.
    func resolved(_ encoder: @autoclosure () -> JSONEncoder) throws(Reason) -> Self {
        guard items.contains(where: \.text.isEncoded) else { return self }
        var (query, encoder) = (self, encoder())
        if case .deferredToDate = encoder.dateEncodingStrategy {
            // A subclass is not copied, and the caller's own object must not change.
            let copy = encoder.copy()
            if copy !== encoder { copy.dateEncodingStrategy = .iso8601 }
            encoder = copy
        }
        query.items = []
        for item in items {
            guard case .encoded(let model, _) = item.text else {
                query.items.append(item)
                continue
            }
            do {
                // The encoder's key strategy does not change the keys of a dictionary.
                let data = try item.name.map { try encoder.encode([$0: AnyEncodable(value: model)]) }
                let properties = try JSONDecoder().decode(
                    [String: Property?].self, from: data ?? encoder.encode(model))
                query.items += properties.sorted { $0.key < $1.key }.compactMap { name, property in
                    property.map { Item(name: name, text: $0.text) }
                }
            } catch {
                throw Reason("cannot be filled from \(type(of: model)): \(error.summary)")
            }
        }
        return query
    }

    private struct AnyEncodable: Encodable {
        let value: any Encodable

        func encode(to encoder: any Encoder) throws {
            // The encoder's strategy for dates applies only to what is encoded in a container.
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    private struct Property: Decodable {
        let text: Text

        init(from decoder: any Decoder) throws {
            if let list = try? [Scalar?](from: decoder) {
                text = .list(list.compactMap(\.?.text))
            } else {
                text = .one(try Scalar(from: decoder).text)
            }
        }
    }

    private struct Scalar: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            // Decimal keeps every digit, of which Double has 17 at most. Double has the larger range.
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
