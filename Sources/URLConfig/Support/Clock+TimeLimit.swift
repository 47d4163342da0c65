@preconcurrency import Dispatch

extension Clock<Duration> {
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}

/// Runs an operation, and calls `expire`, from any thread, if the operation does not end in time.
func withTimeLimit<Result>(
    _ limit: Duration?, _ clock: any Clock<Duration>, expire: @escaping @Sendable () -> Void,
    operation: () async throws -> Result
) async rethrows -> Result {
    guard let limit else { return try await operation() }
    let alarm = Alarm(after: limit, clock, expire)
    defer { withExtendedLifetime(alarm) {} }
    return try await operation()
}

/// Runs an operation in a separate task, but does not wait for it after the time is up or the caller is cancelled.
///
/// - Parameters:
///   - limit: The time; with zero or less, the operation does not begin.
///   - expired: Creates the error for a late operation. Its result is then ignored.
func withDeadline<Value: Sendable>(
    _ limit: Duration, _ clock: any Clock<Duration>, expired: @escaping @Sendable () -> any Error,
    operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let limit = limit.clamped
    if limit <= .zero { throw expired() }
    let elapsed = clock.stopwatch()
    let result = OneShot<Value>()
    return try await withTimeLimit(limit, clock) {
        result.resolve(.failure(expired()))
    } operation: {
        // The timer may be late, so the clock decides.
        try await result.value(of: operation) { elapsed() >= limit ? expired() : nil }
    }
}

extension OneShot {
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
