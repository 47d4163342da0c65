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
    /// In seconds: noting each use would be a write for each.
    private static let usePrecision = 60.0
    private struct State {
        /// `nil` until the folder is open.
        var salt: Data?
        /// Why the folder cannot be used now.
        var failure: (error: any Error, end: ContinuousClock.Instant)?
        /// The size of all files, nearly: other processes write, too.
        var total: Int64 = 0
        var isScanning = false
    }

    private let capacity: Int64
    private let folder: DiskFolder
    private let pause: Duration
    private let longestQueue: Int
    /// The responses on their way to all stores of the folder in this process: a removal by one is for all.
    let onTheWay: OnTheWay
    private var unfinished: UnfinishedBodies { onTheWay.unfinished }
    private let state = Locked(State())
    var commits: DispatchQueue { onTheWay.commits }
    /// What visits all files is done here.
    private let scans = DispatchQueue(label: "URLConfig.cache.scans", qos: .utility)

    /// - Parameters:
    ///   - capacity: The number of bytes that files may have; with 0 or less, none is stored.
    ///   - folder: It is created if necessary.
    ///   - pause: How long nothing is written after the system has refused something.
    ///   - longestQueue: The most bodies that wait for the disk.
    init(capacity: Int, folder: URL, pause: Duration = .seconds(10), longestQueue: Int = 64) {
        (self.capacity, self.folder, self.pause) = (Int64(capacity), DiskFolder(folder), pause)
        self.longestQueue = longestQueue
        onTheWay = .to(folder)
    }

    func salt() throws -> Data {
        if let salt = state.withLock(\.salt) { return salt }
        return try attempt { try openFolder() }
    }

    func responses(for key: CacheKey) async throws -> [StoredResponse] {
        guard let resource = UInt64(hexDigits: key.resource.utf8) else { return [] }
        let waiting = onTheWay.waiting.withLock(\.self).filter { $0.place.key == key && $0.unfinished.isWanted }
        // Of one place, the last one counts.
        let files = Dictionary(waiting.map { ($0.place, $0.file) }) { $1 }
        let moved = ((try? folder.places(of: resource)) ?? []).filter { $0.key == key && files[$0] == nil }
        return moved.compactMap { place in folder.entry(place).map { response($0, at: place) } }
            + files.compactMap { place, file in (try? DiskEntry(file)).map { response($0, at: place) } }
    }

    private func response(_ entry: DiskEntry, at place: DiskFolder.Place) -> StoredResponse {
        StoredResponse(head: entry.record.head, id: entry.record.id.hexDigits) { [folder] in
            if entry.lastUse < .nanoseconds(before: Self.usePrecision) {
                utimensat(AT_FDCWD, folder.path(place), nil, AT_SYMLINK_NOFOLLOW)
            }
            return try entry.body { folder.remove(place, id: entry.record.id) }
        }
    }

    func writer(for head: StoredResponse.Head, key: CacheKey) throws -> (any CacheWriter)? {
        // What is too much is removed in the background, which may be slower.
        guard let place = DiskFolder.Place(key, head), capacity > 0, state.withLock(\.total) / 2 <= capacity else {
            return nil
        }
        _ = try salt()
        return try attempt {
            let (file, path) = try newFile()
            // So that a scan does not take it for a file of a process that has ended.
            _ = try? file.lock()
            return Writer(
                store: self, head: head, place: place, path: path,
                unfinished: unfinished.begin(key, capacity: capacity), part: Locked(Writer.Part(file: file)))
        }
    }

    func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) throws {
        guard let place = DiskFolder.Place(key, head), let file = folder.file(place, O_RDWR | O_APPEND),
            let entry = try? DiskEntry(file), entry.record.id.hexDigits == response.id
        else { return }
        var record = entry.record
        record.head = head
        guard let bytes = try record.encoded(), entry.heads + bytes.count <= DiskEntry.longestHeads else {
            return folder.remove(place, file)
        }
        do {
            var count: Int64 = 0
            try file.append(bytes, count: &count)
            grow(by: count)
        } catch {
            // A part of it may be in the file now.
            folder.remove(place, file)
            throw error
        }
    }

    func remove(_ responses: CacheSelection?) async throws {
        // What waits for the disk is not wanted any more, so a removal need not wait for it.
        unfinished.remove(responses)
        guard case .resource(let resource) = responses else {
            return try await scans.run { [self] in try remove(responses, of: try folder.resources()) }
        }
        // A call may wait for this.
        try remove(responses, of: [UInt64(hexDigits: resource.utf8)].compactMap { $0 })
    }

    /// Removes what can be removed.
    ///
    /// - Throws: `URLError` with code `.cannotRemoveFile` if that was not all.
    private func remove(_ responses: CacheSelection?, of resources: @autoclosure () throws -> [UInt64]) throws {
        try File.attempt(.cannotRemoveFile, "a response of the cache cannot be removed") {
            var failure: (any Error)?
            for resource in try resources() {
                do {
                    for place in try folder.places(of: resource) where responses.contains(place.key) {
                        do { try folder.remove(place) } catch { failure = failure ?? error }
                    }
                } catch {
                    failure = failure ?? error
                }
                folder.removeIfEmpty(resource)
            }
            if let failure { throw failure }
        }
    }

    /// Waits until what was begun in the background is done, for tests.
    func settle() async {
        for queue in [commits, scans] { try? await queue.run {} }
    }

    private struct Writer: CacheWriter {
        struct Part: Sendable {
            let file: File
            var count: Int64 = 0
            var checksum = Checksum()

            mutating func append(_ piece: Data) throws(SystemError) {
                try file.append(piece, count: &count)
                checksum.add(piece)
            }
        }

        let store: DiskStore
        let head: StoredResponse.Head
        let place: DiskFolder.Place
        let path: String
        let unfinished: UnfinishedBodies.Body
        /// `nil` after an error or the end.
        let part: Locked<Part?>

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
            guard let bytes = try record.encoded() else {
                throw RequestError(.responseTooLarge, reason: "the head is too long for the cache")
            }
            try store.attempt { try part.append(bytes) }
            // After a power failure, a short body that is not complete is a miss. The error in a longer one might be
            // found too late, so it must be on the disk before it has its name.
            let waiting = OnTheWay.Waiting(place: place, file: part.file, unfinished: unfinished)
            guard try store.waits(waiting, isLong: length > DiskEntry.pieceSize) else { return try move(part) }
            store.commits.async { [self, part] in
                let isStored =
                    (try? store.attempt { try part.file.synchronize() }) != nil && (try? move(part)) != nil
                // What it would have replaced is out of date.
                if !isStored, unfinished.isWanted { try? store.folder.remove(place) }
                store.onTheWay.waiting.withLock { $0.removeAll { $0.unfinished === unfinished } }
            }
        }

        private func move(_ part: Part) throws {
            let growth = try store.attempt {
                try unfinished.ifWanted { try store.folder.move(path, to: place, size: part.count) }
            }
            guard let growth = growth ?? nil else { throw CancellationError() }
            store.grow(by: growth)
        }
    }
}

