@preconcurrency import Dispatch

/// A result that is set once, from any thread, and that one task waits for.
///
/// Later results are ignored. If the waiting task is cancelled, it throws `CancellationError` immediately.
package final class OneShot<Value: Sendable>: Sendable {
    private struct State {
        /// Resumed once: whoever sets the result takes it out.
        var continuation: CheckedContinuation<Value, any Error>?
        var result: Result<Value, any Error>?
    }

    private let state = Locked(State())

    package init() {}

    /// Sets the result if there is none yet.
    package func resolve(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.result == nil else { return nil }
            state.result = result
            return state.continuation.take()
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

extension DispatchQueue {
    /// Does work that may block, and waits for it.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        // Handed over in a lock: the thread sanitizer does not see how the runtime orders an early resumption.
        let result = Locked<Result<Value, any Error>?>(nil)
        await withCheckedContinuation { continuation in
            async {
                let value = Result { try work() }
                result.withLock { $0 = value }
                continuation.resume()
            }
        }
        return try result.withLock(\.self)!.get()
    }
}
