/// The responses that a cache expects from servers.
///
/// A response is not stored if it was removed while the server made it: the removal is about what is stored and about
/// what is on its way. It is not stored either if the response to a later request came before it. This is so with
/// every store; requests of other processes are not known here.
final class ExpectedResponses: Sendable {
    /// The responses of one key.
    private struct Expected {
        /// The numbers of the requests; one that was not sent yet is the last one.
        var orders: [ObjectIdentifier: Int] = [:]
        /// The last request that has brought a variant.
        var latest: [String: Int] = [:]
        /// Responses to earlier requests than this one are not stored: there were too many variants to remember.
        var first = 0

        func isWanted(_ id: ObjectIdentifier, _ variant: String) -> Bool {
            orders[id].map { $0 >= max(first, latest[variant, default: 0]) } ?? false
        }

        mutating func replaceEarlier(than id: ObjectIdentifier, _ variant: String, next: Int) -> Bool {
            guard isWanted(id, variant), let order = orders[id] else { return false }
            let own = min(order, next)
            latest[variant] = own
            if latest.count > MemoryStore.variants {
                first = own
                latest = latest.filter { $0.value > own }
            }
            return true
        }
    }

    private struct State {
        var last = 0
        var expected: [CacheKey: Expected] = [:]
    }

    /// One response, until this is released.
    final class Response: Sendable {
        private let all: ExpectedResponses
        private let key: CacheKey
        private var id: ObjectIdentifier { ObjectIdentifier(self) }

        fileprivate init(_ all: ExpectedResponses, _ key: CacheKey) {
            (self.all, self.key) = (all, key)
            all.state.withLock { $0.expected[key, default: Expected()].orders[id] = .max }
        }

        deinit {
            all.state.withLock { state in
                state.expected[key]?.orders[id] = nil
                if state.expected[key]?.orders.isEmpty == true { state.expected[key] = nil }
            }
        }

        /// The request is sent now.
        func willSend() {
            all.state.withLock { state in
                guard state.expected[key]?.orders[id] != nil else { return }
                state.last += 1
                state.expected[key]?.orders[id] = state.last
            }
        }

        /// Whether it may be stored.
        ///
        /// Ask after the store has begun a body: from then on, the store itself knows what is removed.
        func isWanted(_ variant: String) -> Bool {
            all.state.withLock { $0.expected[key]?.isWanted(id, variant) ?? false }
        }

        /// The response takes the place of what earlier requests bring; returns `false` if it may not be stored.
        @discardableResult
        func replaceEarlier(_ variant: String) -> Bool {
            all.state.withLock { state in
                let next = state.last + 1
                return state.expected[key]?.replaceEarlier(than: id, variant, next: next) ?? false
            }
        }
    }

    private let state = Locked(State())

    func begin(_ key: CacheKey) -> Response { Response(self, key) }

    func remove(_ responses: CacheSelection?) {
        state.withLock { $0.expected = $0.expected.filter { !responses.contains($0.key) } }
    }
}
