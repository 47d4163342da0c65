extension URLRequest.Query {
    /// The properties of a model, sorted by name.
    ///
    /// They are encoded when the request is built, with ``Foundation/URLRequest/Config/encoder``. Dates are in ISO 8601
    /// unless its strategy is another than `.deferredToDate`. A property that is `nil` is left out, an array becomes a
    /// list. Anything else, such as a nested object, is refused (``RequestError/Code/invalidURL``).
    ///
    /// - Parameter model: A value that is encoded as an object of single values and arrays of them.
    public init(_ model: some Encodable & Sendable) { append(contentsOf: model) }

    /// Adds the properties of a model, sorted by name; see ``init(_:)``.
    @_disfavoredOverload
    public mutating func append(contentsOf model: some Encodable & Sendable) {
        items.append(Item())
        items[items.count - 1].encode(model)
    }

    /// This query, with models and dates as text.
    func resolved(_ encoder: @autoclosure () -> JSONEncoder) throws(Reason) -> Self {
        guard items.contains(where: { $0.encoded != nil }) else { return self }
        let original = encoder()
        let encoder = original.copy()
        // A subclass is not copied, and the caller's own object must not change.
        if encoder !== original, case .deferredToDate = encoder.dateEncodingStrategy {
            encoder.dateEncodingStrategy = .iso8601
        }
        var query = self
        query.items = []
        for item in items { query.items += try item.encoded?(encoder) ?? [item] }
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

extension URLRequest.Query.Item {
    /// Encodes a model, or the value of a name, when the request is built.
    mutating func encode(_ model: some Encodable & Sendable) {
        encoded = { [name] encoder throws(Reason) in
            do {
                // The encoder's key strategy does not change the keys of a dictionary.
                let data = try name.map { try encoder.encode([$0: RequestBody.JSON(model)]) } ?? encoder.encode(model)
                let properties = try JSONDecoder().decode([String: URLRequest.Query.Property?].self, from: data)
                return properties.sortedByName().compactMap { name, property in
                    property.map { Self(name: name, text: $0.text, list: $0.list) }
                }
            } catch {
                throw Reason("cannot be filled from \(type(of: model)): \(error.summary)")
            }
        }
    }
}
