/// A result that comes once, from anywhere, for one task that waits for it.
///
/// What comes later is dropped. A task that is cancelled while it waits gets `CancellationError` at once.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case resolved(Result<Value, any Error>)
    }

    private let state = Locked(State.open)

    /// Gives the result, if there is none yet.
    func resolve(_ result: Result<Value, any Error>) {
        let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
            switch state {
            case .resolved: return nil
            case .open:
                state = .resolved(result)
                return nil
            case .awaited(let continuation):
                state = .resolved(result)
                return continuation
            }
        }
        continuation?.resume(with: result)
    }

    /// The result.
    ///
    /// - Parameter onCancel: Called, from any thread, when the task is cancelled meanwhile.
    func value(onCancel: @Sendable () -> Void = {}) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let resolved: Result<Value, any Error>? = state.withLock { state in
                    if case .resolved(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let resolved { continuation.resume(with: resolved) }
            }
        } onCancel: {
            resolve(.failure(CancellationError()))
            onCancel()
        }
    }
}
