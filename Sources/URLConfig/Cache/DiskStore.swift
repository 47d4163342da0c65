/// Keeps responses in files; the least recently used ones are removed first.
///
/// Each variant is the file `<resource>/<requester>-<variant>` in the folder. A new one is written to `new-<digits>`,
/// and renamed when it is complete. Several processes may use the folder: they share no state, and whoever finds that
/// a file is gone or broken has found nothing. Names that the store does not make are left alone.
///
/// A call lists the files of its own URL, and opens those of its own requester. Only a scan visits all files: in the
/// background, when the store is used first, and when more was written than fits. A scan that removes files removes a
/// tenth, so it is rare.
final class DiskStore: CacheStore {
    /// The most files for one URL; beyond them, those of requesters who have not asked for long are removed.
    static let filesOfResource = 1000
    /// What a small file takes on the disk.
    private static let block: Int64 = 4096
    private static let mark = Data("URLConfig cache salt\n".utf8)
    /// The most bodies that wait for the disk.
    private static let longestQueue = 64

    private struct State {
        /// `nil` until the folder is open.
        var salt: Data?
        /// Why the folder cannot be used now.
        var failure: (error: any Error, end: ContinuousClock.Instant)?
        /// The size of all files, nearly: other processes write, too.
        var total: Int64 = 0
        var isScanning = false
        /// How many bodies of each key wait for the disk.
        var waiting: [CacheKey: Int] = [:]
    }

    private let capacity: Int64
    private let folder: String
    private let pause: Duration
    private let unfinished: UnfinishedBodies
    private let state = Locked(State())
    private let commits = DispatchQueue(label: "URLConfig.cache.commits")
    private let scans = DispatchQueue(label: "URLConfig.cache.scans", qos: .utility)

    /// - Parameters:
    ///   - capacity: The number of bytes that files may have; with 0 or less, none is stored.
    ///   - folder: It is created if necessary.
    ///   - pause: How long nothing is written after the system has refused something.
    init(capacity: Int, folder: URL, pause: Duration = .seconds(10)) {
        (self.capacity, self.pause) = (Int64(capacity), pause)
        let path = folder.path(percentEncoded: false)
        // A slash at the end would follow a symbolic link.
        self.folder = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        unfinished = UnfinishedBodies(capacity: Int64(capacity))
    }

    func salt() throws -> Data {
        if let salt = state.withLock(\.salt) { return salt }
        return try attempt { try openFolder() }
    }

