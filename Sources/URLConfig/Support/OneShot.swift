/// A result that is set once, from any thread, and that one task waits for.
///
/// Later results are ignored. If the waiting task is cancelled, it throws `CancellationError` immediately.
package final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var result: Result<Value, any Error>?
    }

    private let state = Locked(State())

    package init() {}

    /// Sets the result if there is none yet.
    package func resolve(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state in
            if state.result == nil { state.result = result }
            return state.continuation.take()
        }
        continuation?.resume(with: result)
    }

    /// The result.
    ///
    /// - Parameter onCancel: Called, from any thread, if the task is cancelled while it waits.
    package func value(onCancel: @Sendable () -> Void = {}) async throws -> Value {
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
