/// A check of every answer: it inspects it, replaces it or throws.
///
/// An app adds its own as a static member:
///
/// ```swift
/// extension ResponseValidator {
///     /// Cloudflare, in front of the server, answers with a page of its own where the app expects JSON.
///     static let notBlockedByCloudflare = Self { response in
///         guard response.status == .forbidden, response.headerFields[.server]?.lowercased() == "cloudflare",
///             response.hasContentType(.html)
///         else { return }
///         NotificationCenter.default.post(name: .blockedByCloudflare, object: nil)
///         throw AppError.blockedByCloudflare
///     }
/// }
/// let response = try await session.response(for: request) { $0.validators = [.notBlockedByCloudflare, .success] }
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
    /// - Parameter codes: Status codes, such as `200..<300` or `[200, 404]`; gone through once, here, and up to 4,096 of them.
    public static func status(in codes: some Sequence<Int>) -> Self {
        let codes = Set(codes.statusCodes)
        return Self { try $0.validateStatusCode(in: codes) }
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
