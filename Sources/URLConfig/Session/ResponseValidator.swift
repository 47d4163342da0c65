/// A check of each response, which it may replace or refuse. An app adds its own as a static member:
///
/// ```swift
/// extension ResponseValidator {
///     static let notHTML = Self { if $0.hasContentType(.html) { throw AppError.blocked } }
/// }
/// let response = try await session.response(for: request) { $0.validators = [.notHTML, .success] }
/// ```
public struct ResponseValidator: Sendable {
    let validate: @Sendable (_ response: inout DataResponse) async throws -> Void

    /// A check.
    ///
    /// - Parameter validate: Inspects the response, assigns another one to replace it, or throws to refuse it. What it
    ///   throws is rethrown.
    public init(_ validate: @escaping @Sendable (_ response: inout DataResponse) async throws -> Void) {
        self.validate = validate
    }

    /// A 2xx status; otherwise ``RequestError/Code/unacceptableStatus``.
    public static let success = Self { try $0.validated() }

    /// One of the given statuses, such as `[200, 404]`; otherwise ``RequestError/Code/unacceptableStatus``.
    public static func status(_ status: Set<HTTPResponse.Status>) -> Self { Self { try $0.validated(status: status) } }

    /// A content type of a kind; otherwise ``RequestError/Code/unacceptableContentType``.
    ///
    /// - Parameter type: The kind, as for ``DataResponse/hasContentType(_:)``.
    public static func contentType(_ type: MediaType) -> Self { Self { try $0.validated(contentType: type) } }

    /// A 2xx status; otherwise the API's own error, as ``DataResponse/validated(orThrow:decoder:)`` throws it.
    ///
    /// - Parameter failure: The type of the API's own error.
    public static func orThrow<Failure: Decodable & Error>(_ failure: Failure.Type) -> Self {
        Self { try $0.validated(orThrow: failure) }
    }
}
