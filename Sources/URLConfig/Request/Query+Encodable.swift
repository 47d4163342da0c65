extension URLRequest.Query {
    /// The properties of a model, sorted by name.
    ///
    /// The encoder's strategies apply. A property that is `nil` is left out, an array becomes a list. Anything else,
    /// such as a nested object, is refused (``RequestError/Code/invalidURL``).
    ///
    /// - Parameters:
    ///   - model: A value that encodes itself as an object of single values and of arrays of them.
    ///   - encoder: Encodes the model.
    public init(_ model: some Encodable, encoder: JSONEncoder = URLRequest.Config.defaultEncoder) {
        do {
            let properties = try JSONDecoder().decode([String: Property?].self, from: encoder.encode(model))
            items = properties.sorted { $0.key < $1.key }.compactMap { name, property in
                property.map { Item(name: name, text: $0.text) }
            }
        } catch {
            invalidReason = "cannot be filled from \(type(of: model)): \(error.summary)"
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
            // Decimal keeps all digits, of which Double has 17 at most; Double reaches where Decimal does not.
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
