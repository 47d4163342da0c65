/// The credentials of a request, sent in its header fields.
///
/// ```swift
/// $0.authorization = .bearer(token)
///
/// // A custom scheme
/// extension Authorization {
///     static func apiKey(_ key: String) -> Self { Self { $0[HTTPField.Name("X-Api-Key")!] = key } }
/// }
/// ```
public struct Authorization: Sendable {
    private let apply: @Sendable (inout HTTPFields) throws -> Void
    /// Whether it sets only `Authorization`.
    private let isStandard: Bool

    /// Credentials that a function adds to the header fields when the request is built.
    ///
    /// From then on, the names of the fields that it sets are names of credentials, for the whole process. Fields with
    /// these names are hidden in all that the library shows. A redirect to another origin does not send them. This does
    /// not concern fields about the content, the client, the host and the date. At most 1,000 names are kept.
    ///
    /// - Parameter apply: Sets the fields. Its errors become the underlying error of the
    ///   ``RequestError`` of ``Foundation/URLRequest/Config/request()``; a request keeps only their text.
    public init(_ apply: @escaping @Sendable (_ fields: inout HTTPFields) throws -> Void) {
        self.init(isStandard: false, apply)
    }

    private init(isStandard: Bool, _ apply: @escaping @Sendable (_ fields: inout HTTPFields) throws -> Void) {
        (self.isStandard, self.apply) = (isStandard, apply)
    }

    /// A bearer token (RFC 6750 §2.1).
    ///
    /// - Parameter token: The token. It must be ASCII, not empty, and without white space, such as a final newline.
    public static func bearer(_ token: String) -> Self {
        Self(isStandard: true) { fields in
            guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw InvalidInput(
                    "the bearer token is empty, contains white space or is not ASCII; trim it or use another")
            }
            fields[.authorization] = "Bearer \(token)"
        }
    }

    /// A user name, which must not contain a colon, and a password (RFC 7617 §2), in UTF-8.
    ///
    /// Neither may contain a control character, such as a final newline.
    public static func basic(username: String, password: String) -> Self {
        Self(isStandard: true) { fields in
            guard !username.utf8.contains(UInt8(ascii: ":")) else {
                throw InvalidInput(
                    "the user name contains a colon, which basic authentication does not allow; remove it")
            }
            guard !(username + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw InvalidInput("the user name or the password has a control character, such as a final newline")
            }
            fields[.authorization] = "Basic \(Data("\(username):\(password)".utf8).base64EncodedString())"
        }
    }

    func callAsFunction(_ fields: inout HTTPFields) throws(RequestError) {
        // A second reference would copy the fields.
        let before = isStandard ? nil : fields
        try RequestError.refusing("authorization:") { try apply(&fields) }
        guard let before else { return }
        Redaction.note(credentials: fields.filter { before[values: $0.name] != fields[values: $0.name] }.map(\.name))
    }
}

/// Marks a request as one operation, so that ``RetryPolicy`` may repeat it with any method.
///
/// The key is sent as `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), without quotes.
///
/// ```swift
/// $0.idempotencyKey = .automatic
/// $0.idempotencyKey = "order-\(order.id)"
/// ```
public struct IdempotencyKey: Sendable, Hashable, ExpressibleByStringInterpolation {
    private(set) var text: String?

    private init() {}

    /// A new random key for each request; all attempts to send the request have the same key.
    public static let automatic = Self()

    /// A fixed key, such as the number of an order; an empty key is an error.
    public init(_ key: String) { text = key }

    /// A fixed key from a literal.
    public init(stringLiteral value: String) { self.init(value) }

    static let field = "Idempotency-Key"

    func callAsFunction(_ fields: inout HTTPFields) throws(RequestError) {
        fields[Self.field] = text ?? UUID().uuidString
        // Checked here, because the field leaves out white space around its value.
        guard text == nil || fields[Self.field] != "" else {
            throw .refused("idempotencyKey is empty; leave it out, or set .automatic")
        }
    }
}
