/// Marks a request as one operation, so that ``RetryPolicy`` may repeat it, whatever its method.
///
/// It is sent as `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), without quotes, as services expect.
///
/// ```swift
/// $0.idempotencyKey = .automatic
/// ```
public struct IdempotencyKey: Sendable, Hashable, ExpressibleByStringInterpolation {
    private var text: String?

    private init() {}

    /// A new random key for each request, the same in all attempts to send it.
    public static let automatic = Self()

    /// A key of the caller's own, such as the number of an order.
    ///
    /// - Parameter value: The key. An empty one is refused.
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
            throw .refused(.invalidRequest, "idempotencyKey is empty; leave it out, or set .automatic")
        }
        fields[name] = value
    }
}
