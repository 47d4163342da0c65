/// The responses that a cache expects from servers.
///
/// A response is not stored if it was removed while the server made it: the removal is about what is stored and about
/// what is on its way. It is not stored either if the response to a later request came before it. This is so with
/// every store; requests of other processes are not known here.
final class ExpectedResponses: Sendable {
    /// The responses of one key.
    private struct Expected {
        /// The numbers of the requests, in the order in which they were sent.
        var orders: [ObjectIdentifier: Int] = [:]
        /// The last request that has brought a variant.
        var latest: [String: Int] = [:]
        /// Responses to earlier requests than this one are not stored: there were too many variants to remember.
        var first = 0

        /// The number of a request whose response may be stored; otherwise `nil`.
        func order(_ id: ObjectIdentifier, _ variant: String) -> Int? {
            orders[id].flatMap { $0 >= max(first, latest[variant, default: 0]) ? $0 : nil }
        }

        /// Returns whether it was the last one.
        mutating func end(_ id: ObjectIdentifier) -> Bool {
            orders[id] = nil
            return orders.isEmpty
        }

        mutating func replaceEarlier(than order: Int, _ variant: String) {
            latest[variant] = order
            guard latest.count > MemoryStore.variants else { return }
            first = order
            latest = latest.filter { $0.value > order }
        }
    }

    private struct State {
        /// What a store could not remove, and when that was tried last.
        var unremoved: [CacheSelection?: ContinuousClock.Instant] = [:]
        var last = 0
        var expected: [CacheKey: Expected] = [:]

        mutating func next() -> Int {
            last += 1
            return last
        }
    }

    /// One response, until this is released.
    final class Response: Sendable {
        private let all: ExpectedResponses
        private let key: CacheKey
        private var id: ObjectIdentifier { ObjectIdentifier(self) }

        fileprivate init(_ all: ExpectedResponses, _ key: CacheKey) {
            (self.all, self.key) = (all, key)
            all.state.withLock { state in
                let order = state.next()
                state.expected[key, default: Expected()].orders[id] = order
            }
        }

        deinit {
            all.state.withLock { state in
                if state.expected[key]?.end(id) == true { state.expected[key] = nil }
            }
        }

        /// The request is sent now.
        func willSend() {
            all.state.withLock { state in
                let order = state.next()
                // What was removed stays so.
                if state.expected[key]?.orders[id] != nil { state.expected[key]?.orders[id] = order }
            }
        }

        /// Whether it may be stored.
        ///
        /// Ask after the store has begun a body: from then on, the store itself knows what is removed.
        func isWanted(_ variant: String) -> Bool {
            all.state.withLock { $0.expected[key]?.order(id, variant) != nil }
        }

        /// The response takes the place of what earlier requests bring; returns `false` if it may not be stored.
        @discardableResult
        func replaceEarlier(_ variant: String) -> Bool {
            all.state.withLock { state in
                guard let order = state.expected[key]?.order(id, variant) else { return false }
                state.expected[key]?.replaceEarlier(than: order, variant)
                return true
            }
        }
    }

    private let state = Locked(State())

    func begin(_ key: CacheKey) -> Response { Response(self, key) }

    /// Whether there is something that a store could not remove: until it is removed, nothing of a key is used or
    /// stored.
    func hasUnremoved(_ key: CacheKey) -> Bool {
        state.withLock { state in !state.unremoved.isEmpty && state.unremoved.keys.contains { $0.contains(key) } }
    }

    /// What must be removed before something of a key is used.
    ///
    /// - Throws: `CancellationError` if it was tried just now, and takes long.
    func removalsToRepeat(for key: CacheKey) throws -> [CacheSelection?] {
        try state.withLock { state in
            let due = state.unremoved.filter { $0.key.contains(key) }
            let slow = due.filter { if case .resource = $0.key { false } else { true } }
            guard slow.values.allSatisfy({ .now - $0 > .seconds(10) }) else { throw CancellationError() }
            for selection in slow.keys { state.unremoved.updateValue(.now, forKey: selection) }
            return Array(due.keys)
        }
    }

    /// Notes whether a store has removed responses.
    func note(_ responses: CacheSelection?, isRemoved: Bool) {
        state.withLock { state in
            if isRemoved {
                state.unremoved = state.unremoved.filter { responses != nil && $0.key != responses }
            } else {
                if state.unremoved.count >= 1000 { state.unremoved = [nil: .now] }
                state.unremoved.updateValue(.now, forKey: responses)
            }
        }
    }

    func remove(_ responses: CacheSelection?) {
        state.withLock { $0.expected = $0.expected.filter { !responses.contains($0.key) } }
    }
}
