/// Credentials that a request carries in its header fields.
///
/// ```swift
/// $0.authorization = .bearer(token)
///
/// // A scheme of an app's own
/// extension Authorization {
///     static func apiKey(_ key: String) -> Self { Self { $0[HTTPField.Name("X-Api-Key")!] = key } }
/// }
/// ```
public struct Authorization: Sendable {
    private let apply: @Sendable (inout HTTPFields) throws -> Void

    /// Credentials that a function sets on the header fields of each request.
    ///
    /// - Parameter apply: Sets the fields. What it throws is the underlying error of ``RequestError``.
    public init(_ apply: @escaping @Sendable (_ fields: inout HTTPFields) throws -> Void) {
        self.apply = apply
    }

    /// A bearer token (RFC 6750 §2.1).
    ///
    /// - Parameter token: The token. An empty one, or one with white space, such as the newline of a file, is refused.
    public static func bearer(_ token: String) -> Self {
        Self { fields in
            guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw Reason(
                    "the bearer token is empty or has white space, a control or a non-ASCII character; trim it first")
            }
            fields[.authorization] = "Bearer \(token)"
        }
    }

    /// User name and password (RFC 7617 §2), encoded as UTF-8.
    ///
    /// - Parameters:
    ///   - username: The user name. One with a colon is refused.
    ///   - password: The password.
    public static func basic(username: String, password: String) -> Self {
        Self { fields in
            guard !username.utf8.contains(UInt8(ascii: ":")) else {
                throw Reason("the user name contains a colon, which basic authorization cannot send")
            }
            fields[.authorization] = "Basic \(Data("\(username):\(password)".utf8).base64EncodedString())"
        }
    }

    func callAsFunction(_ fields: inout HTTPFields) throws(RequestError) {
        do {
            try apply(&fields)
        } catch {
            throw .refused(.invalidRequest, "authorization: \(error.summary)", error)
        }
    }
}
