/// The attempts of a call; the last one may be running.
struct Timeline: Sendable {
    private struct State {
        var attempts: [Attempt] = []
        /// The time since the last attempt began; `nil` if it has ended.
        var elapsed: (@Sendable () -> Duration)?
    }

    let redaction: Redaction
    private let state = Locked(State())

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

    func end(_ outcome: Result<HTTPResponse.Status, any Error>) {
        let duration = state.withLock { $0.elapsed }?()
        changeLast { attempt in
            attempt.duration = duration ?? .zero
            switch outcome {
            case .success(let status): attempt.status = status
            case .failure(let error): attempt.error = error
            }
        }
        state.set(\.elapsed, nil)
    }

    @discardableResult
    func changeLast(_ change: (inout Attempt) -> Void) -> Attempt {
        state.withLock { state in
            change(&state.attempts[state.attempts.count - 1])
            return state.attempts[state.attempts.count - 1]
        }
    }
}
