/// The responses that a cache expects from servers.
///
/// A response is not stored if it was removed while the server made it: the removal is about what is stored and about
/// what is on its way. It is not stored either if the response to a later request came before it. This is so with
/// every store; requests of other processes are not known here.
final class ExpectedResponses: Sendable {
    /// The responses of one key; a removal begins a new one.
    ///
    /// The responses keep it, because to look it up takes longer. `@unchecked Sendable` is safe because it is used only
    /// while the lock of ``ExpectedResponses`` is held.
    private final class Expected: @unchecked Sendable {
        /// The number of responses.
        var count = 0
        /// Whether what was on its way was removed.
        var isRemoved = false
        /// The last request that has brought a variant.
        var latest: [String: Int] = [:]
        /// Responses to earlier requests than this one are not stored: there were too many variants to remember.
        var first = 0

        func replaceEarlier(than order: Int, _ variant: String) {
            latest[variant] = order
            guard latest.count > MemoryStore.variants else { return }
            first = order
            latest = latest.filter { $0.value > order }
        }
    }

    private struct State {
        /// What is being removed now, and how often.
        var removing: [CacheSelection?: Int] = [:]
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
    ///
    /// `@unchecked Sendable` is safe because `order` is used only while the lock of ``ExpectedResponses`` is held.
    final class Response: @unchecked Sendable {
        private let all: ExpectedResponses
        private let key: CacheKey
        private let expected: Expected
        /// The number of the request, in the order in which they were sent.
        private var order: Int

        fileprivate init(_ all: ExpectedResponses, _ key: CacheKey) {
            (self.all, self.key) = (all, key)
            (expected, order) = all.state.withLock { state in
                let expected = state.expected[key] ?? Expected()
                if expected.count == 0 { state.expected[key] = expected }
                expected.count += 1
                return (expected, state.next())
            }
        }

        deinit {
            all.state.withLock { state in
                expected.count -= 1
                if expected.count == 0, !expected.isRemoved { state.expected[key] = nil }
            }
        }

        /// The request is sent now.
        func willSend() { all.state.withLock { order = $0.next() } }

        /// Whether it may be stored.
        ///
        /// Ask after the store has begun a body: from then on, the store itself knows what is removed.
        func isWanted(_ variant: String) -> Bool { all.state.withLock { _ in mayReplace(variant) } }

        /// The response takes the place of what earlier requests bring; returns `false` if it may not be stored.
        @discardableResult
        func replaceEarlier(_ variant: String) -> Bool {
            all.state.withLock { _ in
                guard mayReplace(variant) else { return false }
                expected.replaceEarlier(than: order, variant)
                return true
            }
        }

        private func mayReplace(_ variant: String) -> Bool {
            !expected.isRemoved && order >= max(expected.first, expected.latest[variant, default: 0])
        }
    }

    private let state = Locked(State())

    func begin(_ key: CacheKey) -> Response { Response(self, key) }

    /// Whether there is something that a store has yet to remove: until then, nothing of a key is used or stored.
    func hasUnremoved(_ key: CacheKey) -> Bool {
        isBeingRemoved(key) || state.withLock { $0.unremoved.keys.contains { $0.contains(key) } }
    }

    /// Whether a store is just removing something, which may take long.
    func isBeingRemoved(_ key: CacheKey) -> Bool {
        state.withLock { $0.removing.keys.contains { $0.contains(key) } }
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

    /// Removes the responses that are on their way.
    ///
    /// - Parameter removal: Removes what is stored.
    func remove(_ responses: CacheSelection?, _ removal: () async throws -> Void) async throws {
        beginRemoval(of: responses)
        do {
            try await removal()
        } catch {
            endRemoval(of: responses, isRemoved: false)
            throw error
        }
        endRemoval(of: responses, isRemoved: true)
    }

    private func beginRemoval(of responses: CacheSelection?) {
        state.withLock { state in
            state.removing[responses, default: 0] += 1
            // What was removed stays so.
            for (key, expected) in state.expected where responses.contains(key) {
                expected.isRemoved = true
                state.expected[key] = nil
            }
        }
    }

    private func endRemoval(of responses: CacheSelection?, isRemoved: Bool) {
        // First, so that the responses are not used in between.
        note(responses, isRemoved: isRemoved)
        state.withLock { state in
            let count = state.removing[responses, default: 1] - 1
            state.removing[responses] = count > 0 ? count : nil
        }
    }
}
