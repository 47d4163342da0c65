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
    /// Decodes a model.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - data: The content.
    func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model
}

extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}
