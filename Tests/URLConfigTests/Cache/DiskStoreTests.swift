import Testing
import URLConfigTesting

@testable import URLConfig

/// Responses in files: what others do to the folder, and what the system refuses.
@Suite(.inTime) struct DiskStoreTests {
    private let directory: TemporaryDirectory
    private let folder: URL
    private let key = CacheKey.test(1)

    init() throws {
        directory = TemporaryDirectory()
        folder = directory.url.appending(component: "cache", directoryHint: .notDirectory)
    }

    private func store(capacity: Int = 20_000_000) -> DiskStore {
        DiskStore(capacity: capacity, folder: folder, pause: .zero)
    }

    /// The file of a response.
    private func file(_ key: CacheKey, variant: Int = 0) -> URL {
        let name = "\(key.requester)-\(UInt64(variant).hexDigits)"
        return folder.appending(components: key.resource, name, directoryHint: .notDirectory)
    }

    private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path()) }

    private func names(_ url: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path()).sorted()
    }

    @Test func `what a removal has not found is not found later, not even for a moment`() async throws {
        let (store, key, found) = (store(), CacheKey.test(1), Locked(0))
        for _ in 0..<1000 {
            guard let writer = try store.writer(for: .test(1, count: 3), key: key) else { continue }
            try await writer.write(Data.sample(3))
            let end = Task.detached { try? await writer.finish() }
            let removal = Task.detached {
                try await store.remove(.resource(key.resource))
                for _ in 0..<20 where try await !store.responses(for: key).isEmpty { found.withLock { $0 += 1 } }
            }
            try await removal.value
            await end.value
        }
        #expect(found.withLock(\.self) == 0)
    }

    @Test func `only this user can read the files, and nothing is made before the first use`() async throws {
        let store = store()
        #expect(!exists(folder))
        try await store.put(.test(1, count: 10), key)
        for url in [folder, file(key).deletingLastPathComponent(), file(key), folder.appending(component: "salt")] {
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path())
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
            #expect(mode & 0o077 == 0, "\(url.lastPathComponent)")
        }
        #expect(try names(folder) == [key.resource, "salt"])
        let next = self.store()
        #expect(try next.salt() == store.salt())
        #expect(try await next.variants(key) == [0])
    }

    @Test(arguments: [0, 20, 20_000]) func `a file that was cut is a miss, and is removed`(count: Int) async throws {
        let store = store()
        try await store.put(.test(1, count: count), key)
        // A scan would remove the folder, which is empty for a moment.
        await store.settle()
        let whole = try Data(contentsOf: file(key))
        let step = max(1, whole.count / 1000)
        for length in stride(from: 0, to: whole.count, by: step) {
            try whole.prefix(length).write(to: file(key))
            #expect(try await store.responses(for: key).isEmpty, "\(length)")
            #expect(!exists(file(key)))
        }
        try whole.write(to: file(key))
        #expect(try await store.variants(key) == [0])
    }

    @Test(arguments: [20, 20_000]) func `a byte that was changed is found`(count: Int) async throws {
        let store = store()
        try await store.put(.test(1, count: count), key)
        // A scan would remove the folder, which is empty for a moment.
        await store.settle()
        let whole = try Data(contentsOf: file(key))
        for place in Array(0..<min(count, 20)) + Array(count..<whole.count) {
            for change in [0x01, 0x80, 0xFF] as [UInt8] {
                var changed = whole
                changed[place] ^= change
                try changed.write(to: file(key))
                for response in try await store.responses(for: key) {
                    #expect(await response.isComplete == false, "\(place)")
                }
                #expect(!exists(file(key)), "\(place)")
            }
        }
    }

    @Test func `bytes in another order are found, whatever the pieces were`() {
        var random = SeededGenerator.ofThisRun()
        let data = Data.sample(1000)
        var whole = Checksum()
        whole.add(data)
        for _ in 0..<100 {
            var (pieces, rest) = (Checksum(), data)
            while !rest.isEmpty {
                let count = Int.random(in: 1...30, using: &random)
                pieces.add(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(pieces.value == whole.value)
            var (other, changed) = (Checksum(), data)
            changed.swapAt(8 * Int.random(in: 0..<60, using: &random), 500)
            other.add(changed)
            #expect((other.value == whole.value) == (changed == data))
        }
    }

    @Test(arguments: [10, 100_000]) func `a head that was added while the file was read makes it no broken one`(
        count: Int
    ) async throws {
        let store = store()
        try await store.put(.test(1, count: count), key)
        let file = try File(file(key).path(), O_RDONLY)
        let before = try file.status()
        let whole = try Data(contentsOf: self.file(key))
        let response = try #require(try await store.responses(for: key).first)
        let head = StoredResponse.Head.test(1, count: count, more: [["Number", "1"]])
        try store.update(response, head, key: key)
        #expect(try DiskEntry(file, first: before).record.head == response.head)
        // A part of the new head has arrived.
        let all = try Data(contentsOf: self.file(key))
        for count in whole.count + 1..<all.count {
            try self.file(key).setSize(Int64(count))
            let part = try file.status()
            try all.write(to: self.file(key))
            #expect(try DiskEntry(file, first: part).record.head == head)
        }
    }

    @Test func `a file under another name is not used`() async throws {
        let store = store()
        try await store.put(.test(1, count: 10), key)
        try FileManager.default.moveItem(at: file(key), to: file(key, variant: 1))
        #expect(try await store.responses(for: key).isEmpty)
    }

    @Test func `what others have put there is left alone`() async throws {
        let store = store(capacity: 200_000)
        try await store.put(.test(1, count: 10), key)
        let target = try directory.file("target", Data("target".utf8))
        let other = directory.url.appending(component: "other")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: false)
        let entry = file(key).lastPathComponent
        try Data("other".utf8).write(to: other.appending(component: entry))
        let manager = FileManager.default
        try manager.createSymbolicLink(
            at: folder.appending(component: CacheKey.test(2).resource), withDestinationURL: other)
        try manager.createSymbolicLink(at: file(key, variant: 2), withDestinationURL: target)
        try manager.linkItem(at: target, to: file(key, variant: 3))
        try #require(mkfifo(file(key, variant: 4).path(), 0o600) == 0)
        try manager.createDirectory(at: file(key, variant: 5), withIntermediateDirectories: false)
        try Data("mine".utf8).write(to: folder.appending(component: "new-1"))
        try Data("mine".utf8).write(to: folder.appending(component: "notes"))
        try Data("mine".utf8).write(to: folder.appending(components: key.resource, "notes"))
        let before = try names(folder) + names(file(key).deletingLastPathComponent())
        #expect(try await store.variants(key) == [0])
        await #expect(throws: CancellationError.self) { try await store.put(.test(1, count: 10), .test(2)) }
        for variant in 2...5 where variant != 3 {
            await #expect(throws: CancellationError.self, "\(variant)") {
                try await store.put(.test(1, count: 10, variant: variant), key)
            }
        }
        for number in 10..<70 { try await store.put(.test(1, count: 10), .test(number)) }
        try await store.remove(nil)
        _ = try self.store().salt()
        await store.settle()
        let after = try names(folder) + names(file(key).deletingLastPathComponent())
        #expect(after == before.filter { $0 != entry })
        #expect(try names(other) == [entry])
        #expect(try String(contentsOf: target, encoding: .utf8) == "target")
        #expect(try String(contentsOf: other.appending(component: entry), encoding: .utf8) == "other")
    }

    @Test func `a salt that others have made is not used, and one that was cut is replaced`() async throws {
        let salt = try store().salt()
        let file = folder.appending(component: "salt")
        let whole = try Data(contentsOf: file)
        for length in [0, 10, whole.count - 1] {
            try whole.prefix(length).write(to: file)
            let new = try store().salt()
            #expect(new != salt && new.count == 32)
        }
        try Data("pepper".utf8).write(to: file)
        #expect(throws: URLError.self) { try store().salt() }
        #expect(try String(contentsOf: file, encoding: .utf8) == "pepper")
    }

    @Test func `all stores of a folder agree on the salt`() async throws {
        let folder = folder
        let salts = try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try DiskStore(capacity: 1000, folder: folder).salt() } }
            return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
        }
        #expect(salts.count == 1)
        #expect(try names(folder) == ["salt"])
    }

    @Test func `a folder that cannot be used is an error, which is not found out again for each call`() async throws {
        let target = try directory.file("file")
        try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: directory.url)
        for url in [target, folder, URL(filePath: folder.path() + "/"), URL(filePath: "/proc/URLConfig")] {
            let store = DiskStore(capacity: 1_000_000, folder: url, pause: .seconds(60))
            let first = #expect(throws: URLError.self) { try store.salt() }
            #expect(first?.code == .cannotWriteToFile)
            #expect(throws: URLError.self) { try store.writer(for: .test(1, count: 0), key: key) }
            #expect(try await store.responses(for: key).isEmpty)
        }
        try FileManager.default.removeItem(at: folder)
        let store = DiskStore(capacity: 1_000_000, folder: folder, pause: .seconds(60))
        try Data().write(to: folder)
        #expect(throws: URLError.self) { try store.salt() }
        try FileManager.default.removeItem(at: folder)
        #expect(throws: URLError.self) { try store.salt() }
        #expect(!exists(folder))
    }

    @Test func `a folder that vanishes is made again`() async throws {
        let store = store()
        try await store.put(.test(1, count: 2_000_000), key)
        await store.settle()
        let old = try await store.responses(for: key)
        let writer = try store.writer(for: .test(2, count: 0), key: .test(2))
        try FileManager.default.removeItem(at: folder)
        await #expect(throws: CancellationError.self) { try await writer?.finish() }
        #expect(try await store.responses(for: key).isEmpty)
        #expect(try await store.responses(for: .test(2)).isEmpty)
        #expect(await old.first?.isComplete == true)
        try await store.put(.test(3, count: 100), key)
        #expect(try await store.variants(key) == [0])
        #expect(try self.store().salt() == store.salt())
    }

    @Test(arguments: [3_000_000, 100_000])
    func `a body that becomes shorter while it is read is an error`(count: Int) async throws {
        let store = store()
        try await store.put(.test(1, count: count), key)
        await store.settle()
        let response = try #require(try await store.responses(for: key).first)
        try file(key).setSize(Int64(count / 6 * 5))
        #expect(await response.isComplete == false)
        #expect(try await store.responses(for: key).isEmpty)
        #expect(!exists(file(key)))
    }

    /// The files that are left of sixteen of another store with these times, after two were used and four are new.
    private func left(in store: DiskStore, after time: (Int) -> TimeInterval) async throws -> [Int] {
        let other = self.store(capacity: 400_000)
        for number in 0..<16 {
            try await other.put(.test(number, count: 20_000), .test(number))
            let time = Date.now.addingTimeInterval(time(number))
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file(.test(number)).path())
        }
        for number in [0, 1] { #expect(try await store.variants(.test(number)) == [0]) }
        for number in 16..<20 { try await store.put(.test(number, count: 20_000), .test(number)) }
        await store.settle()
        return (0..<20).filter { exists(file(.test($0))) }
    }

    @Test func `the least recently used files are removed, whoever has written them`() async throws {
        let store = store(capacity: 400_000)
        let left = try await left(in: store) { Double($0) * 10 - 1000 }
        #expect(left == [0, 1] + Array(5..<20))
        #expect(try names(folder).count == left.count + 1)
        // Small files count as a block: 98 of them are too many.
        try await store.remove(nil)
        for number in 0..<98 { try await store.put(.test(1, count: 1), .test(number)) }
        await store.settle()
        await store.settle()
        let count = try names(folder).count - 1
        #expect((80...88).contains(count))
    }

    @Test func `a file with a time that is still to come is removed first, unless it is used`() async throws {
        let left = try await left(in: store(capacity: 400_000)) { $0 < 12 ? 31_536_000 : -1000 }
        #expect(left.count == 17)
        #expect(Set(left).isSuperset(of: [0, 1] + Array(12..<20)))
    }

    @Test func `new files of processes that have ended are removed`() async throws {
        let store = store()
        let writer = try store.writer(for: .test(1, count: 0), key: key)
        try Data("dead".utf8).write(to: folder.appending(component: "new-\(UInt64(7).hexDigits)"))
        let new = try names(folder).filter { $0.hasPrefix("new-") }
        let left = { [self] (time: Date) in
            for name in new {
                let path = folder.appending(component: name).path()
                try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
            }
            let next = self.store()
            _ = try next.salt()
            await next.settle()
            return try names(folder).filter { $0.hasPrefix("new-") }
        }
        // Whoever has just created one may not have locked it yet.
        #expect(try await left(.now) == new)
        #expect(try await left(.now - 120).count == 1)
        try await writer?.finish()
        #expect(try await store.responses(for: key).count == 1)
    }

    @Test func `heads are not collected without end`() async throws {
        let store = store()
        try await store.put(.test(1, count: 10), key)
        var sizes: [Int] = []
        for number in 0..<2000 {
            guard let response = try await store.responses(for: key).first else { break }
            try store.update(response, .test(1, count: 10, more: [["Number", "\(number)"]]), key: key)
            sizes.append((try? Data(contentsOf: file(key)).count) ?? 0)
        }
        #expect(sizes.count > 50 && sizes.count < 2000)
        #expect(sizes.max() ?? 0 < 70_000)
        await expectError(.responseTooLarge) {
            try await store.put(.test(1, count: 10, more: [["Long", String(repeating: "x", count: 70_000)]]), key)
        }
        #expect(try await store.responses(for: key).isEmpty)
    }

    @Test func `one URL does not have files without end`() async throws {
        let store = store(capacity: .max)
        for requester in 0..<(DiskFolder.filesOfResource + 10) {
            try await store.put(.test(1, count: 0), .test(1, by: requester))
        }
        let count = try names(file(key).deletingLastPathComponent()).count
        #expect((900...910).contains(count), "\(count)")
    }

    @Test(arguments: ["", ".", "..", "../../x", "0123456789ABCDEF", "0123456789abcde/", "0123456789abcdef0"])
    func `other names than digests are refused`(name: String) async throws {
        let store = store()
        let digits = key.resource
        for key in [CacheKey(resource: name, requester: digits), CacheKey(resource: digits, requester: name)] {
            #expect(try store.writer(for: .test(1, count: 1), key: key) == nil)
            #expect(try await store.responses(for: key).isEmpty)
        }
        try await store.remove(.resource(name))
    }

    // MARK: A slow disk

    /// A long body is complete, but does not get to the disk until the store is told.
    private func slowStore(count: Int = 2_000_000) async throws -> DiskStore {
        let store = store()
        try await store.put(.test(1, count: 10, variant: 1), key)
        await store.settle()
        store.commits.suspend()
        try await store.put(.test(2, count: count), key)
        return store
    }

    @Test func `what waits for the disk is found without waiting`() async throws {
        let store = try await slowStore()
        #expect(try await store.variants(key) == [0, 1])
        #expect(!exists(file(key)))
        try await store.put(.test(3, count: 3_000_000), key)
        let waiting = try await store.responses(for: key)
        #expect(Set(waiting.map(\.head)) == [.test(1, count: 10, variant: 1), .test(3, count: 3_000_000)])
        store.commits.resume()
        await store.settle()
        #expect(try await self.store().responses(for: key).count == 2)
        #expect(try await store.variants(key) == [0, 1])
        for response in waiting { #expect(await response.isComplete == true) }
    }

    @Test(arguments: [CacheSelection.resource(CacheKey.test(1).resource), .requester(CacheKey.test(1).requester), nil])
    func `a removal does not wait for what waits for the disk`(selection: CacheSelection?) async throws {
        let store = try await slowStore()
        try await store.remove(selection)
        #expect(try await store.responses(for: key).isEmpty)
        #expect(try names(folder).filter { !$0.hasPrefix("new-") } == ["salt"])
        store.commits.resume()
        await store.settle()
        #expect(try await store.responses(for: key).isEmpty)
    }

    @Test func `a short body does not overtake a long one that waits for the disk`() async throws {
        let store = try await slowStore()
        try await store.put(.test(3, count: 10), key)
        for _ in 0..<2 {
            let found = try await store.responses(for: key).filter { $0.head.variant == UInt64(0).hexDigits }
            #expect(found.map(\.head) == [.test(3, count: 10)])
            if !exists(file(key)) { store.commits.resume() }
            await store.settle()
        }
    }

    @Test func `the order of responses is kept between two stores of one folder`() async throws {
        let (first, second) = (try await slowStore(), store())
        try await second.put(.test(3, count: 10), key)
        for store in [first, second] {
            let found = try await store.responses(for: key).filter { $0.head.variant == UInt64(0).hexDigits }
            #expect(found.map(\.head) == [.test(3, count: 10)])
        }
        first.commits.resume()
        for store in [first, second] {
            await store.settle()
            let found = try await store.responses(for: key).filter { $0.head.variant == UInt64(0).hexDigits }
            #expect(found.map(\.head) == [.test(3, count: 10)])
        }
    }

    @Test func `a long body that does not get to the disk ends the one before`() async throws {
        let store = store()
        try await store.put(.test(1, count: 10), key)
        await store.settle()
        store.commits.suspend()
        try await store.put(.test(2, count: 2_000_000), key)
        for name in try names(folder) where name.hasPrefix("new-") {
            try FileManager.default.removeItem(at: folder.appending(component: name))
        }
        store.commits.resume()
        await store.settle()
        #expect(try await store.responses(for: key).isEmpty)
    }

    @Test func `a call does not wait for the disk, and its response does not become an error`() async throws {
        let cache = HTTPCache.disk(megabytes: 50, in: folder)
        let store = try #require(cache.core.store as? DiskStore)
        let (seen, clock) = (Recorder<Void>(), TestClock())
        let transport = Transport { _ in
            seen.note(())
            return Transport.Response(
                headerFields: [.cacheControl: "max-age=60"], body: ResponseBody(Data.sample(2_000_000)))
        }
        func send(_ method: String = "GET") async throws -> DataResponse {
            var request = URLRequest.with { $0.url = URL(string: "https://api.test/a") }
            request.httpMethod = method
            return try await URLSession.shared.response(for: request, config: .silent) {
                ($0.cache, $0.clock, $0.deadline, $0.transport) = (cache, clock, .seconds(60), transport)
            }
        }
        _ = try await send()
        store.commits.suspend()
        defer { store.commits.resume() }
        #expect(try await send().fromCache)
        #expect(try await send("POST").status == .ok)
        #expect(try await !send().fromCache)
        #expect(try await send().fromCache)
        #expect(seen.count == 3)
    }

    @Test func `no more bodies wait for the disk than may, and the others are not stored`() async throws {
        let store = DiskStore(capacity: 20_000_000, folder: folder, pause: .zero, longestQueue: 2)
        _ = try store.salt()
        await store.settle()
        store.commits.suspend()
        for number in 0..<2 { try await store.put(.test(number, count: 1_100_000), .test(number)) }
        await #expect(throws: CancellationError.self) { try await store.put(.test(2, count: 1_100_000), .test(2)) }
        store.commits.resume()
        await store.settle()
        #expect(try await store.responses(for: .test(1)).count == 1)
        #expect(try await store.responses(for: .test(2)).isEmpty)
    }

    #if os(Linux)
    /// In a separate process, whose files must not become longer, as on a full disk.
    @Test func `on a full disk nothing is stored, and what was there can be read`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let directory = TemporaryDirectory()
            let store = DiskStore(capacity: 20_000_000, folder: directory.url, pause: .zero)
            let key = CacheKey.test(1)
            try await store.put(.test(1, count: 50_000), key)
            // The end is in the body, in the head, and behind it.
            for size in [0, 50_000, 50_100, 50_200] as [UInt] {
                try await ChildProcess.limitingFiles(to: size) {
                    await #expect(throws: URLError.self) { try await store.put(.test(2, count: 50_000), key) }
                }
                let found = try await store.responses(for: key)
                #expect(found.map(\.head) == [.test(1, count: 50_000)])
                #expect(await found.first?.isComplete == true)
                #expect(try directory.names == [key.resource, "salt"])
            }
            let response = try #require(try await store.responses(for: key).first)
            let longer = StoredResponse.Head.test(1, count: 50_000, more: [["A", String(repeating: "b", count: 500)]])
            try await ChildProcess.limitingFiles(to: 50_600) {
                #expect(throws: (any Error).self) { try store.update(response, longer, key: key) }
            }
            // It has only a part of the new head.
            #expect(try await store.responses(for: key).isEmpty)
            try await store.put(.test(3, count: 50_000), key)
            #expect(try await store.variants(key) == [0])
        }
    }

    @Test func `without descriptors nothing is found, and a removal says that it has removed nothing`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let directory = TemporaryDirectory()
            let store = DiskStore(capacity: 20_000_000, folder: directory.url, pause: .zero)
            try await store.put(.test(1, count: 50_000), .test(1))
            await store.settle()
            let (found, isRefused) = try await ChildProcess.withoutDescriptors {
                let found = try await store.responses(for: .test(1)).count
                let isRefused = (try? store.writer(for: .test(1, count: 1), key: .test(1))) == nil
                let key = CacheKey.test(1)
                for responses in [nil, .requester(key.requester), .resource(key.resource)] as [CacheSelection?] {
                    let result = await Result { try await store.remove(responses) }
                    #expect(throws: (any Error).self) { try result.get() }
                }
                return (found, isRefused)
            }
            #expect(found == 0 && isRefused)
            #expect(try await store.variants(.test(1)) == [0])
        }
    }
    #endif
}