    func responses(for key: CacheKey) async throws -> [StoredResponse] {
        guard UInt64(hexDigits: key.resource.utf8) != nil else { return [] }
        if state.withLock({ $0.waiting[key] != nil }) { await onQueue(commits) {} }
        return files(of: key.resource).filter { $0.requester == key.requester }.compactMap { name in
            let path = path(key.resource, name)
            return entry(path, of: name.variant).map { entry in
                StoredResponse(head: entry.record.head, id: entry.record.id.hexDigits) { [self] in
                    // More often would be a write for each read.
                    if entry.lastUse < now - 60 * 1_000_000_000 { utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) }
                    return try entry.body { self.remove(path, entry.record.id) }
                }
            }
        }
    }

    func writer(for head: StoredResponse.Head, key: CacheKey) throws -> (any CacheWriter)? {
        // What is too much is removed in the background, which may be slower.
        guard let name = Name(key, head), state.withLock(\.total) / 2 <= capacity, capacity > 0 else { return nil }
        return try attempt {
            let (file, path) = try newFile()
            // If it is locked already, a scan takes it for the file of a process that has ended.
            guard (try? file.lock()) != false else { return nil }
            return Writer(self, head, name, key, file, path, unfinished.begin(key))
        }
    }

    func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) throws {
        guard let name = Name(key, head) else { return }
        let path = path(key.resource, name)
        guard let file = ownFile(path, O_RDWR | O_APPEND), let entry = try? DiskEntry(file),
            entry.record.id.hexDigits == response.id
        else { return }
        var record = entry.record
        record.head = head
        guard let bytes = try record.encoded(), entry.heads + bytes.count <= DiskEntry.longestHeads else {
            return remove(path, record.id)
        }
        do {
            var count: Int64 = 0
            try file.append(bytes, count: &count)
            grow(by: count)
        } catch {
            // A part of it may be in the file now.
            if file.hasName(path) { try? File.remove(path) }
            throw error
        }
    }

    func remove(_ responses: CacheSelection?) async {
        unfinished.remove(responses)
        await onQueue(commits) { [self] in
            let resources = if case .resource(let resource) = responses { [resource] } else { self.resources }
            for resource in resources where UInt64(hexDigits: resource.utf8) != nil {
                for name in files(of: resource)
                where responses.contains(CacheKey(resource: resource, requester: name.requester)) {
                    try? File.remove(path(resource, name))
                }
                removeIfEmpty(resource)
            }
        }
    }

    /// Waits until what was begun in the background is done, for tests.
    func settle() async {
        await onQueue(commits) {}
        await onQueue(scans) {}
    }

    private final class Writer: CacheWriter {
        private struct Part: Sendable {
            let file: File
            var count: Int64 = 0
            var checksum = Checksum()

            mutating func append(_ piece: Data) throws(SystemError) {
                try file.append(piece, count: &count)
                checksum.add(piece)
            }
        }

        private let store: DiskStore
        private let head: StoredResponse.Head
        private let name: Name
        private let key: CacheKey
        private let path: String
        private let unfinished: UnfinishedBodies.Body
        /// `nil` after an error or the end.
        private let part: Locked<Part?>

        init(
            _ store: DiskStore, _ head: StoredResponse.Head, _ name: Name, _ key: CacheKey, _ file: File,
            _ path: String, _ unfinished: UnfinishedBodies.Body
        ) {
            (self.store, self.head, self.name, self.key, self.path) = (store, head, name, key, path)
            (self.unfinished, part) = (unfinished, Locked(Part(file: file)))
        }

        func write(_ piece: Data) throws {
            do {
                try unfinished.add(piece.count)
                try store.attempt { try part.withLock { try $0?.append(piece) } }
            } catch {
                part.set(\.self, nil)
                throw error
            }
        }

        func finish() throws {
            guard var part = part.withLock({ $0.take() }) else { return }
            let length = part.count
            let record = DiskEntry.Record(length: length, checksum: part.checksum.value, head: head)
            guard let bytes = try record.encoded() else { return }
            try store.attempt { try part.append(bytes) }
            guard length > DiskEntry.pieceSize else { return try store.attempt { try move(part) } }
            // After a power failure, a short body that is not complete is a miss. The error in a longer one might be
            // found too late, so it must be on the disk before it has its name.
            let waits = store.state.withLock { state in
                guard state.waiting.values.reduce(0, +) < DiskStore.longestQueue else { return false }
                state.waiting[key, default: 0] += 1
                return true
            }
            guard waits else { return }
            store.commits.async { [self, part] in
                try? store.attempt {
                    try part.file.synchronize()
                    try move(part)
                }
                store.state.withLock { state in
                    let count = state.waiting[key, default: 0] - 1
                    state.waiting[key] = count > 0 ? count : nil
                }
            }
        }

        private func move(_ part: Part) throws {
            try store.move(path, to: name, key.resource, size: part.count)
            if !unfinished.isWanted { try File.remove(store.path(key.resource, name)) }
        }
    }
}

extension DiskStore {
    /// What a file in the folder of a resource is called.
    private struct Name: Sendable {
        let requester: String
        let variant: String

        init?(_ name: String) {
            let digits = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            guard digits.count == 2, digits.allSatisfy({ UInt64(hexDigits: $0) != nil }) else { return nil }
            (requester, variant) = ("\(digits[0])", "\(digits[1])")
        }

        /// `nil` if these are no digests, so that no other file is meant.
        init?(_ key: CacheKey, _ head: StoredResponse.Head) {
            guard UInt64(hexDigits: key.resource.utf8) != nil else { return nil }
            self.init("\(key.requester)-\(head.variant)")
        }
    }

    private func path(_ resource: String, _ name: Name) -> String {
        "\(folder)/\(resource)/\(name.requester)-\(name.variant)"
    }

    private func files(of resource: String) -> [Name] {
        var names: [Name] = []
        try? File.forEachName(in: "\(folder)/\(resource)") { name in Name(name).map { names.append($0) } }
        return names
    }

    private func ownFile(_ path: String, _ flags: Int32) -> File? {
        guard let file = try? File(path, flags), (try? file.status())?.isOwnFile == true else { return nil }
        return file
    }

