/// The time limits of one attempt.
struct TimeLimits: Sendable {
    /// For the whole attempt, with its body; `nil` for no limit.
    var whole: Duration?
    /// For the time without a byte while somebody waits for one; `nil` for no limit.
    var silence: Duration?

    var isEmpty: Bool { whole == nil && silence == nil }
}

/// Watches the time limits of one attempt.
final class Watchdog: Sendable {
    private struct State {
        /// When the last byte was sent or received, or when somebody began to wait.
        var last = Duration.zero
        var isStopped = false
        var alarm: Alarm?
    }

    private let limits: TimeLimits
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    /// Whether somebody waits for bytes: a reader that is slow is no silence.
    private let isAwaited: @Sendable () -> Bool
    /// Called once, with the limit that has passed.
    private let expire: @Sendable (Duration) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - elapsed: The time since the attempt began; by default it begins now.
    ///   - isAwaited: Whether somebody waits for bytes.
    ///   - expire: Called once, with the limit that has passed. It must not block.
    init(
        _ limits: TimeLimits, _ clock: any Clock<Duration>, since elapsed: (@Sendable () -> Duration)? = nil,
        isAwaited: @escaping @Sendable () -> Bool = { true }, expire: @escaping @Sendable (Duration) -> Void
    ) {
        (self.limits, self.clock, self.elapsed) = (limits, clock, elapsed ?? clock.stopwatch())
        (self.isAwaited, self.expire) = (isAwaited, expire)
    }

    func start() { check() }

    /// Bytes were sent or received, or somebody begins to wait for them.
    func touch() {
        guard limits.silence != nil else { return }
        let now = elapsed()
        state.withLock { $0.last = now }
    }

    func stop() {
        // The alarm is released after the lock.
        _ = state.withLock { state in
            state.isStopped = true
            return state.alarm.take()
        }
    }

    private func check() {
        let (now, isAwaited) = (elapsed(), isAwaited())
        // An alarm is made while the lock is held: if it fired before it is kept, it would release its successor.
        let (passed, _) = state.withLock { state -> (Duration?, Alarm?) in
            guard !state.isStopped else { return (nil, nil) }
            // If nobody waits now, the time of silence begins again when somebody does.
            let silence = isAwaited ? now - state.last : .zero
            let rests = [(limits.whole, now), (limits.silence, silence)].compactMap { limit, time in
                limit.map { (limit: $0, rest: $0 - time) }
            }
            if let passed = rests.first(where: { $0.rest <= .zero }) { return (passed.limit, nil) }
            let before = state.alarm
            state.alarm = rests.map(\.rest).min().map { rest in
                Alarm(after: rest, clock) { [weak self] in self?.check() }
            }
            return (nil, before)
        }
        guard let passed else { return }
        stop()
        expire(passed)
    }
}
