/// A check of every response: it inspects it, replaces it or throws. An app adds its own as a static member:
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

    /// One of the given status codes; otherwise ``RequestError/Code/unacceptableStatus``.
    ///
    /// - Parameter codes: Status codes, such as `200..<300` or `[200, 404]`; the first 4,096 of them are used.
    public static func status(in codes: some Sequence<Int>) -> Self {
        let codes = Set(codes.statusCodes)
        return Self { try $0.validateStatusCode(in: codes) }
    }

    /// A content type of the given kind; otherwise ``RequestError/Code/unacceptableContentType``.
    ///
    /// - Parameter type: The kind, as for ``DataResponse/hasContentType(_:)``.
    public static func contentType(_ type: MediaType) -> Self { Self { try $0.validateContentType(type) } }
}
