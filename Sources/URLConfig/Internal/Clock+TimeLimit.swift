extension Clock<Duration> {
    /// Tells how long ago it was made.
    func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}

/// Runs an operation; calls `expire`, from any thread, if it is not over in time.
///
/// - Parameter limit: The time; `nil` for as long as it takes.
func withTimeLimit<Result>(
    _ limit: Duration?, _ clock: any Clock<Duration>, expire: @escaping @Sendable () -> Void,
    operation: () async throws -> Result
) async rethrows -> Result {
    guard let limit else { return try await operation() }
    let timer = Task {
        try await clock.sleep(for: limit)
        expire()
    }
    defer { timer.cancel() }
    return try await operation()
}
