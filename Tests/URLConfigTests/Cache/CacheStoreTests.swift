import Testing

@testable import URLConfig

/// What all stores promise.
@Suite(.inTime) struct CacheStoreTests {
    enum Kind: CaseIterable { case memory, disk }

    private let directory = TemporaryDirectory()

    private func store(_ kind: Kind, capacity: Int = 20_000_000) -> any CacheStore {
        switch kind {
        case .memory: MemoryStore(capacity: capacity)
        case .disk: DiskStore(capacity: capacity, folder: directory.url.appending(component: "cache"))
        }
    }

    @Test(arguments: Kind.allCases, [0, 1, 7, 4096, 16_384, 100_000, 1 << 20, (1 << 20) + 1, 5_000_000])
    func `a response is found after its end, as it was given`(kind: Kind, count: Int) async throws {
        let store = store(kind)
        #expect(try await store.salt().count >= 16)
        let head = StoredResponse.Head.test(count, count: count)
        let writer = try #require(try await store.writer(for: head, key: .test(1)))
        for start in stride(from: 0, to: count, by: 99_999) {
            try await writer.write(try #require(head.body)[start..<min(count, start + 99_999)])
        }
        #expect(try await store.responses(for: .test(1)).isEmpty)
        try await writer.finish()
        let found = try await store.responses(for: .test(1))
        #expect(found.map(\.head) == [head])
        #expect(await found.first?.isComplete == true)
        for other in [CacheKey.test(2), .test(1, by: 1)] { #expect(try await store.responses(for: other).isEmpty) }
    }

    @Test(arguments: Kind.allCases) func `what was not finished is not stored`(kind: Kind) async throws {
        let store = store(kind)
        _ = try await store.salt()
        try await store.writer(for: .test(1, count: 5), key: .test(1))?.write(Data("12345".utf8))
        #expect(try await store.responses(for: .test(1)).isEmpty)
        if kind == .disk { #expect(try names(in: "cache") == ["salt"]) }
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.appending(component: folder).path())
    }

    @Test(arguments: Kind.allCases) func `there is one response for a variant, and 32 for a key`(
        kind: Kind
    ) async throws {
        let store = store(kind)
        for seed in 1...2 { try await store.put(.test(seed, count: 100), .test(1)) }
        #expect(try await store.responses(for: .test(1)).map(\.head) == [.test(2, count: 100)])
        for variant in 1...40 { try await store.put(.test(variant, count: 10, variant: variant), .test(1)) }
        let variants = try await store.variants(.test(1))
        #expect(variants.count == 32)
        // Files that were written at nearly the same time have the same one.
        #expect(variants.suffix(20) == Array(21...40))
    }

    @Test(arguments: Kind.allCases) func `a new head keeps the body, and belongs to the same response`(
        kind: Kind
    ) async throws {
        let store = store(kind)
        try await store.put(.test(1, count: 20_000), .test(1))
        let old = try #require(try await store.responses(for: .test(1)).first)
        for date in ["1", "2"] {
            let head = StoredResponse.Head.test(1, count: 20_000, more: [["Date", date]])
            try await store.update(old, head, key: .test(1))
            let found = try await store.responses(for: .test(1))
            #expect(found.map(\.head) == [head])
            #expect(await found.first?.isComplete == true)
        }
        #expect(await old.isComplete == true)
        try await store.put(.test(2, count: 10), .test(1))
        try await store.update(old, old.head, key: .test(1))
        #expect(try await store.responses(for: .test(1)).map(\.head) == [.test(2, count: 10)])
        try await store.remove(nil)
        try await store.update(old, old.head, key: .test(1))
        #expect(try await store.responses(for: .test(1)).isEmpty)
    }

    @Test(
        arguments: Kind.allCases,
        [
            (CacheSelection.resource(CacheKey.test(1).resource), [false, false, true]),
            (.requester(CacheKey.test(1).requester), [false, true, false]), (nil, [false, false, false]),
        ])
    func `what is removed is not found, even if its body was just arriving`(
        kind: Kind, removal: (selection: CacheSelection?, remain: [Bool])
    ) async throws {
        let store = store(kind)
        let keys = [CacheKey.test(1), .test(1, by: 1), .test(2)]
        for key in keys { try await store.put(.test(3, count: 5), key) }
        var writers: [(any CacheWriter)?] = []
        for key in keys { writers.append(try await store.writer(for: .test(4, count: 0, variant: 1), key: key)) }
        try await store.remove(removal.selection)
        for (writer, remains) in zip(writers, removal.remain) {
            let isStored = (try? await writer?.finish()) != nil
            #expect(isStored == remains)
        }
        for (key, remains) in zip(keys, removal.remain) {
            #expect(try await store.variants(key) == (remains ? [0, 1] : []), "\(key)")
        }
    }

    @Test(arguments: Kind.allCases, [0, -1, .min]) func `a store without room has no responses`(
        kind: Kind, capacity: Int
    ) async throws {
        let store = store(kind, capacity: capacity)
        #expect(try await store.writer(for: .test(1, count: 1), key: .test(1)) == nil)
    }

    @Test(arguments: Kind.allCases) func `no body is larger than half of the room, and all that arrive fit`(
        kind: Kind
    ) async throws {
        let store = store(kind, capacity: 100_000)
        await #expect(throws: RequestError.self) { try await store.put(.test(1, count: 60_000), .test(1)) }
        let piece = Data.sample(40_000)
        let writers = [
            try await store.writer(for: .test(0, count: 0), key: .test(1)),
            try await store.writer(for: .test(0, count: 0), key: .test(2)),
            try await store.writer(for: .test(0, count: 40_000), key: .test(3)),
        ]
        for writer in writers.prefix(2) { try await writer?.write(piece) }
        await #expect(throws: RequestError.self) { try await writers[2]?.write(piece) }
        // It is not stored, although its end comes.
        try await writers[2]?.finish()
        for key in [CacheKey.test(1), .test(3)] { #expect(try await store.responses(for: key).isEmpty) }
    }

    @Test(arguments: Kind.allCases) func `writers and readers at the same time see complete responses`(
        kind: Kind
    ) async throws {
        let store = store(kind, capacity: 1_000_000)
        let found = try await withThrowingTaskGroup { group in
            for number in 0..<1000 {
                group.addTask {
                    let key = CacheKey.test(number % 5)
                    switch number % 4 {
                    case 0:
                        let count = number * 37 % 30_000
                        try await store.put(.test(number, count: count, variant: number % 2), key, piece: 4096)
                        return 0
                    case 1:
                        for response in try await store.responses(for: key) {
                            var head = response.head
                            head.received = Double(number)
                            try await store.update(response, head, key: key)
                        }
                        return 0
                    default:
                        var count = 0
                        for response in try await store.responses(for: key) {
                            let isComplete = await response.isComplete
                            #expect(isComplete != nil, "\(response.head)")
                            count += isComplete == true ? 1 : 0
                        }
                        return count
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(found > 100)
    }
}
