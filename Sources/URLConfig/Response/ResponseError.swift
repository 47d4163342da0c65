/// An API's own error that keeps what it needs of the response it came in, such as the status or `Retry-After`.
///
/// ```swift
/// struct APIError: Decodable, ResponseError {
///     let message: String
///     private(set) var response: DataResponse?
///
///     private enum CodingKeys: CodingKey { case message }
///
///     mutating func take(from response: DataResponse) { self.response = response }
/// }
/// ```
///
/// The coding keys name only what is in the content.
public protocol ResponseError: Error {
    /// Takes what the error needs of the response.
    ///
    /// It is called once, after the error is decoded and before it is thrown.
    ///
    /// - Parameter response: The response, with its content.
    mutating func take(from response: DataResponse)
}
