/// The deadline of a call: one timer, which ends everything that the call waits for.
final class Deadline: Sendable {
    private struct State {
        /// What the call waits for; `nil` if the deadline does not count any more.
        var waits: [Int: @Sendable (any Error) -> Void]? = [:]
        var last = 0
        var alarm: Alarm?
        /// The error if the deadline has passed.
        var error: RequestError?
        var request: URLRequest?
    }

    /// The time since the call began.
    let elapsed: @Sendable () -> Duration
    private let limit: Duration?
    private let attempts: Attempts
    private let state = Locked(State())

    /// - Parameter limit: The time for the call; `nil` for no limit.
    init(_ limit: Duration?, _ clock: any Clock<Duration>, _ attempts: Attempts) {
        self.limit = limit
        self.attempts = attempts
        elapsed = clock.stopwatch()
        guard let limit, limit > .zero else { return }
        state.set(\.alarm, Alarm(after: limit.clamped, clock) { [weak self] in self?.pass() })
    }

    /// The rest of the time; `nil` without a deadline.
    var remaining: Duration? {
        limit.flatMap { limit in state.withLock { $0.waits != nil } ? limit.clamped - elapsed() : nil }
    }

    /// Begins a call.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/deadlineExceeded`` if there is no time.
    func begin(_ request: URLRequest) throws {
        state.set(\.request, request)
        try check()
    }

    /// - Throws: The error of the deadline if it has passed.
    func check() throws {
        if let error { throw error }
    }

    /// The error if the deadline has passed; the clock decides, because the timer may be late.
    private var error: RequestError? {
        guard let limit else { return nil }
        if limit <= .zero || elapsed() >= limit.clamped { pass() }
        return state.withLock { $0.error }
    }

    /// The deadline does not count any more.
    func end() {
        // They are released after the lock.
        _ = state.withLock { state in
            defer { (state.waits, state.alarm) = (nil, nil) }
            return state
        }
    }

    /// The call begins to wait.
    ///
    /// - Parameter expire: Called once when the deadline passes, with its error.
    /// - Returns: What ``end(_:)`` receives when the wait is over; `nil` without a deadline.
    func wait(_ expire: @escaping @Sendable (any Error) -> Void) -> Int? {
        guard limit != nil else { return nil }
        let (id, error) = state.withLock { state in
            state.last += 1
            if state.error == nil { state.waits?[state.last] = expire }
            return (state.last, state.error)
        }
        if let error { expire(error) }
        return id
    }

    func end(_ wait: Int?) {
        guard let wait else { return }
        _ = state.withLock { $0.waits?.removeValue(forKey: wait) }
    }

    /// Runs a function of the caller, which may block or never return, but does not wait after the deadline.
    ///
    /// - Parameter leavesAlone: Whether it does not wait after a cancellation either, also without a deadline.
    func run<Value: Sendable>(
        leavesAlone: Bool = false, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard leavesAlone || limit != nil && state.withLock({ $0.waits != nil }) else { return try await operation() }
        try check()
        let result = OneShot<Value>()
        let id = wait { result.resolve(.failure($0)) }
        defer { end(id) }
        return try await result.value(of: operation) { self.error }
    }

    /// The deadline passes, unless it does not count any more.
    private func pass() {
        guard let limit else { return }
        let (isCounted, request) = state.withLock { ($0.waits != nil && $0.error == nil, $0.request) }
        guard isCounted else { return }
        // Made now, because the attempt that is still running will end.
        let error = Self.error(limit, request, attempts)
        let before = state.withLock { state in
            let before = state
            if state.error == nil { (state.error, state.waits, state.alarm) = (error, [:], nil) }
            return before
        }
        guard before.error == nil else { return }
        for expire in (before.waits ?? [:]).values { expire(error) }
    }

    /// - Parameter cause: The error before a fallback that was too late.
    static func error(
        _ limit: Duration, _ request: URLRequest?, _ attempts: Attempts, after cause: (any Error)? = nil
    ) -> RequestError {
        var reason = "there was no complete response within \(limit.shown)"
        if limit <= .zero { reason = "the deadline, \(limit.shown), passed before anything was sent" }
        if cause != nil { reason += "; the fallback did not return in time either" }
        var error = RequestError(.deadlineExceeded, reason: reason, request: request, underlyingError: cause)
        error.attempts = attempts.all
        return error
    }
}
