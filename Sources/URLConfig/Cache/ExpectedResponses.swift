/// The responses that a cache expects from servers.
///
/// A response is not stored if it was removed while the server made it: the removal is about what is stored and about
/// what is on its way. It is not stored either if the response to a later request came before it. This is so with
/// every store; requests of other processes are not known here.
final class ExpectedResponses: Sendable {
    private struct Expected {
        let key: CacheKey
        /// The number of its request; a request that was not sent yet is the last one.
        var order = Int.max
        /// The variants that responses to later requests have brought.
        var replaced: Set<String> = []
    }

    private struct State {
        var last = 0
        var expected: [ObjectIdentifier: Expected] = [:]

        func isWanted(_ id: ObjectIdentifier, _ variant: String) -> Bool {
            expected[id].map { !$0.replaced.contains(variant) } ?? false
        }

        /// With too many variants, the response is not wanted at all.
        mutating func replace(_ id: ObjectIdentifier, _ variant: String) {
            expected[id]?.replaced.insert(variant)
            if let count = expected[id]?.replaced.count, count > MemoryStore.variants { expected[id] = nil }
        }
    }

    /// One response, until this is released.
    final class Response: Sendable {
        private let all: ExpectedResponses

        fileprivate init(_ all: ExpectedResponses, _ key: CacheKey) {
            self.all = all
            all.state.withLock { $0.expected[ObjectIdentifier(self)] = Expected(key: key) }
        }

        deinit { all.state.set(\.expected[ObjectIdentifier(self)], nil) }

        /// The request is sent now.
        func willSend() {
            all.state.withLock { state in
                guard let own = state.expected[ObjectIdentifier(self)] else { return }
                state.last += 1
                state.expected[ObjectIdentifier(self)] = Expected(key: own.key, order: state.last)
            }
        }

        /// Whether it may be stored.
        ///
        /// Ask after the store has begun a body: from then on, the store itself knows what is removed.
        func isWanted(_ variant: String) -> Bool {
            all.state.withLock { $0.isWanted(ObjectIdentifier(self), variant) }
        }

        /// The response takes the place of what earlier requests bring; returns `false` if it may not be stored.
        @discardableResult
        func replaceEarlier(_ variant: String) -> Bool {
            all.state.withLock { state in
                let id = ObjectIdentifier(self)
                guard state.isWanted(id, variant), let own = state.expected[id] else { return false }
                for (id, other) in state.expected where other.key == own.key && other.order < own.order {
                    state.replace(id, variant)
                }
                return true
            }
        }
    }

    private let state = Locked(State())

    func begin(_ key: CacheKey) -> Response { Response(self, key) }

    func remove(_ responses: CacheSelection?) {
        state.withLock { $0.expected = $0.expected.filter { !responses.contains($0.value.key) } }
    }
}