    /// Reads a file; one that is broken is removed.
    private func entry(_ path: String, of variant: String) -> DiskEntry? {
        guard let file = ownFile(path, O_RDONLY) else { return nil }
        do {
            let entry = try DiskEntry(file)
            if entry.record.head.variant == variant { return entry }
        } catch  where error as? SystemError != DiskEntry.broken {
            return nil
        } catch {}
        if file.hasName(path) { try? File.remove(path) }
        return nil
    }

    private func remove(_ path: String, _ id: UInt64) {
        guard let file = ownFile(path, O_RDONLY), let entry = try? DiskEntry(file), entry.record.id == id else {
            return
        }
        try? File.remove(path)
    }

    private func removeIfEmpty(_ resource: String) { rmdir("\(folder)/\(resource)") }

    /// Gives a file its name; if another process removes the folder at this moment, the file is lost.
    private func move(_ path: String, to name: Name, _ resource: String, size: Int64) throws {
        let (folder, place) = ("\(folder)/\(resource)", self.path(resource, name))
        for _ in 0..<3 {
            mkdir(folder, 0o700)
            let status = try? File.Status(folder)
            let old = try? File.Status(place)
            // Somebody else may have made these.
            guard status.map({ $0.isDirectory && $0.isOwn }) ?? true, old?.isRegular ?? true else { return }
            let code = rename(path, place) == 0 ? 0 : errno
            if code == ENOENT { continue }
            guard code == 0 else { throw SystemError(code: code) }
            grow(by: Self.cost(size) - (old.map { Self.cost($0.size) } ?? 0))
            if old == nil { trim(resource, name.requester) }
            return
        }
    }

    /// Removes files of a resource that are too many.
    private func trim(_ resource: String, _ requester: String) {
        let names = files(of: resource)
        removeOldest(names.filter { $0.requester == requester }, beyond: MemoryStore.variants, MemoryStore.variants)
        removeOldest(names, beyond: Self.filesOfResource, Self.filesOfResource * 9 / 10)

        func removeOldest(_ names: [Name], beyond limit: Int, _ rest: Int) {
            guard names.count > limit else { return }
            let paths = names.map { path(resource, $0) }
            let uses = paths.map { (path: $0, time: (try? File.Status($0))?.modified ?? 0) }
            for use in uses.sorted(by: { $0.time < $1.time }).dropLast(rest) { try? File.remove(use.path) }
        }
    }

    private static func cost(_ size: Int64) -> Int64 { max(block, size) }

    private var now: Int64 { Int64(Date().timeIntervalSince1970 * 1e9) }

    private func onQueue(_ queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async {
                work()
                continuation.resume()
            }
        }
    }
}

extension DiskStore {
    /// Does something with the folder; not again for a while if the system refuses it.
    private func attempt<Result>(_ work: () throws -> Result) throws -> Result {
        if let failure = state.withLock(\.failure), failure.end > .now { throw failure.error }
        do {
            return try File.attempt(.cannotWriteToFile, "the folder of the cache cannot be used", work)
        } catch {
            state.set(\.failure, (error, .now + pause))
            throw error
        }
    }

    private func openFolder() throws -> Data {
        if (try? File.Status(folder)) == nil, mkdir(folder, 0o700) != 0 {
            try FileManager.default.createDirectory(
                at: URL(filePath: folder).deletingLastPathComponent(), withIntermediateDirectories: true)
            mkdir(folder, 0o700)
        }
        let status = try File.Status(folder)
        guard status.isDirectory else { throw SystemError(code: ENOTDIR) }
        guard status.isOwn else { throw SystemError(code: EPERM) }
        let salt = try readSalt()
        state.set(\.salt, salt)
        scan()
        return salt
    }

    private var newPath: String { "\(folder)/new-\(UInt64.random(in: .min ... .max).hexDigits)" }

    private func newFile() throws -> (File, String) {
        let path = newPath
        if let file = try newFile(path) { return (file, path) }
        // The folder was removed.
        _ = try openFolder()
        guard let file = try newFile(path) else { throw SystemError(code: ENOENT) }
        return (file, path)
    }