extension DiskStore {
    /// The responses that are on their way to the stores of a folder.
    final class OnTheWay: Sendable {
        /// A body that is complete and not on the disk yet.
        fileprivate struct Waiting: Sendable {
            let place: DiskFolder.Place
            let file: File
            let unfinished: UnfinishedBodies.Body
        }

        private struct Place { weak var value: OnTheWay? }
        private static let places = Locked<[String: Place]>([:])

        let expected = ExpectedResponses()
        let unfinished = UnfinishedBodies()
        /// What waits for the disk, in order.
        fileprivate let waiting = Locked<[Waiting]>([])
        /// Long bodies wait here for the disk; tests make them wait.
        fileprivate let commits = DispatchQueue(label: "URLConfig.cache.commits")

        static func to(_ folder: URL) -> OnTheWay {
            let path = DiskFolder(folder.standardizedFileURL).root
            return places.withLock { places in
                if let known = places[path]?.value { return known }
                let new = OnTheWay()
                places = places.filter { $1.value != nil }
                places[path] = Place(value: new)
                return new
            }
        }
    }

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
        // A folder that was removed gets the same salt again, because the caches of this process use it.
        let salt = try folder.open(state.withLock(\.salt))
        state.set(\.salt, salt)
        scan()
        return salt
    }

    private func newFile() throws -> (File, path: String) {
        do {
            return try folder.newFile()
        } catch  where error.code == ENOENT {
            // The folder was removed.
            _ = try openFolder()
            return try folder.newFile()
        }
    }

    /// Notes what waits for the disk: a long body, or a short one that must not overtake it.
    ///
    /// - Throws: `CancellationError` if too many wait.
    private func waits(_ body: OnTheWay.Waiting, isLong: Bool) throws -> Bool {
        try onTheWay.waiting.withLock { waiting in
            guard isLong || waiting.contains(where: { $0.place == body.place }) else { return false }
            guard waiting.count < longestQueue else { throw CancellationError() }
            waiting.append(body)
            return true
        }
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
            let total = folder.shrink(to: capacity)
            let isTooLarge = state.withLock { state in
                state.isScanning = false
                state.total += total
                return state.total > capacity
            }
            guard isTooLarge else { return }
            // So much was written meanwhile, or it cannot be removed.
            guard total > capacity else { return scan() }
            let error = URLError(.cannotWriteToFile, "the folder of the cache does not become smaller")
            state.set(\.failure, (error, .now + pause))
        }
    }
}
