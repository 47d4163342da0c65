extension DataResponse {
    /// This response, if its status is accepted.
    ///
    /// - Parameter accepted: The accepted statuses, such as `[.ok, .notFound]` or `[200, 404]`; by default all 2xx.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unacceptableStatus`` and the whole response.
    @discardableResult
    public func validated(status accepted: Set<HTTPResponse.Status>? = nil) throws -> Self {
        if accepted?.contains(status) ?? isSuccess { return self }
        throw RequestError(unacceptable: self)
    }

    /// This response, if its content type matches.
    ///
    /// - Parameter type: The expected media type, as for ``hasContentType(_:)``.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unacceptableContentType`` and the whole response.
    @discardableResult
    public func validated(contentType type: MediaType) throws -> Self {
        if hasContentType(type) { return self }
        let found = shownRedaction.quote(headerFields.single(.contentType) ?? "none").shortened(to: 80)
        throw RequestError(
            .unacceptableContentType, reason: "content type is \(found), expected \(type)", response: self)
    }

    /// This response, if its status is 2xx; otherwise the API's own error from the content is thrown.
    ///
    /// ``Problem`` is such an error. An error that needs more than the content conforms to ``ResponseError``.
    ///
    /// - Parameters:
    ///   - failure: The type of the API's own error.
    ///   - decoder: The decoder; `nil` for the one that ``decode(_:_:)`` uses.
    /// - Throws: The API's own error. If it cannot be decoded, ``RequestError`` with code
    ///   ``RequestError/Code/unacceptableStatus``, the whole response, and the cause as its
    ///   ``RequestError/underlyingError``.
    @discardableResult
    public func validated<Failure: Decodable & Error>(
        orThrow failure: Failure.Type, decoder: JSONDecoder? = nil
    ) throws -> Self {
        if isSuccess { return self }
        let decoded: any Error
        do {
            decoded = try self.decoded(failure, decoder ?? ownDecoder)
        } catch var error as RequestError {
            // It still reads the content only when it is shown.
            error.code = .unacceptableStatus
            error.locate("the status is not accepted")
            throw error
        }
        guard var error = decoded as? any ResponseError else { throw decoded }
        error.take(from: self)
        throw error
    }

    /// Whether the content type matches.
    ///
    /// - Parameter type: The expected media type, such as `.json`, `"image/*"`, or `"text/html; charset=utf-8"` with a
    ///   required parameter.
    public func hasContentType(_ type: MediaType) -> Bool {
        contentType.map(type.matches) ?? false
    }
}

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
