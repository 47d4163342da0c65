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
        /// Whether somebody waits: a reader that is slow is no silence.
        var isAwaited = true
        var isStopped = false
        var alarm: Alarm?
    }

    private let limits: TimeLimits
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    /// Called once, with the limit that has passed.
    private let expire: @Sendable (Duration) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - elapsed: The time since the attempt began.
    ///   - expire: Called once, with the limit that has passed. It must not block.
    init(
        _ limits: TimeLimits, _ clock: any Clock<Duration>, since elapsed: @escaping @Sendable () -> Duration,
        expire: @escaping @Sendable (Duration) -> Void
    ) {
        self.limits = limits
        self.clock = clock
        self.elapsed = elapsed
        self.expire = expire
    }

    /// Begins to watch.
    func start() { check() }

    /// Bytes were sent or received.
    func touch() {
        guard limits.silence != nil else { return }
        let now = elapsed()
        state.withLock { $0.last = now }
    }

    /// Somebody begins to wait for bytes, or nobody waits any more.
    func setAwaited(_ isAwaited: Bool) {
        guard limits.silence != nil else { return }
        let now = elapsed()
        state.withLock { state in
            if isAwaited { state.last = now }
            state.isAwaited = isAwaited
        }
    }

    func stop() {
        // The alarm is released after the lock.
        _ = state.withLock { state in
            state.isStopped = true
            return state.alarm.take()
        }
    }

    private func check() {
        let now = elapsed()
        // An alarm is made while the lock is held: if it fired before it is kept, it would release its successor.
        let (passed, _) = state.withLock { state -> (Duration?, Alarm?) in
            guard !state.isStopped else { return (nil, nil) }
            if let whole = limits.whole, now >= whole { return (whole, nil) }
            var rests = [limits.whole.map { $0 - now }]
            if let silence = limits.silence {
                // If nobody waits now, the time begins again when somebody does.
                let rest = silence - (state.isAwaited ? now - state.last : .zero)
                if rest <= .zero { return (silence, nil) }
                rests.append(rest)
            }
            let before = state.alarm
            state.alarm = rests.compactMap { $0 }.min().map { rest in
                Alarm(after: rest, clock) { [weak self] in self?.check() }
            }
            return (nil, before)
        }
        guard let passed else { return }
        stop()
        expire(passed)
    }
}
