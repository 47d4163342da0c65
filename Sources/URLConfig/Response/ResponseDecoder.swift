/// Decodes models, as Foundation's decoders do.
///
/// ```swift
/// struct XMLResponseDecoder: ResponseDecoder {
///     func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
///         try XMLDecoder().decode(type, from: data)
///     }
/// }
/// ```
public protocol ResponseDecoder: Sendable {
    /// Decodes a model from the content of a response.
    func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model
}

extension ResponseDecoder {
    /// A `JSONDecoder` with the same options; any other decoder itself.
    func copy() -> any ResponseDecoder {
        guard type(of: self) == JSONDecoder.self, let decoder = self as? JSONDecoder else { return self }
        let copy = JSONDecoder()
        copy.dateDecodingStrategy = decoder.dateDecodingStrategy
        copy.dataDecodingStrategy = decoder.dataDecodingStrategy
        copy.nonConformingFloatDecodingStrategy = decoder.nonConformingFloatDecodingStrategy
        copy.keyDecodingStrategy = decoder.keyDecodingStrategy
        copy.userInfo = decoder.userInfo
        copy.allowsJSON5 = decoder.allowsJSON5
        copy.assumesTopLevelDictionary = decoder.assumesTopLevelDictionary
        return copy
    }
}

extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}
