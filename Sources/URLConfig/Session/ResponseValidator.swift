/// A check of every answer: it inspects it, replaces it or throws.
///
/// An app adds its own as a static member:
///
/// ```swift
/// extension ResponseValidator {
///     static let notInMaintenance = Self { response in
///         if response.status == .serviceUnavailable { throw AppError.maintenance }
///     }
/// }
/// let response = try await session.response(for: request) { $0.validators = [.notInMaintenance, .success] }
/// ```
public struct ResponseValidator: Sendable {
    private let body: @Sendable (inout DataResponse) async throws -> Void

    /// A check.
    ///
    /// - Parameter validate: Looks at the response; assigns another one to replace it; throws to refuse it. What it throws is
    ///   rethrown as it is.
    public init(_ validate: @escaping @Sendable (_ response: inout DataResponse) async throws -> Void) {
        body = validate
    }

    /// A 2xx status; else ``RequestError/Code/unacceptableStatus``.
    public static let success = Self { try $0.validated() }

    /// One of the status codes given; else ``RequestError/Code/unacceptableStatus``.
    ///
    /// - Parameter codes: Status codes, such as `200..<300` or `[200, 404]`.
    public static func status(in codes: some Sequence<Int> & Sendable) -> Self {
        Self { try $0.validateStatusCode(in: codes) }
    }

    /// A content type of the kind given; else ``RequestError/Code/unacceptableContentType``.
    ///
    /// - Parameter type: The kind, as for ``DataResponse/hasContentType(_:)``.
    public static func contentType(_ type: MediaType) -> Self {
        Self { try $0.validateContentType(type) }
    }

    /// Applies the check.
    func validate(_ response: inout DataResponse) async throws {
        try await body(&response)
    }
}
