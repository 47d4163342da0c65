/// Marks a request as one operation, so that ``RetryPolicy`` may repeat it with any method.
///
/// The key is sent as `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), without quotes.
///
/// ```swift
/// $0.idempotencyKey = .automatic
/// $0.idempotencyKey = "order-\(order.id)"
/// ```
public struct IdempotencyKey: Sendable, Hashable, ExpressibleByStringInterpolation {
    private var text: String?

    private init() {}

    /// A new random key for each request; all attempts to send the request have the same key.
    public static let automatic = Self()

    /// A fixed key, such as the number of an order; an empty key is an error.
    public init(stringLiteral value: String) {
        text = value
    }

    static let field = "Idempotency-Key"

    func callAsFunction(_ fields: inout HTTPFields) throws(RequestError) {
        let value = text ?? UUID().uuidString
        guard let name = HTTPField.Name(Self.field), !value.isEmpty else {
            throw .refused(.invalidRequest, "idempotencyKey is empty; leave it out, or set .automatic")
        }
        fields[name] = value
    }
}
