/// A time limit for everything that a call does: one timer, which ends whatever the call waits for.
final class Deadline: Sendable {
    private struct Wait {
        let id: Int
        let expire: @Sendable (any Error) -> Void
        let arrived: @Sendable () -> Int?
    }

    private struct State {
        /// The waits of the call: few at a time.
        var waits: [Wait] = []
        var last = 0
        var alarm: Alarm?
        var isEnded = false
        /// The error if the deadline has passed.
        var error: (any Error)?
    }

    /// The time since the call began.
    let elapsed: @Sendable () -> Duration
    private let limit: Duration?
    private let makeError: @Sendable (_ limit: Duration, _ arrived: Int?) -> any Error
    /// `nil` without a limit.
    private let state: Locked<State>?

    /// - Parameters:
    ///   - limit: The time for the call; `nil` for no limit.
    ///   - elapsed: The time since the call began; by default it begins now.
    ///   - makeError: Makes the error of a limit; `arrived` is the number of bytes, if the call waits for a response
    ///     that has begun.
    init(
        _ limit: Duration?, _ clock: any Clock<Duration>, _ elapsed: (@Sendable () -> Duration)? = nil,
        _ makeError: @escaping @Sendable (_ limit: Duration, _ arrived: Int?) -> any Error
    ) {
        self.limit = limit
        self.makeError = makeError
        self.elapsed = elapsed ?? clock.stopwatch()
        state = limit.map { _ in Locked(State()) }
        guard let limit, limit > .zero else { return }
        state?.set(\.alarm, Alarm(after: limit.clamped, clock) { [weak self] in self?.pass() })
    }

    /// The rest of the time; `nil` without a deadline.
    var remaining: Duration? {
        guard let limit, state?.withLock({ $0.isEnded }) == false else { return nil }
        return limit.clamped - elapsed()
    }

    /// - Throws: The error of the deadline if it has passed.
    func check() throws {
        if let error { throw error }
    }

    /// The error if the deadline has passed; the clock decides, because the timer may be late.
    private var error: (any Error)? {
        guard let limit else { return nil }
        if limit <= .zero || elapsed() >= limit.clamped { pass() }
        return state?.withLock { $0.error }
    }

    /// Turns the deadline off.
    func end() {
        // They are released after the lock.
        _ = state?.withLock { state in
            defer { (state.waits, state.alarm, state.isEnded, state.error) = ([], nil, true, nil) }
            return (state.waits, state.alarm)
        }
    }

    /// The call begins to wait.
    ///
    /// - Parameters:
    ///   - arrived: The number of bytes that have arrived of a response; `nil` before its head.
    ///   - expire: Called once when the deadline passes, with its error.
    /// - Returns: The wait, for ``end(_:)`` when it is over; `nil` without a deadline.
    func wait(
        arrived: @escaping @Sendable () -> Int? = { nil }, expire: @escaping @Sendable (any Error) -> Void
    ) -> Int? {
        guard let state else { return nil }
        let (id, error) = state.withLock { state in
            state.last += 1
            if state.error == nil, !state.isEnded {
                state.waits.append(Wait(id: state.last, expire: expire, arrived: arrived))
            }
            return (state.last, state.error)
        }
        if let error { expire(error) }
        return id
    }

    func end(_ wait: Int?) {
        guard let wait else { return }
        // It is released after the lock.
        _ = state?.withLock { state in
            state.waits.firstIndex { $0.id == wait }.map { state.waits.remove(at: $0) }
        }
    }

    /// Runs a function of the caller, which may block or never return; stops waiting for it at the deadline.
    ///
    /// - Parameter leavesAlone: Whether it also stops waiting at a cancellation, with or without a deadline.
    func run<Value: Sendable>(
        leavesAlone: Bool = false, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard leavesAlone || remaining != nil else { return try await operation() }
        let value = Locked(Value?.none)
        try await watch { value.set(\.self, try await operation()) }
        guard let value = value.withLock(\.self) else { throw CancellationError() }
        return value
    }

    /// Runs it in a separate task, and stops waiting for it at the deadline or a cancellation.
    // Compiled once, not for each type of a value.
    @inline(never)
    private func watch(_ operation: @escaping @Sendable () async throws -> Void) async throws {
        try check()
        let result = OneShot<Void>()
        let id = wait { result.resolve(.failure($0)) }
        defer { end(id) }
        let work = Task.onOwnThreads {
            // Under load, abandoned calls may still be queued. Starting them would add load.
            if Task.isCancelled { return }
            if let error = self.error { return result.resolve(.failure(error)) }
            let outcome = await Result(of: operation)
            result.resolve(self.error.map { .failure($0) } ?? outcome)
        }
        do {
            try await result.value()
        } catch {
            // Cancelling calls the caller's handlers, and one of them may block. So a cancellation of this task does
            // not call them either.
            DispatchQueue.global().async { work.cancel() }
            throw error
        }
    }

    /// The deadline passes, unless it was turned off.
    private func pass() {
        guard let limit, let state else { return }
        let isCounted = { (state: State) in !state.isEnded && state.error == nil }
        guard let waits = state.withLock({ isCounted($0) ? $0.waits : nil }) else { return }
        // Made now, because the attempt that is still running will end.
        let error = makeError(limit, waits.compactMap { $0.arrived() }.max())
        let (expired, _) = state.withLock { state -> ([Wait], Alarm?) in
            guard isCounted(state) else { return ([], nil) }
            defer { (state.error, state.waits, state.alarm) = (error, [], nil) }
            return (state.waits, state.alarm)
        }
        for wait in expired { wait.expire(error) }
    }
}
