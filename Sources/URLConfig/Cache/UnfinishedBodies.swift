/// The bodies that a store is just receiving.
///
/// Together they have no more bytes than the store may have. What is removed while its body arrives is not stored
/// afterwards.
final class UnfinishedBodies: Sendable {
    private struct Arriving {
        /// `nil` if the body is not wanted any more.
        var key: CacheKey?
        var count: Int64 = 0
    }

    private struct State {
        var bodies: [ObjectIdentifier: Arriving] = [:]
        /// The bytes of all bodies.
        var count: Int64 = 0
    }

    /// One body, until this is released.
    final class Body: Sendable {
        private let all: UnfinishedBodies
        private let capacity: Int64
        private var id: ObjectIdentifier { ObjectIdentifier(self) }

        fileprivate init(_ all: UnfinishedBodies, _ key: CacheKey, _ capacity: Int64) {
            (self.all, self.capacity) = (all, capacity)
            all.state.withLock { $0.bodies[id] = Arriving(key: key) }
        }

        deinit { all.state.withLock { state in state.count -= state.bodies.removeValue(forKey: id)?.count ?? 0 } }

        /// Counts bytes before they are kept.
        ///
        /// - Throws: ``RequestError/Code/responseTooLarge`` if they are too many; then the body is not wanted.
        func add(_ more: Int) throws(RequestError) {
            let fits = all.state.withLock { state in
                var body = state.bodies[id, default: Arriving()]
                state.count += Int64(more)
                body.count += Int64(more)
                let fits = body.count <= capacity / 2 && state.count <= capacity
                if !fits { body.key = nil }
                state.bodies[id] = body
                return fits
            }
            guard fits else { throw RequestError(tooLongFor: Int(capacity / 2), "half of the cache") }
        }

        /// Whether it fits, and has not been removed.
        var isWanted: Bool { all.state.withLock { $0.bodies[id]?.key != nil } }

        /// Stores it if it is wanted, so that a removal either prevents this or finds it; otherwise returns `nil`.
        ///
        /// - Parameter store: Called with the lock held. It may take the lock of a store that never takes this one
        ///   with its own held.
        func ifWanted<Result>(_ store: () throws -> Result) rethrows -> Result? {
            try all.state.withLock { state in try state.bodies[id]?.key == nil ? nil : store() }
        }
    }

    private let state = Locked(State())

    /// - Parameter capacity: The number of bytes that the store may have.
    func begin(_ key: CacheKey, capacity: Int64) -> Body { Body(self, key, capacity) }

    func remove(_ responses: CacheSelection?) {
        state.withLock { state in
            for (id, body) in state.bodies where body.key.map(responses.contains) == true {
                state.bodies[id]?.key = nil
            }
        }
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
