extension URLRequest.Query {
    /// The properties of a model, sorted by name.
    ///
    /// The model is encoded as JSON first, so the encoder's strategies for keys, dates and data hold. A property that is
    /// `nil` is left out, an array becomes a list. What does not fit, such as a nested object, makes the request fail with
    /// ``RequestError/Code/invalidURL``.
    ///
    /// - Parameters:
    ///   - model: A value that encodes itself as an object of single values and of arrays of them.
    ///   - encoder: Encodes the model.
    public init(_ model: some Encodable, encoder: JSONEncoder = URLRequest.Config.defaultEncoder) {
        do {
            let properties = try JSONDecoder().decode([String: Property].self, from: encoder.encode(model))
            for (name, property) in properties.sorted(by: { $0.key < $1.key }) {
                if let text = property.text { items.append(Item(name: name, text: text)) }
            }
        } catch {
            invalidReason = "cannot be filled from \(type(of: model)): \(error.summary)"
        }
    }

    /// A property as JSON has it: text, a number, true, false, null or an array of these.
    private struct Property: Decodable {
        var text: Text?

        init(from decoder: any Decoder) throws {
            if var list = try? decoder.unkeyedContainer() {
                var texts: [String] = []
                while !list.isAtEnd {
                    if let scalar = try list.decode(Scalar.self).text { texts.append(scalar) }
                }
                text = .list(texts)
            } else {
                text = try Scalar(from: decoder).text.map(Text.one)
            }
        }
    }

    private struct Scalar: Decodable {
        var text: String?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() { return }
            if let value = try? container.decode(String.self) {
                text = value
            } else if let value = try? container.decode(Bool.self) {
                text = value.description
            } else if let value = try? container.decode(Decimal.self) {
                // Decimal keeps all digits, of which Double has 17 at most.
                text = value.description
            } else if let value = try? container.decode(Double.self) {
                // Double reaches where Decimal does not.
                text = value.description
            } else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "only text, numbers, true, false, null and arrays of these fit a query")
            }
        }
    }
}
