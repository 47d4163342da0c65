extension URLRequest.Query {
    /// The properties of a model, sorted by name.
    ///
    /// The model is encoded as JSON first, so the encoder's strategies for keys, dates and data apply. A property that
    /// is `nil` is left out, an array becomes a list. With anything else, such as a nested object, building the request
    /// throws ``RequestError/Code/invalidURL``.
    ///
    /// - Parameters:
    ///   - model: A value that encodes itself as an object of single values and of arrays of them.
    ///   - encoder: Encodes the model.
    public init(_ model: some Encodable, encoder: JSONEncoder = URLRequest.Config.defaultEncoder) {
        do {
            let properties = try JSONDecoder().decode([String: Property].self, from: encoder.encode(model))
            items = properties.sorted { $0.key < $1.key }.compactMap { name, property in
                property.text.map { Item(name: name, text: $0) }
            }
        } catch {
            invalidReason = "cannot be filled from \(type(of: model)): \(error.summary)"
        }
    }

    /// A property as JSON has it: text, a number, true, false, null or an array of these.
    private struct Property: Decodable {
        let text: Text?

        init(from decoder: any Decoder) throws {
            if (try? decoder.unkeyedContainer()) != nil {
                text = .list(try [Scalar](from: decoder).compactMap(\.text))
            } else {
                text = try Scalar(from: decoder).text.map(Text.one)
            }
        }
    }

    private struct Scalar: Decodable {
        let text: String?

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            // Decimal keeps all digits, of which Double has 17 at most; Double reaches where Decimal does not.
            text =
                (try? value.decode(String.self)) ?? (try? value.decode(Bool.self))?.description
                ?? (try? value.decode(Decimal.self))?.description ?? (try? value.decode(Double.self))?.description
            guard text != nil || value.decodeNil() else {
                throw DecodingError.dataCorruptedError(
                    in: value,
                    debugDescription: "only text, numbers, true, false, null and arrays of these fit a query")
            }
        }
    }
}
