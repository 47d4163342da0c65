extension DataResponse {
    /// A model from the content if the status is 2xx; otherwise the API's own error from the content is thrown.
    ///
    /// ```swift
    /// struct APIError: Decodable, Error {
    ///     let message: String
    /// }
    /// let user: User = try response.decode(orThrow: APIError.self)
    /// ```
    ///
    /// ``Problem`` is such an error, too. One that needs more than the content is a ``ResponseError``.
    ///
    /// - Parameters:
    ///   - type: The type of the model; by default what the context expects.
    ///   - failure: The type of the API's own error.
    ///   - configure: Makes changes to how both are decoded.
    /// - Throws: As ``validated(orThrow:_:)`` and ``decode(_:)``.
    public func decode<Model: Decodable, Failure: Decodable & Error>(
        _ type: Model.Type = Model.self, orThrow failure: Failure.Type, _ configure: (inout Config) -> Void = { _ in }
    ) throws -> Model {
        try validated(orThrow: failure, configure).decode(type, configure)
    }

    /// This response, if its status is 2xx; otherwise the API's own error from the content is thrown.
    ///
    /// - Parameters:
    ///   - failure: The type of the API's own error.
    ///   - configure: Makes changes to how it is decoded.
    /// - Throws: The API's own error. If it cannot be decoded, ``RequestError`` with code
    ///   ``RequestError/Code/unacceptableStatus``, the whole response, and why as ``RequestError/underlyingError``.
    @discardableResult
    public func validated<Failure: Decodable & Error>(
        orThrow failure: Failure.Type, _ configure: (inout Config) -> Void = { _ in }
    ) throws -> Self {
        if isSuccess { return self }
        if Failure.self == Problem.self, let problem { throw problem }
        let decoded: any Error
        do {
            decoded = try decode(failure, configure)
        } catch {
            throw RequestError(
                .unacceptableStatus,
                reason: "that status is not accepted here; \(error.summary)", response: self,
                underlyingError: (error as? RequestError)?.underlyingError ?? error)
        }
        guard var error = decoded as? any ResponseError else { throw decoded }
        error.take(from: self)
        throw error
    }
}

extension ResponseValidator {
    /// A 2xx status; otherwise the API's own error, as ``DataResponse/validated(orThrow:_:)`` throws it.
    ///
    /// - Parameters:
    ///   - failure: The type of the API's own error.
    ///   - configure: Makes changes to how it is decoded.
    public static func success<Failure: Decodable & Error>(
        orThrow failure: Failure.Type, _ configure: @escaping @Sendable (inout DataResponse.Config) -> Void = { _ in }
    ) -> Self {
        Self { try $0.validated(orThrow: failure, configure) }
    }
}
