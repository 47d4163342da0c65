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

    @Test(.oneAtATime) func `of a million small responses, those remain that fit`() async throws {
        let (capacity, count) = (1_000_000, 1_000_000)
        let store = MemoryStore(capacity: capacity)
        var head = StoredResponse.Head()
        head.variant = UInt64(0).hexDigits
        let body = Data.sample(100)
        for number in 0..<count {
            if number.isMultiple(of: 10_000) { await Task.yield() }
            let writer = store.writer(for: head, key: .test(number))
            try await writer?.write(body)
            try await writer?.finish()
        }
        func isStored(_ number: Int) -> Bool { !store.responses(for: .test(number)).isEmpty }
        let last = (count - 10_000..<count).filter(isStored)
        // Each head counts as 512 bytes.
        #expect(last.count == capacity / 612)
        #expect(last.first == count - last.count)
        #expect(!stride(from: 0, to: count - 10_000, by: 101).contains(where: isStored))
        // What was stored and removed takes no room.
        try await store.put(.test(1, count: 400_000), .test(count))
        #expect(try await store.variants(.test(count)) == [0])
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
