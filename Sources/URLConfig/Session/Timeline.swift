/// The attempts of a call, the last of which may be under way.
struct Timeline: Sendable {
    private struct State {
        var attempts: [Attempt] = []
        /// How long the last one has been under way.
        var elapsed: (@Sendable () -> Duration)?
    }

    let redaction: Redaction
    private let state = Locked(State())

    /// All of them.
    var all: [Attempt] {
        var state = state.withLock { $0 }
        if let elapsed = state.elapsed { state.attempts[state.attempts.count - 1].duration = elapsed() }
        return state.attempts
    }

    func begin(_ elapsed: @escaping @Sendable () -> Duration) {
        state.withLock { state in
            state.attempts.append(Attempt(redaction: redaction))
            state.elapsed = elapsed
        }
    }

    /// The last one is over.
    func end(_ outcome: Result<DataResponse, any Error>, after duration: Duration) {
        state.set(\.elapsed, nil)
        change { attempt in
            attempt.duration = duration
            switch outcome {
            case .success(let response): attempt.status = response.status
            case .failure(let error): attempt.error = error
            }
        }
    }

    /// Says why there will be another one, or why not; the last one.
    func go(on reason: String) -> Attempt? {
        change { $0.reason = reason }
    }

    @discardableResult
    private func change(_ change: (inout Attempt) -> Void) -> Attempt? {
        state.withLock { state in
            guard !state.attempts.isEmpty else { return nil }
            change(&state.attempts[state.attempts.count - 1])
            return state.attempts.last
        }
    }
}
