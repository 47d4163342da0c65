@preconcurrency import Dispatch

/// A result that is set once, from any thread, and that one task waits for.
///
/// Later results are ignored. If the waiting task is cancelled, it throws `CancellationError` immediately.
package final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case empty
        /// Resumed once: whoever takes it out leaves the result in its place.
        case waiting(CheckedContinuation<Value, any Error>)
        case resolved(Result<Value, any Error>)
    }

    private let state = Locked(State.empty)

    package init() {}

    /// Sets the result if there is none yet.
    package func resolve(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .empty: state = .resolved(result)
            case .waiting(let continuation):
                state = .resolved(result)
                return continuation
            case .resolved: break
            }
            return nil
        }
        continuation?.resume(with: result)
    }

    /// The result.
    ///
    /// - Parameter onCancel: Called, from any thread, if the task is cancelled while it waits.
    package func value(onCancel: @Sendable () -> Void = {}) async throws -> Value {
        try await withTaskCancellationHandler {
            // Checked: the thread sanitizer does not see how the runtime orders an unsafe one that is resumed early.
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Value, any Error>? in
                    if case .resolved(let result) = state { return result }
                    state = .waiting(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            resolve(.failure(CancellationError()))
            onCancel()
        }
    }

    /// Runs an operation in a separate task, and returns its result or the one that is set before.
    ///
    /// The operation may be a function of the caller, which may block or never return.
    ///
    /// - Parameter lateness: The error if the operation is too late; `nil` if it is not.
    func value(
        of operation: @escaping @Sendable () async throws -> Value, lateness: @escaping @Sendable () -> (any Error)?
    ) async throws -> Value {
        let work = Task.onOwnThreads { [self] in
            // Under load, abandoned calls may still be queued. Starting them would add load.
            if Task.isCancelled { return }
            if let error = lateness() { return resolve(.failure(error)) }
            let outcome = await Result(of: operation)
            resolve(lateness().map { .failure($0) } ?? outcome)
        }
        do {
            return try await value { work.cancel() }
        } catch {
            // Cancelling calls the caller's handlers, and one of them may block.
            DispatchQueue.global().async { work.cancel() }
            throw error
        }
    }
}

extension Result where Failure == any Error {
    init(of operation: () async throws -> Success, isolation: isolated (any Actor)? = #isolation) async {
        do {
            self = .success(try await operation())
        } catch {
            self = .failure(error)
        }
    }
}

extension Task where Success == Void, Failure == Never {
    /// A task outside of Swift's thread pool, because a closure of the caller may block its thread.
    static func onOwnThreads(_ operation: @escaping @Sendable () async -> Void) -> Self {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            return Self(executorPreference: OwnThreads.executor, operation: operation)
        }
        return Self(operation: operation)
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class OwnThreads: TaskExecutor {
    static let executor = OwnThreads()
    private let queue = DispatchQueue(label: "URLConfig.deadlines", qos: .userInitiated, attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
