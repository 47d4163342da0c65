import Testing

@testable import URLConfig

/// Which responses may still be stored.
@Suite struct ExpectedResponsesTests {
    private let all = ExpectedResponses()

    private func response() -> ExpectedResponses.Response {
        let response = all.begin(CacheKey(resource: "a", requester: "b"))
        response.willSend()
        return response
    }

    @Test func `a later response is stored in place of an earlier one, for its variant`() {
        let (early, late) = (response(), response())
        #expect(late.replaceEarlier("x"))
        #expect(!early.isWanted("x") && !early.replaceEarlier("x"))
        #expect(early.replaceEarlier("y") && late.isWanted("y"))
    }

    @Test func `with many variants, earlier responses are not stored, and later ones still are`() {
        let (early, late, latest) = (response(), response(), response())
        #expect(latest.replaceEarlier("new"))
        for index in 0...MemoryStore.variants { #expect(late.replaceEarlier("\(index)")) }
        #expect(!early.isWanted("other"))
        #expect(late.isWanted("0") && late.replaceEarlier("other") && !late.isWanted("new"))
        #expect(latest.replaceEarlier("0") && !late.isWanted("0"))
    }

    @Test func `a removal ends what is on its way, and nothing that begins later`() async throws {
        let early = response()
        try await all.remove(nil) {}
        #expect(!early.isWanted("x"))
        early.willSend()
        #expect(!early.isWanted("x") && response().isWanted("x"))
    }
}
