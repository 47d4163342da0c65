/// Keeps responses in memory; the least recently used ones are removed first.
final class MemoryStore: CacheStore {
    /// The most variants for one key.
    static let variants = 32

    private let capacity: Int
    private let bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    private let state = Locked(State())
    private let unfinished = UnfinishedBodies()

    /// - Parameter capacity: The number of bytes that responses may have; with 0 or less, none is stored.
    init(capacity: Int) { self.capacity = capacity }

    func salt() -> Data { bytes }

    func responses(for key: CacheKey) -> [StoredResponse] {
        state.withLock { $0[key] }.map { variant, entry in
            StoredResponse(head: entry.head, id: entry.id) { [self] in
                state.withLock { $0.use(variant, key) }
                return ResponseBody(entry.body)
            }
        }
    }

    func writer(for head: StoredResponse.Head, key: CacheKey) -> (any CacheWriter)? {
        guard capacity > 0 else { return nil }
        let unfinished = unfinished.begin(key, capacity: Int64(capacity))
        return Writer(store: self, head: head, key: key, unfinished: unfinished)
    }

    func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) {
        state.withLock { state in
            guard let old = state[key][head.variant], old.id == response.id else { return }
            state.set(Entry(head, old.body, id: old.id, lastUse: old.lastUse), head.variant, key)
            state.shrink(to: capacity)
        }
    }

    func remove(_ responses: CacheSelection?) {
        unfinished.remove(responses)
        state.withLock { $0.remove(responses) }
    }

    private struct Writer: CacheWriter {
        let store: MemoryStore
        let head: StoredResponse.Head
        let key: CacheKey
        let unfinished: UnfinishedBodies.Body
        /// `nil` if it is too large, or after its end.
        let body = Locked<Data?>(Data())

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
            let entry = Entry(head, body.withUnsafeBytes { Data($0) })
            let room = store.capacity
            guard entry.size <= room / 2 else { throw RequestError(tooLongFor: room / 2, "half of the cache") }
            let stored: Void? = unfinished.ifWanted {
                store.state.withLock { state in
                    state.add(entry, key)
                    state.shrink(to: room)
                }
            }
            if stored == nil { throw CancellationError() }
        }
    }
}

extension MemoryStore {
    private struct Entry: Sendable {
        let head: StoredResponse.Head
        let body: Data
        let size: Int
        /// Identifies the response.
        var id: String
        /// When the body was used last.
        var lastUse: Int

        init(_ head: StoredResponse.Head, _ body: Data, id: String = "", lastUse: Int = 0) {
            (self.head, self.body, self.id, self.lastUse) = (head, body, id, lastUse)
            size = head.fields.reduce(512 + body.count) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        }
    }

    private typealias Use = (time: Int, variant: String, key: CacheKey)

    private struct State {
        /// By resource, requester and variant.
        private var entries: [String: [String: [String: Entry]]] = [:]
        private var count = 0
        private var size = 0
        /// The number of uses until now.
        private var time = 0
        /// All uses in order.
        ///
        /// Only the last one of each entry counts: moving an entry to the end would take long.
        private var uses: ArraySlice<Use> = []

        /// The entries of a key, by variant.
        subscript(key: CacheKey) -> [String: Entry] { entries[key.resource]?[key.requester] ?? [:] }

        /// Puts an entry in the place of the one of its variant, or removes that.
        mutating func set(_ new: Entry?, _ variant: String, _ key: CacheKey) {
            func replace(in variants: inout [String: Entry]) -> Entry? {
                if let new { variants.updateValue(new, forKey: variant) } else { variants.removeValue(forKey: variant) }
            }
            let old = replace(in: &entries[key.resource, default: [:]][key.requester, default: [:]])
            count += (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
            size += (new?.size ?? 0) - (old?.size ?? 0)
            guard new == nil, self[key].isEmpty else { return }
            entries[key.resource]?[key.requester] = nil
            if entries[key.resource]?.isEmpty == true { entries[key.resource] = nil }
        }

        /// Adds an entry in place of one of the same variant.
        mutating func add(_ entry: Entry, _ key: CacheKey) {
            let variant = entry.head.variant
            if let excess = excess(beside: variant, key) { set(nil, excess, key) }
            var entry = entry
            time += 1
            (entry.id, entry.lastUse) = ("\(time)", time)
            set(entry, variant, key)
            noteUse(variant, key)
        }

        /// The variant that goes, because there are as many as there may be.
        private func excess(beside variant: String, _ key: CacheKey) -> String? {
            let others = self[key]
            guard others.count == MemoryStore.variants, others[variant] == nil else { return nil }
            return others.min { $0.value.lastUse < $1.value.lastUse }?.key
        }

        /// Notes that an entry was used, if it still exists.
        mutating func use(_ variant: String, _ key: CacheKey) {
            guard self[key][variant] != nil else { return }
            time += 1
            entries[key.resource]?[key.requester]?[variant]?.lastUse = time
            noteUse(variant, key)
        }

        private mutating func noteUse(_ variant: String, _ key: CacheKey) {
            uses.append((time, variant, key))
            if uses.count > 2 * count + 64 { uses = ArraySlice(uses.filter(isLast)) }
        }

        private func isLast(_ use: Use) -> Bool { self[use.key][use.variant]?.lastUse == use.time }

        /// Removes the least recently used entries until the others fit.
        mutating func shrink(to capacity: Int) {
            while size > capacity, let use = uses.popFirst() {
                if isLast(use) { set(nil, use.variant, use.key) }
            }
        }

        mutating func remove(_ responses: CacheSelection?) {
            let resources = if case .resource(let resource) = responses { [resource] } else { Array(entries.keys) }
            for resource in resources {
                for requester in entries[resource, default: [:]].keys {
                    let key = CacheKey(resource: resource, requester: requester)
                    guard responses.contains(key) else { continue }
                    for variant in self[key].keys { set(nil, variant, key) }
                }
            }
        }
    }
}
