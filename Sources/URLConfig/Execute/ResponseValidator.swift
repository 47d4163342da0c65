/// A check of the response of a call. An app adds its own checks as static members:
///
/// ```swift
/// extension ResponseValidator {
///     static let notHTML = Self { if $0.hasContentType(.html) { throw AppError.blocked } }
/// }
/// let response = try await session.response(for: request) { $0.validators = [.notHTML, .success] }
/// ```
public struct ResponseValidator: Sendable {
    let validate: @Sendable (_ response: inout DataResponse) async throws -> Void

    /// Creates a check.
    ///
    /// - Parameter validate: Inspects the response. It may replace the response, or throw an error, which the call
    ///   rethrows.
    public init(_ validate: @escaping @Sendable (_ response: inout DataResponse) async throws -> Void) {
        self.validate = validate
    }

    /// Throws ``RequestError/Code/unacceptableStatus`` unless the status is 2xx.
    public static let success = Self { try $0.validated() }

    /// Throws ``RequestError/Code/unacceptableStatus`` unless the status is one of these, such as `[200, 404]`.
    public static func status(_ status: Set<HTTPResponse.Status>) -> Self { Self { try $0.validated(status: status) } }

    /// Throws ``RequestError/Code/unacceptableContentType`` unless ``DataResponse/hasContentType(_:)`` is true.
    public static func contentType(_ type: MediaType) -> Self { Self { try $0.validated(contentType: type) } }

    /// Throws the API's own error, of the given type, unless the status is 2xx.
    ///
    /// See ``DataResponse/validated(orThrow:decoder:)``.
    public static func orThrow<Failure: Decodable & Error>(_ failure: Failure.Type) -> Self {
        Self { try $0.validated(orThrow: failure) }
    }
}
