import Testing

@testable import URLConfig

@Suite(.inTime) struct MemoryStoreTests {
    @Test func `the least recently used responses are removed first`() async throws {
        let store = MemoryStore(capacity: 10 * 1600)
        for number in 0..<9 { try await store.put(.test(number, count: 1000), .test(number)) }
        for number in [0, 2] { #expect(try await store.variants(.test(number)) == [0]) }
        for number in 9..<13 { try await store.put(.test(number, count: 1000), .test(number)) }
        for number in 0..<13 {
            let found = store.responses(for: .test(number))
            #expect(found.isEmpty == [1, 3, 4].contains(number), "\(number)")
        }
        // A body that somebody has is not lost.
        let last = try #require(store.responses(for: .test(12)).first)
        store.remove(nil)
        #expect(await last.isComplete == true)
    }

    @Test func `a longer head needs room, too`() async throws {
        let store = MemoryStore(capacity: 10_000)
        for number in 0..<2 { try await store.put(.test(number, count: 3000), .test(number)) }
        let response = try #require(store.responses(for: .test(1)).first)
        let more = [["Text", String(repeating: "x", count: 5000)]]
        store.update(response, .test(1, count: 3000, more: more), key: .test(1))
        #expect(store.responses(for: .test(0)).isEmpty)
        #expect(try await store.variants(.test(1)) == [0])
    }
}
