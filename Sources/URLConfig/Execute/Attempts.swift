/// The attempts of a call; the last one may be running.
struct Attempts: Sendable {
    private struct State {
        var all: [Attempt] = []
        /// The time since the last attempt began; `nil` if it has ended.
        var elapsed: (@Sendable () -> Duration)?
    }

    /// Hides secrets where an attempt is shown.
    let redaction: Redaction
    private let state = Locked(State())

    /// All attempts until now.
    var all: [Attempt] {
        var state = state.withLock { $0 }
        if let elapsed = state.elapsed { state.all[state.all.count - 1].duration = elapsed() }
        return state.all
    }

    /// - Parameter elapsed: The time since the attempt began.
    func begin(_ elapsed: @escaping @Sendable () -> Duration) {
        state.withLock { state in
            state.all.append(Attempt(redaction: redaction))
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

    /// Adds to the last attempt the time that its body took, and the error if it has broken off.
    func endBody(after duration: Duration, _ error: (any Error)? = nil) {
        changeLast { attempt in
            attempt.duration += duration
            attempt.error = error
        }
    }

    @discardableResult
    func changeLast(_ change: (inout Attempt) -> Void) -> Attempt {
        state.withLock { state in
            change(&state.all[state.all.count - 1])
            return state.all[state.all.count - 1]
        }
    }
}
