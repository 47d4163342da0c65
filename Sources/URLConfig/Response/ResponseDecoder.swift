/// Reads a model from bytes, as Foundation's decoders do.
///
/// ```swift
/// struct XMLResponseDecoder: ResponseDecoder {
///     func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
///         try XMLDecoder().decode(type, from: data)
///     }
/// }
/// ```
public protocol ResponseDecoder: Sendable {
    /// A model from bytes.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - data: The bytes.
    func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model
}

extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}
