@preconcurrency import Dispatch

extension Clock<Duration> {
    /// Returns a function for the time since now.
    func stopwatch() -> @Sendable () -> Duration {
        // The usual clock, without a box for its instants.
        if self is ContinuousClock {
            let start = ContinuousClock.now
            return { start.duration(to: .now) }
        }
        let start = now
        return { start.duration(to: now) }
    }
}

/// Calls a function once, after a delay, unless the alarm is released before.
///
/// The system's clocks do not use Swift's thread pool for this, because a measured operation may block all its threads.
final class Alarm: Sendable {
    private let cancel: @Sendable () -> Void

    /// - Parameter fire: The function. It must not block.
    init(after delay: Duration, _ clock: any Clock<Duration>, _ fire: @escaping @Sendable () -> Void) {
        guard clock is ContinuousClock || clock is SuspendingClock else {
            if let clock = clock as? any AlarmClock {
                cancel = clock.alarm(after: delay, fire)
                return
            }
            let task = Task {
                try await clock.sleep(for: delay)
                fire()
            }
            cancel = { task.cancel() }
            return
        }
        let number = Alarms.shared.add(.now() + delay.clamped / .seconds(1), fire)
        cancel = { Alarms.shared.remove(number) }
    }

    deinit { cancel() }
}

/// All alarms of the system's clocks, which share one timer.
///
/// A timer of its own for each call would wake two threads, and most alarms never fire.
private final class Alarms: Sendable {
    private struct State {
        /// The functions that were not called and not removed.
        var functions: [Int: @Sendable () -> Void] = [:]
        /// The earliest entry first; entries whose function was removed leave it later.
        ///
        /// Their time stops while an Apple device sleeps, as transfers do.
        var entries: ArraySlice<(time: DispatchTime, number: Int)> = []
        var last = 0
        /// The time for which the timer is set.
        var next = DispatchTime.distantFuture

        mutating func add(_ time: DispatchTime, _ function: @escaping @Sendable () -> Void) -> Int {
            last += 1
            functions[last] = function
            // Most limits are alike, so most entries belong at the end.
            var (start, end) = (entries.startIndex, entries.endIndex)
            if let latest = entries.last, latest.time <= time { start = end }
            while start < end {
                let middle = (start + end) / 2
                if entries[middle].time <= time { start = middle + 1 } else { end = middle }
            }
            entries.insert((time, last), at: start)
            return last
        }

        /// Removes entries without a function when they outnumber the others, so that each costs little.
        mutating func sweep() {
            if entries.count > 2 * functions.count + 64 { entries.removeAll { functions[$0.number] == nil } }
        }
    }

    static let shared = Alarms()

    private let state = Locked(State())
    private let timer: any DispatchSourceTimer

    private init() {
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "URLConfig.alarms", qos: .userInitiated))
        timer.setEventHandler { Alarms.shared.fire() }
        timer.schedule(deadline: .distantFuture)
        timer.resume()
    }

    func add(_ time: DispatchTime, _ function: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            defer { setTimer(&state) }
            return state.add(time, function)
        }
    }

    func remove(_ number: Int) {
        // The function is released after the lock.
        _ = state.withLock { state in
            defer { state.sweep() }
            return state.functions.removeValue(forKey: number)
        }
    }

    private func fire() {
        let now = DispatchTime.now()
        let due = state.withLock { state in
            var due: [@Sendable () -> Void] = []
            while let first = state.entries.first, first.time <= now {
                state.entries.removeFirst()
                if let function = state.functions.removeValue(forKey: first.number) { due.append(function) }
            }
            state.next = .distantFuture
            setTimer(&state)
            return due
        }
        for function in due { function() }
    }

    /// Setting the timer does not block.
    private func setTimer(_ state: inout State) {
        guard let first = state.entries.first, first.time < state.next else { return }
        state.next = first.time
        timer.schedule(deadline: first.time)
    }
}
