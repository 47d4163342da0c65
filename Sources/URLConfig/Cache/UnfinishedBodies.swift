/// The bodies that a store is just receiving.
///
/// Together they have no more bytes than the store may have. What is removed while its body arrives is not stored
/// afterwards.
final class UnfinishedBodies: Sendable {
    private struct State {
        var count: Int64 = 0
        var keys: [ObjectIdentifier: CacheKey] = [:]
    }

    /// One body, until this is released.
    final class Body: Sendable {
        private let all: UnfinishedBodies
        private let count = Locked<Int64>(0)

        fileprivate init(_ all: UnfinishedBodies, _ key: CacheKey) {
            self.all = all
            all.state.withLock { $0.keys[ObjectIdentifier(self)] = key }
        }

        deinit {
            let count = count.withLock(\.self)
            all.state.withLock { state in
                state.count -= count
                state.keys[ObjectIdentifier(self)] = nil
            }
        }

        /// Counts bytes before they are kept.
        ///
        /// - Throws: ``RequestError/Code/responseTooLarge`` if they are too many; then the body is not wanted.
        func add(_ more: Int) throws(RequestError) {
            let count = count.withLock { count in
                count += Int64(more)
                return count
            }
            let fits = all.state.withLock { state in
                state.count += Int64(more)
                let fits = count <= all.capacity / 2 && state.count <= all.capacity
                if !fits { state.keys[ObjectIdentifier(self)] = nil }
                return fits
            }
            guard fits else { throw RequestError(tooLongFor: Int(all.capacity / 2), "half of the cache") }
        }

        /// Whether it fits, and has not been removed.
        ///
        /// Ask after the response can be found: from then on, what removes it finds it.
        var isWanted: Bool { all.state.withLock { $0.keys[ObjectIdentifier(self)] != nil } }
    }

    private let capacity: Int64
    private let state = Locked(State())

    /// - Parameter capacity: The number of bytes that the store may have.
    init(capacity: Int64) { self.capacity = capacity }

    func begin(_ key: CacheKey) -> Body { Body(self, key) }

    func remove(_ responses: CacheSelection?) {
        state.withLock { state in state.keys = state.keys.filter { !responses.contains($0.value) } }
    }
}

extension CacheSelection? {
    func contains(_ key: CacheKey) -> Bool {
        switch self {
        case nil: true
        case .resource(let resource): key.resource == resource
        case .requester(let requester): key.requester == requester
        }
    }
}
