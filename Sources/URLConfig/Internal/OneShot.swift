/// A result that comes once, from anywhere, for one task that waits for it.
///
/// Later results are ignored. A task that is cancelled while it waits gets `CancellationError` at once.
final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var result: Result<Value, any Error>?
    }

    private let state = Locked(State())

    /// Gives the result, if there is none yet.
    func resolve(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state in
            if state.result == nil { state.result = result }
            return state.continuation.take()
        }
        continuation?.resume(with: result)
    }

    /// The result.
    ///
    /// - Parameter onCancel: Called, from any thread, when the task is cancelled meanwhile.
    func value(onCancel: @Sendable () -> Void = {}) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            resolve(.failure(CancellationError()))
            onCancel()
        }
    }
}
