/// Keeps responses in memory; the least recently used ones are removed first.
final class MemoryStore: CacheStore {
    /// The most variants for one key.
    static let variants = 32

    private let capacity: Int
    private let bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    private let state = Locked(State())
    private let unfinished: UnfinishedBodies

    /// - Parameter capacity: The number of bytes that responses may have; with 0 or less, none is stored.
    init(capacity: Int) {
        self.capacity = capacity
        unfinished = UnfinishedBodies(capacity: Int64(capacity))
    }

    func salt() -> Data { bytes }

    func responses(for key: CacheKey) -> [StoredResponse] {
        state.withLock { $0.entries[key.resource]?[key.requester] ?? [] }.map { entry in
            StoredResponse(head: entry.head, id: entry.id) { [self] in
                state.withLock { $0.use(entry.number, key) }
                return ResponseBody(entry.body)
            }
        }
    }

    func writer(for head: StoredResponse.Head, key: CacheKey) -> (any CacheWriter)? {
        capacity > 0 ? Writer(self, head, key, unfinished.begin(key)) : nil
    }

    func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) {
        state.withLock { state in
            guard let number = Int(response.id), let index = state.index(of: number, key) else { return }
            state.replaceHead(at: index, key, head)
            state.shrink(to: capacity)
        }
    }

    func remove(_ responses: CacheSelection?) {
        unfinished.remove(responses)
        state.withLock { state in for key in state.keys(responses) { state.removeAll(key) } }
    }

    private final class Writer: CacheWriter {
        private let store: MemoryStore
        private let head: StoredResponse.Head
        private let key: CacheKey
        private let unfinished: UnfinishedBodies.Body
        /// `nil` if it is too large, or after its end.
        private let body = Locked<Data?>(Data())

        init(_ store: MemoryStore, _ head: StoredResponse.Head, _ key: CacheKey, _ unfinished: UnfinishedBodies.Body) {
            (self.store, self.head, self.key, self.unfinished) = (store, head, key, unfinished)
        }

        func write(_ piece: Data) throws {
            do {
                try unfinished.add(piece.count)
                body.withLock { $0?.append(piece) }
            } catch {
                body.set(\.self, nil)
                throw error
            }
        }

        func finish() throws {
            guard let body = body.withLock({ $0.take() }) else { return }
            // A copy has no room for more, and does not keep the memory of somebody else.
            let number = store.add(head, body.withUnsafeBytes { Data($0) }, key)
            guard let number else { throw RequestError(tooLongFor: store.capacity / 2, "half of the cache") }
            guard !unfinished.isWanted else { return }
            store.state.withLock { state in state.index(of: number, key).map { state.remove(at: $0, key) } }
            throw CancellationError()
        }
    }

    /// Returns the number of the new entry; `nil` if it is too large.
    private func add(_ head: StoredResponse.Head, _ body: Data, _ key: CacheKey) -> Int? {
        state.withLock { state in
            let entry = Entry(number: state.time + 1, head: head, body: body)
            guard entry.size <= capacity / 2 else { return nil }
            let found = state.entries[key.resource]?[key.requester] ?? []
            // The oldest one is the first.
            let old = found.firstIndex { $0.head.variant == head.variant } ?? (found.count < Self.variants ? nil : 0)
            if let old { state.remove(at: old, key) }
            state.add(entry, key)
            state.shrink(to: capacity)
            return entry.number
        }
    }
}

extension MemoryStore {
    private struct Entry: Sendable {
        /// Identifies the response.
        let number: Int
        var id: String { "\(number)" }
        var head: StoredResponse.Head
        let body: Data
        /// When the body was used last.
        var lastUse = 0

        var size: Int { body.count + head.fields.reduce(512) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count } }
    }

    private struct State {
        /// By resource and requester.
        var entries: [String: [String: [Entry]]] = [:]
        private var count = 0
        private var size = 0
        /// The number of uses until now.
        private(set) var time = 0
        /// All uses in order.
        ///
        /// Only the last one of each entry counts: moving an entry to the end would take long.
        private var uses: [(time: Int, number: Int, key: CacheKey)] = []
        /// Where the uses begin that were not forgotten.
        private var start = 0

        func index(of number: Int, _ key: CacheKey) -> Int? {
            entries[key.resource]?[key.requester]?.firstIndex { $0.number == number }
        }

        /// Notes that an entry was used, if it still exists.
        mutating func use(_ number: Int, _ key: CacheKey) {
            guard let index = index(of: number, key) else { return }
            time += 1
            entries[key.resource]?[key.requester]?[index].lastUse = time
            uses.append((time, number, key))
            guard uses.count > 2 * count + 64 else { return }
            uses = uses[start...].filter { use in lastUse(use.number, use.key) == use.time }
            start = 0
        }

        private func lastUse(_ number: Int, _ key: CacheKey) -> Int? {
            index(of: number, key).flatMap { entries[key.resource]?[key.requester]?[$0].lastUse }
        }

        mutating func add(_ entry: Entry, _ key: CacheKey) {
            entries[key.resource, default: [:]][key.requester, default: []].append(entry)
            (count, size) = (count + 1, size + entry.size)
            use(entry.number, key)
        }

        mutating func replaceHead(at index: Int, _ key: CacheKey, _ head: StoredResponse.Head) {
            guard var entry = entries[key.resource]?[key.requester]?[index] else { return }
            size -= entry.size
            entry.head = head
            size += entry.size
            entries[key.resource]?[key.requester]?[index] = entry
        }

        mutating func remove(at index: Int, _ key: CacheKey) {
            guard let entry = entries[key.resource]?[key.requester]?.remove(at: index) else { return }
            (count, size) = (count - 1, size - entry.size)
            if entries[key.resource]?[key.requester]?.isEmpty == true { removeAll(key) }
        }

        mutating func removeAll(_ key: CacheKey) {
            let removed = entries[key.resource]?.removeValue(forKey: key.requester) ?? []
            (count, size) = (count - removed.count, removed.reduce(size) { $0 - $1.size })
            if entries[key.resource]?.isEmpty == true { entries[key.resource] = nil }
        }

        /// Removes the least recently used entries until the others fit.
        mutating func shrink(to capacity: Int) {
            while size > capacity, start < uses.count {
                let use = uses[start]
                start += 1
                guard lastUse(use.number, use.key) == use.time else { continue }
                index(of: use.number, use.key).map { remove(at: $0, use.key) }
            }
        }

        func keys(_ responses: CacheSelection?) -> [CacheKey] {
            let resources = if case .resource(let resource) = responses { [resource] } else { Array(entries.keys) }
            return resources.flatMap { resource in
                entries[resource, default: [:]].keys.map { CacheKey(resource: resource, requester: $0) }
            }.filter { responses.contains($0) }
        }
    }
}
