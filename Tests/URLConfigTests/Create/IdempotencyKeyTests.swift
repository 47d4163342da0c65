import Foundation
import Testing
import URLConfig

@Suite struct IdempotencyKeyTests {
    private static let payments = URLRequest.Config(host: "https://a.example") {
        $0.method = .post
        $0.idempotencyKey = .automatic
    }

    @Test func `an automatic key is new for each request, and the same in all copies of it`() throws {
        let (first, second) = (URLRequest.with(Self.payments) { _ in }, URLRequest.with(Self.payments) { _ in })
        let key = try #require(first.field("Idempotency-Key"))
        #expect(UUID(uuidString: key) != nil)
        #expect(second.field("Idempotency-Key") != key)
        var copy = first
        copy.setValue("b", forHTTPHeaderField: "X-A")
        #expect(copy.field("idempotency-key") == key)
    }

    @Test func `a key of the caller's own is sent as it is`() {
        let order = 7
        let request = URLRequest.with(Self.payments) { $0.idempotencyKey = "order-\(order)" }
        #expect(request.field("Idempotency-Key") == "order-7")
        #expect(URLRequest.with(Self.payments) { $0.idempotencyKey = nil }.field("Idempotency-Key") == nil)
    }

    @Test func `an empty key is refused`() {
        let error = Self.payments.with { $0.idempotencyKey = "" }.refusal
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.contains("idempotencyKey") == true)
    }
}
