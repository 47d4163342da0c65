/// Marks a request as one operation, so that ``RetryPolicy`` may repeat it, whatever its method.
///
/// ```swift
/// let request = URLRequest.with(.payments) {
///     $0.method = .post
///     $0.idempotencyKey = .automatic
/// }
/// ```
///
/// Sent as the field `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), the value without quotes, as the
/// services that know it expect.
public struct IdempotencyKey: Sendable, Hashable, ExpressibleByStringInterpolation {
    private var text: String?

    private init() {}

    /// A new random key for each request, the same in all attempts to send it.
    public static let automatic = Self()

    /// A key of the caller's own, such as the number of an order.
    ///
    /// - Parameter value: The key. An empty one is refused: the request cannot be sent.
    public init(_ value: String) {
        text = value
    }

    /// A key of the caller's own.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    static let field = "Idempotency-Key"

    func callAsFunction(_ fields: inout HTTPFields) throws(RequestError) {
        let value = text ?? UUID().uuidString
        guard let name = HTTPField.Name(Self.field), !value.isEmpty else {
            throw .refused(.invalidHeaderField, "idempotencyKey is empty; leave it out, or set .automatic")
        }
        fields[name] = value
    }
}