    /// `nil` if there is no folder.
    private func newFile(_ path: String) throws(SystemError) -> File? {
        do {
            return try File(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL, mode: 0o600, isTemporary: true)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    /// The salt of all processes: the first one makes it.
    private func readSalt() throws -> Data {
        let path = "\(folder)/salt"
        for _ in 0..<3 {
            if let salt = try existingSalt(path) { return salt }
            let made = newPath
            guard let file = try newFile(made) else { throw SystemError(code: ENOENT) }
            var count: Int64 = 0
            let salt = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
            try file.append(Self.mark + salt, count: &count)
            try file.synchronize()
            // This fails if another process was faster.
            link(made, path)
        }
        throw SystemError(code: EAGAIN)
    }

    /// `nil` if there is none, or if it was cut.
    private func existingSalt(_ path: String) throws -> Data? {
        guard (try? File.Status(path)) != nil else { return nil }
        let file = try File(path, O_RDONLY)
        let status = try file.status()
        let data = try file.bytes(at: 0, count: Self.mark.count + 33)
        // It has two names while it is made.
        guard status.isRegular, status.isOwn, data.starts(with: Self.mark.prefix(data.count)) else {
            throw SystemError(code: EEXIST)
        }
        if data.count == Self.mark.count + 32 { return Data(data.suffix(32)) }
        try File.remove(path)
        return nil
    }

    /// The names of the folders of resources, which need not be folders.
    private var resources: [String] {
        var names: [String] = []
        try? File.forEachName(in: folder) { name in if UInt64(hexDigits: name.utf8) != nil { names.append(name) } }
        return names
    }

    private func grow(by count: Int64) {
        let isTooLarge = state.withLock { state in
            state.total += count
            return state.total > capacity
        }
        if isTooLarge { scan() }
    }

    /// Measures the files in the background, and removes the least recently used ones if they are too large.
    private func scan() {
        let begins = state.withLock { state in
            guard !state.isScanning else { return false }
            // What is written meanwhile is added to what is found.
            (state.isScanning, state.total) = (true, 0)
            return true
        }
        guard begins else { return }
        scans.async { [self] in
            let total = measure()
            state.withLock { state in
                state.isScanning = false
                state.total += total
                guard total > capacity else { return }
                let error = URLError(.cannotWriteToFile, "the folder of the cache does not become smaller")
                state.failure = (error, .now + pause)
            }
        }
    }

    private struct Found {
        let resource: UInt64
        let requester: UInt64
        let variant: UInt64
        let size: Int64
        let lastUse: Int64
    }

    /// The size of the files that remain.
    private func measure() -> Int64 {
        removeAbandoned()
        var found: [Found] = []
        // Numbers need much less memory than a million names.
        for resource in resources {
            let files = files(of: resource)
            for name in files {
                guard let status = try? File.Status(path(resource, name)), status.isRegular,
                    let number = UInt64(hexDigits: resource.utf8),
                    let requester = UInt64(hexDigits: name.requester.utf8),
                    let variant = UInt64(hexDigits: name.variant.utf8)
                else { continue }
                found.append(
                    Found(
                        resource: number, requester: requester, variant: variant, size: Self.cost(status.size),
                        lastUse: status.modified))
            }
            if files.isEmpty { removeIfEmpty(resource) }
        }
        var total = found.reduce(0) { $0 + $1.size }
        guard total > capacity else { return total }
        for file in found.sorted(by: { $0.lastUse < $1.lastUse }) where total > capacity / 10 * 9 {
            let resource = file.resource.hexDigits
            let path = "\(folder)/\(resource)/\(file.requester.hexDigits)-\(file.variant.hexDigits)"
            guard (try? File.remove(path)) != nil else { continue }
            total -= file.size
            removeIfEmpty(resource)
        }
        return total
    }

    /// Removes the new files of processes that have ended, whose locks are free.
    private func removeAbandoned() {
        try? File.forEachName(in: folder) { name in
            guard name.hasPrefix("new-"), UInt64(hexDigits: name.utf8.dropFirst(4)) != nil else { return }
            let path = "\(folder)/\(name)"
            guard let file = ownFile(path, O_RDONLY) else { return }
            // Without locks, it is the age.
            let isOld = (try? file.status()).map { $0.modified < now - 86_400 * 1_000_000_000 } ?? false
            if (try? file.lock()) ?? isOld { try? File.remove(path) }
        }
    }
}
