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

extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}
