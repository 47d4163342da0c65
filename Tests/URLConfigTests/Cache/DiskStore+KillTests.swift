// Exit tests have values of their own since Swift 6.3.
#if compiler(>=6.3) && (os(Linux) || os(macOS))
import Testing

@testable import URLConfig

/// Processes that share a folder: some are killed while they write, and others write or read at the same time.
@Suite(.inTime) struct DiskStoreKillTests {
    /// Writes responses, new heads and removals until the process is killed.
    fileprivate static func write(_ path: String, _ seed: UInt64, _ microseconds: UInt32) async throws {
        let store = DiskStore(capacity: 5_000_000, folder: URL(filePath: path), pause: .zero)
        _ = try store.salt()
        // Half of them live until a response is stored, however slow the machine is.
        if seed.isMultiple(of: 2) {
            try await store.put(.test(Int(seed % 1000), count: 100), .test(0))
            await store.settle()
        }
        Thread.detachNewThread {
            usleep(microseconds)
            kill(getpid(), SIGKILL)
        }
        var random = SeededGenerator(seed: seed)
        while true { try await change(store, Int(seed % 1000), &random) }
    }

    /// Writes a response to one of a few places, new heads, and now and then a removal.
    private static func change(_ store: DiskStore, _ seed: Int, _ random: inout SeededGenerator) async throws {
        let key = CacheKey.test(Int.random(in: 0..<4, using: &random))
        let count = [0, 100, 20_000, 1_200_000].randomElement(using: &random) ?? 0
        let variant = Int.random(in: 0..<3, using: &random)
        do {
            try await store.put(.test(seed, count: count, variant: variant), key, piece: 50_000)
        } catch let error as RequestError where error.code == .responseTooLarge {
            // The disk is slow, and what waits for it fills the store.
        }
        for response in try await store.responses(for: key) {
            var head = response.head
            head.received += 1
            try store.update(response, head, key: key)
        }
        if Int.random(in: 0..<20, using: &random) == 0 { try await store.remove(.resource(key.resource)) }
    }

    /// The number of changes that each of two processes makes at least.
    private static let rounds = 60

    /// Writes and reads responses until the other process has done its part, too, so that both write at once.
    ///
    /// - Parameter number: 0 or 1.
    /// - Throws: An error if a response is wrong or cut.
    fileprivate static func share(_ path: String, _ number: Int) async throws {
        let store = DiskStore(capacity: 5_000_000, folder: URL(filePath: path), pause: .zero)
        _ = try store.salt()
        var random = SeededGenerator(seed: UInt64(number))
        func mark(_ number: Int) -> String { "\(path)/done-\(number)" }
        // The other process does not wait for one that has failed.
        defer { try? Data().write(to: URL(filePath: mark(number))) }
        var (round, found) = (0, 0)
        while round < rounds || !FileManager.default.fileExists(atPath: mark(1 - number)) {
            do {
                try await change(store, number + 1, &random)
            } catch is CancellationError {
                // The other process has just removed the folder of this URL, so nothing was stored.
            }
            for response in try await store.responses(for: .test(round % 4)) {
                let isComplete = await response.isComplete
                try #require(isComplete != nil, "\(response.head)")
                found += isComplete == true ? 1 : 0
            }
            round += 1
            if round == rounds { try Data().write(to: URL(filePath: mark(number))) }
        }
        try #require(found > 0)
        // A store that has too much takes nothing more.
        await store.settle()
        try await store.put(.test(number + 1, count: 100), .test(100 + number))
        await store.settle()
    }

    /// Runs ``share(_:_:)`` in a process of its own.
    private static func runChild(_ path: String, _ number: Int) async {
        await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
            ChildProcess.endIfStuck()
            try await DiskStoreKillTests.share(path, number)
        }
    }

    @Test func `two processes that write at once find no wrong response, and leave none`() async throws {
        let directory = TemporaryDirectory()
        let path = directory.url.path()
        async let first: Void = Self.runChild(path, 0)
        async let second: Void = Self.runChild(path, 1)
        _ = await (first, second)
        let store = DiskStore(capacity: 5_000_000, folder: directory.url, pause: .zero)
        for number in 0..<2 { #expect(try await store.variants(.test(100 + number)) == [0]) }
        for number in 0..<4 {
            for response in try await store.responses(for: .test(number)) {
                let isComplete = await response.isComplete
                #expect(isComplete == true, "\(response.head)")
            }
        }
        #expect(try directory.names.allSatisfy { !$0.hasPrefix("new-") })
    }

    @Test func `50 processes that are killed leave no wrong response`() async throws {
        var random = SeededGenerator.ofThisRun()
        let directory = TemporaryDirectory()
        let path = directory.url.path()
        let store = DiskStore(capacity: 5_000_000, folder: directory.url, pause: .zero)
        _ = try store.salt()
        let isOver = Locked(false)
        let reader = Task {
            var found = 0
            while !isOver.withLock(\.self) {
                for number in 0..<4 {
                    for response in try await store.responses(for: .test(number)) {
                        let isComplete = await response.isComplete
                        #expect(isComplete != nil, "\(response.head)")
                        found += isComplete == true ? 1 : 0
                    }
                }
                try await Task.sleep(for: .milliseconds(1))
            }
            return found
        }
        for _ in 0..<50 {
            let (seed, time) = (random.next(), UInt32.random(in: 0...60_000, using: &random))
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, seed = seed as UInt64, time = time as UInt32] in
                ChildProcess.endIfStuck()
                try await DiskStoreKillTests.write(path, seed, time)
            }
        }
        isOver.set(\.self, true)
        #expect(try await reader.valueInTime > 0)
        for name in try directory.names where name.hasPrefix("new-") {
            let path = directory.url.appending(component: name).path()
            try FileManager.default.setAttributes([.modificationDate: Date.now - 120], ofItemAtPath: path)
        }
        let next = DiskStore(capacity: 5_000_000, folder: directory.url, pause: .zero)
        #expect(try next.salt() == store.salt())
        await next.settle()
        #expect(try directory.names.allSatisfy { !$0.hasPrefix("new-") })
        try await next.put(.test(1, count: 10), .test(9))
        #expect(try await next.variants(.test(9)) == [0])
    }
}
#endif
