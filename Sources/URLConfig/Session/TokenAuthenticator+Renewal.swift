extension TokenAuthenticator {
    /// A call of `load` or `refresh`, and the requests that wait for it.
    ///
    /// It can end on any thread, so its time limit and cancelled requests do not wait for the actor.
    final class Renewal: Sendable {
        private struct State {
            var result: Result<Void, any Error>?
            var isRefused = false
            var waiters: [ObjectIdentifier: OneShot<Void>] = [:]
        }

        private let state = Locked(State())

        var isOver: Bool { state.withLock { $0.result != nil } }
        /// Whether the server refused the old token, which must not be used again, even if the renewal fails.
        var isRefused: Bool { state.withLock { $0.isRefused } }
        var waiting: Int { state.withLock { $0.waiters.count } }

        /// Resumes all waiting requests; a second result is ignored.
        func end(with result: Result<Void, any Error>) {
            let waiters = state.withLock { state in
                defer { state.waiters = [:] }
                state.result = state.result ?? result
                return state.waiters
            }
            for waiter in waiters.values { waiter.resolve(result) }
        }

        /// - Parameter isolation: The caller's actor. No other work of the actor runs before the caller is registered.
        func wait(isRefused: Bool, isolation: isolated (any Actor)? = #isolation) async throws {
            let waiter = OneShot<Void>()
            let id = ObjectIdentifier(waiter)
            let result = state.withLock { state in
                state.isRefused = state.isRefused || isRefused
                if state.result == nil { state.waiters[id] = waiter }
                return state.result
            }
            if let result { return try result.get() }
            try await waiter.value { state.withLock { _ = $0.waiters.removeValue(forKey: id) } }
        }
    }
}
