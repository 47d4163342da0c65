extension JSONEncoder {
    /// A new encoder with the same options; a subclass, whose options are unknown, is returned itself.
    func copy() -> JSONEncoder {
        copied(
            self, to: JSONEncoder(), \.outputFormatting, \.dateEncodingStrategy, \.dataEncodingStrategy,
            \.nonConformingFloatEncodingStrategy, \.keyEncodingStrategy, \.userInfo)
    }

    /// A copy that writes dates in ISO 8601, unless it has a strategy other than `.deferredToDate`.
    ///
    /// It refuses dates outside the years 1 to 9999, for which Foundation writes other ones.
    var forText: JSONEncoder {
        let encoder = copy()
        // A subclass is not copied, and the caller's own object must not change.
        if encoder !== self, case .deferredToDate = encoder.dateEncodingStrategy {
            encoder.dateEncodingStrategy = .custom { date, encoder in
                guard date.httpDate != nil else {
                    let words = "a date must be in the years 1 to 9999"
                    throw EncodingError.invalidValue(
                        date, .init(codingPath: encoder.codingPath, debugDescription: words))
                }
                var value = encoder.singleValueContainer()
                try value.encode(date.formatted(.iso8601))
            }
        }
        return encoder
    }
}

extension ResponseDecoder {
    /// A `JSONDecoder` with the same options; any other decoder itself.
    func copy() -> any ResponseDecoder {
        guard let decoder = self as? JSONDecoder else { return self }
        return copied(
            decoder, to: JSONDecoder(), \.dateDecodingStrategy, \.dataDecodingStrategy,
            \.nonConformingFloatDecodingStrategy, \.keyDecodingStrategy, \.userInfo, \.allowsJSON5,
            \.assumesTopLevelDictionary)
    }
}

/// A coder with the same properties; the original itself if it is of a subclass.
private func copied<Coder: AnyObject, each Value>(
    _ original: Coder, to copy: Coder, _ properties: repeat ReferenceWritableKeyPath<Coder, each Value>
) -> Coder {
    guard type(of: original) == Coder.self else { return original }
    func set<Property>(_ property: ReferenceWritableKeyPath<Coder, Property>) {
        copy[keyPath: property] = original[keyPath: property]
    }
    repeat set(each properties)
    return copy
}
