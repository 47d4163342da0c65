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

/// Runs an operation, and calls `expire`, from any thread, if the operation does not end in time.
func withTimeLimit<Result>(
    _ limit: Duration?, _ clock: any Clock<Duration>, expire: @escaping @Sendable () -> Void,
    operation: () async throws -> Result
) async rethrows -> Result {
    let alarm = limit.map { Alarm(after: $0, clock, expire) }
    defer { withExtendedLifetime(alarm) {} }
    return try await operation()
}

/// Calls a function once, after a delay, unless the alarm is released before.
///
/// The system's clocks do not use Swift's thread pool for this, because a measured operation may block all its threads.
final class Alarm: Sendable {
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
        let number = Alarms.shared.add(.now() + delay.clamped / .seconds(1), fire)
        cancel = { Alarms.shared.remove(number) }
    }

    deinit { cancel() }
}

/// All alarms of the system's clocks, which share one timer.
///
/// A timer of its own for each call would wake two threads, and most alarms never fire.
private final class Alarms: Sendable {
    private struct Entry {
        /// This time stops while an Apple device sleeps, as transfers do.
        let time: DispatchTime
        let number: Int
    }

    private struct State {
        /// The functions that were not called and not removed.
        var functions: [Int: @Sendable () -> Void] = [:]
        /// A heap with the earliest entry first: no entry is later than those at 2i + 1 and 2i + 2.
        ///
        /// Entries whose function was removed leave it later.
        var entries: [Entry] = []
        var last = 0
        /// The time for which the timer is set.
        var next = DispatchTime.distantFuture

        mutating func add(_ time: DispatchTime, _ function: @escaping @Sendable () -> Void) -> Int {
            last += 1
            functions[last] = function
            entries.append(Entry(time: time, number: last))
            var index = entries.count - 1
            while index > 0, entries[index].time < entries[(index - 1) / 2].time {
                entries.swapAt(index, (index - 1) / 2)
                index = (index - 1) / 2
            }
            return last
        }

        mutating func removeFirst() -> Entry {
            entries.swapAt(0, entries.count - 1)
            let first = entries.removeLast()
            var index = 0
            while let next = [2 * index + 1, 2 * index + 2].filter({ $0 < entries.count })
                .min(by: { entries[$0].time < entries[$1].time }), entries[next].time < entries[index].time
            {
                entries.swapAt(index, next)
                index = next
            }
            return first
        }

        /// Removes entries without a function when they are the most, so that each costs little.
        mutating func sweep() {
            guard entries.count > 2 * functions.count + 64 else { return }
            entries = entries.filter { functions[$0.number] != nil }.sorted { $0.time < $1.time }
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
                if let function = state.functions.removeValue(forKey: state.removeFirst().number) {
                    due.append(function)
                }
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
