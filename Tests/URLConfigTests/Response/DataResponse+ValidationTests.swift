import Testing
import URLConfig

@Suite struct DataResponseValidationTests {
    private let response = DataResponseTests.response([], status: .notFound)

    private func isAccepted(_ codes: some Sequence<Int>) -> Bool {
        (try? response.validateStatusCode(in: codes)) != nil
    }

    @Test func `any sequence of codes will do`() {
        #expect(isAccepted(400..<500))
        #expect(isAccepted(400...))
        #expect(isAccepted([404, 404]))
        #expect(isAccepted(Set([404])))
        #expect(isAccepted(stride(from: 0, to: 1_000, by: 4)))
        #expect(isAccepted((0...).lazy.map { $0 * 2 }))
        #expect(isAccepted(0...Int.max))
        #expect(!isAccepted([]))
        #expect(!isAccepted(200..<300))
    }

    @Test func `a sequence without an end is not gone through to its end`() {
        #expect(!isAccepted(500...))
        #expect(!isAccepted(500..<Int.max))
        #expect(!isAccepted(repeatElement(200, count: .max)))
        #expect(!isAccepted(sequence(first: 200) { $0 }))
    }
}
