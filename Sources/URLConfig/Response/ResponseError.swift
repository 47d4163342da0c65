/// An API's own error that needs more of its response than the content, such as the status or `Retry-After`.
///
/// ```swift
/// struct APIError: Decodable, ResponseError {
///     let message: String
///     private(set) var response: DataResponse?
///
///     private enum CodingKeys: CodingKey { case message }     // only what is in the content
///
///     mutating func take(from response: DataResponse) { self.response = response }
/// }
/// ```
public protocol ResponseError: Error {
    /// Takes what the error needs from the response.
    ///
    /// This is called once, after the error is decoded and before it is thrown.
    mutating func take(from response: DataResponse)
}
