@preconcurrency import Dispatch

extension Clock<Duration> {
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}

/// Calls a function once, after a delay, unless the alarm is released before.
///
/// The system's clocks do not use Swift's thread pool for this, because a measured operation may block all its threads.
final class Alarm: Sendable {
    private static let queue = DispatchQueue(label: "URLConfig.alarms", qos: .userInitiated)
    private let cancel: @Sendable () -> Void

    /// - Parameter fire: The function. It must not block.
    init(after delay: Duration, _ clock: any Clock<Duration>, _ fire: @escaping @Sendable () -> Void) {
        guard clock is ContinuousClock || clock is SuspendingClock else {
            let task = Task {
                try await clock.sleep(for: delay)
                fire()
            }
            cancel = { task.cancel() }
            return
        }
        // This timer stops while an Apple device sleeps, as transfers do.
        let timer = DispatchSource.makeTimerSource(queue: Self.queue)
        timer.setEventHandler(handler: fire)
        timer.schedule(deadline: .now() + delay / .seconds(1))
        timer.resume()
        cancel = { timer.cancel() }
    }

    deinit { cancel() }
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
///   - limit: The time; `nil` for no limit. With zero or less, the operation does not begin.
///   - expired: Creates the error for a late operation. Its result is then ignored.
@inline(never)
func withDeadline<Value: Sendable>(
    _ limit: Duration?, _ clock: any Clock<Duration>, expired: @escaping @Sendable () -> any Error,
    operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let value = Locked(Result<Value, any Error>.failure(CancellationError()))
    try await withDeadline(limit, clock, expired: expired) {
        let result = try await operation()
        value.withLock { $0 = .success(result) }
    }
    return try value.withLock { $0 }.get()
}

/// The same for an operation without a result; it is compiled once, and the other function for each type.
func withDeadline(
    _ limit: Duration?, _ clock: any Clock<Duration>, expired: @escaping @Sendable () -> any Error,
    operation: @escaping @Sendable () async throws -> Void
) async throws {
    let limit = limit?.clamped
    if let limit, limit <= .zero { throw expired() }
    let elapsed = clock.stopwatch()
    let result = OneShot<Void>()
    // The timer may be late, so the clock decides.
    let isLate: @Sendable () -> Bool = { limit.map { elapsed() >= $0 } ?? false }
    let work = Task.onOwnThreads {
        // Under load, calls that were given up wait for a thread. To begin them would make it worse.
        if Task.isCancelled || isLate() { return result.resolve(.failure(expired())) }
        let outcome = await Result(of: operation)
        result.resolve(isLate() ? .failure(expired()) : outcome)
    }
    return try await withTimeLimit(limit, clock) {
        result.resolve(.failure(expired()))
        // Cancelling calls the caller's handlers. One that blocks must not delay the alarms of other calls.
        DispatchQueue.global().async { work.cancel() }
    } operation: {
        try await result.value { work.cancel() }
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
