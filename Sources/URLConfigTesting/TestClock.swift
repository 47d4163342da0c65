@preconcurrency import Dispatch
import URLConfig

/// A clock that a test moves: retries, delays and time limits take no time.
///
/// ```swift
/// let clock = TestClock()
/// async let response = URLSession.shared.response(for: request) { ($0.retry, $0.clock) = (.standard, clock) }
/// let delay = await clock.nextSleep()                     // the delay before the second attempt
/// await clock.advance(by: delay)
/// ```
///
/// Calls to stubs need none: by default, each of them has an ``immediate`` clock.
public final class TestClock: Clock {
    /// A duration of Swift.
    public typealias Duration = Swift.Duration

    /// A point of time, counted from the creation of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was created.
        public let offset: Swift.Duration

        /// The point of time after a duration.
        public func advanced(by duration: Swift.Duration) -> Self { Self(offset: offset + duration) }

        /// The duration from this point of time to another.
        public func duration(to other: Self) -> Swift.Duration { other.offset - offset }

        /// Whether a point of time is before another.
        public static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
    }

    private struct Event {
        let time: Instant
        /// Whether somebody sleeps until then; otherwise it is a time limit.
        let isSleep: Bool
        let fire: @Sendable () -> Void
    }

    private struct State {
        var now = Instant(offset: .zero)
        /// The date when the clock was created.
        let start = Date()
        var events: [Int: Event] = [:]
        var last = 0
        /// The durations of all sleeps and time limits, in order.
        var asked: [Duration] = []
        /// Resolved when somebody sleeps, for ``nextSleep()``.
        var waiting: [OneShot<Void>] = []

        mutating func add(_ event: Event) -> Int {
            last += 1
            events[last] = event
            return last
        }

        /// The earliest event.
        func first(until limit: Instant? = nil, where isMeant: (Event) -> Bool = { _ in true }) -> (Int, Event)? {
            let due = events.filter { event in isMeant(event.value) && limit.map { event.value.time <= $0 } ?? true }
            return due.min { ($0.value.time, $0.key) < ($1.value.time, $1.key) }.map { ($0.key, $0.value) }
        }
    }

    /// Counts the time limits that are set while another one passes, in the same task.
    @TaskLocal private static var following: Locked<Int>?

    private let state: Locked<State>
    private let isImmediate: Bool
    /// Who sleeps, for a report.
    private let sleeper: String
    /// Receives what the test should know.
    private let report: @Sendable (String) -> Void

    /// The smallest step of the clock.
    public var minimumResolution: Duration { .nanoseconds(1) }
    /// The time on the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// A clock that stands still until the test moves it.
    ///
    /// If somebody has slept for a second of real time, a line on the standard error output says who and for how long.
    public convenience init() { self.init(isImmediate: false) }

    /// A clock on which nobody waits: who sleeps, wakes up at once, and the time has passed.
    ///
    /// A time limit passes only if somebody sleeps for longer, never by itself.
    public static var immediate: TestClock { TestClock(isImmediate: true) }

    package convenience init(report: @escaping @Sendable (String) -> Void) {
        self.init(isImmediate: false, report: report)
    }

    private init(
        state: Locked<State> = Locked(State()), isImmediate: Bool, sleeper: String = "",
        report: @escaping @Sendable (String) -> Void = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
    ) {
        (self.state, self.isImmediate, self.sleeper, self.report) = (state, isImmediate, sleeper, report)
    }

    /// The same clock for one call, which a report names.
    func used(by call: String) -> TestClock {
        TestClock(state: state, isImmediate: isImmediate, sleeper: " of the call in \(call)", report: report)
    }

    /// Waits for a point of time.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        if try isImmediate && passes(until: deadline) { return }
        let promise = OneShot<Void>()
        let (id, rest, waiting) = state.withLock { state in
            defer { state.waiting = [] }
            state.asked.append(state.now.duration(to: deadline))
            // Its own time limit has passed on an immediate clock: it waits until it is cancelled.
            let time = isImmediate ? Instant(offset: .seconds(Int64.max / 2)) : deadline
            guard time > state.now else { return (0, Duration.zero, state.waiting) }
            let event = Event(time: time, isSleep: true) { promise.resolve(.success(())) }
            return (state.add(event), state.now.duration(to: deadline), state.waiting)
        }
        for test in waiting { test.resolve(.success(())) }
        guard id > 0 else { return }
        defer { Self.remove(id, state) }
        noticeLater("a sleep of \(rest)\(sleeper) waits, and nobody advances the clock") { [state] in
            state.withLock { $0.events[id] != nil }
        }
        try await promise.value()
    }

    /// Lets the time pass on an immediate clock.
    ///
    /// - Returns: `false` if a time limit has ended what sleeps.
    private func passes(until deadline: Instant) throws -> Bool {
        while true {
            try Task.checkCancellation()
            let following = Locked(0)
            let isLimit = Self.$following.withValue(following) { fireNext(until: deadline) { !$0.isSleep } }
            if !isLimit { return true }
            // A limit that is set again has ended nothing.
            if following.withLock({ $0 == 0 }) { return false }
        }
    }

    /// Moves the time to the next event, and lets it happen; if there is none, to the end.
    private func fireNext(until end: Instant, where isMeant: (Event) -> Bool = { _ in true }) -> Bool {
        let event = state.withLock { state -> Event? in
            let next = state.first(until: end, where: isMeant)
            state.now = max(state.now, next?.1.time ?? end)
            return next.flatMap { state.events.removeValue(forKey: $0.0) }
        }
        event?.fire()
        return event != nil
    }

    /// Moves the time, and wakes up who sleeps until then, in order; time limits also pass.
    ///
    /// Before and after each of them, other tasks have time to go on, such as to the next sleep.
    public func advance(by duration: Duration) async {
        let end = now.advanced(by: duration)
        await settle()
        while fireNext(until: end) { await settle() }
    }

    /// Moves the time to the end of each sleep, until nobody sleeps or the task is cancelled.
    public func run() async {
        await settle()
        while !Task.isCancelled, let (_, event) = state.withLock({ $0.first { $0.isSleep } }) {
            await advance(by: now.duration(to: event.time))
        }
    }

    /// Waits until somebody sleeps.
    ///
    /// - Returns: The time until the first one wakes up; zero if the task is cancelled.
    public func nextSleep() async -> Duration {
        while !Task.isCancelled {
            let promise = OneShot<Void>()
            let rest = state.withLock { state -> Duration? in
                if let (_, event) = state.first(where: \.isSleep) { return state.now.duration(to: event.time) }
                state.waiting.append(promise)
                return nil
            }
            if let rest { return rest }
            let isOver = Locked(false)
            noticeLater("the test waits for a sleep, and nobody sleeps") { !isOver.withLock { $0 } }
            try? await promise.value()
            isOver.set(\.self, true)
        }
        return .zero
    }

    /// The durations of all sleeps and time limits, in order.
    package var asked: [Duration] { state.withLock { $0.asked } }

    /// The number of sleeps and time limits that are not over.
    package var sleepers: Int { state.withLock { $0.events.count } }

    /// Moves the time like ``advance(by:)``, but leaves no time to others.
    package func move(by duration: Duration) {
        let end = now.advanced(by: duration)
        while fireNext(until: end) {}
    }

    private static func remove(_ id: Int, _ state: Locked<State>) {
        _ = state.withLock { $0.events.removeValue(forKey: id) }
    }

    private func settle() async {
        for _ in 0..<20 { await Task.detached(priority: .background) { await Task.yield() }.value }
    }

    /// Reports what is still so after a second of real time.
    private func noticeLater(_ text: String, _ isStillSo: @escaping @Sendable () -> Bool) {
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [report] in
            if isStillSo() { report("TestClock: \(text)") }
        }
    }
}

extension TestClock: AlarmClock {
    package var date: Date { state.withLock { $0.start + $0.now.offset / .seconds(1) } }

    package func alarm(after delay: Duration, _ fire: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        Self.following?.withLock { $0 += 1 }
        let id = state.withLock { state in
            state.asked.append(delay)
            return state.add(Event(time: state.now.advanced(by: delay), isSleep: false, fire: fire))
        }
        return { [state] in Self.remove(id, state) }
    }
}
