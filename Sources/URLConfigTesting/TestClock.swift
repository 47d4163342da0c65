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
        /// The call that has set it; `nil` if it is not known.
        let call: Int?
        let fire: @Sendable () -> Void
    }

    /// What a call does that uses the clock.
    private struct Progress {
        /// The number of its sleeps.
        var sleeps = 0
        /// Whether it goes on although it sleeps, because a time limit has passed.
        var isEnding = false
        /// Whether it has waited for something else for so long that the clock does not wait for it.
        var isLeft = false
        var isRunning: Bool { (sleeps == 0 || isEnding) && !isLeft }
    }

    /// A call that uses the clock, until it is released.
    private final class User: Sendable {
        let number: Int
        let state: Locked<State>

        init(_ state: Locked<State>) {
            self.state = state
            number = state.withLock { state in
                state.last += 1
                state.calls[state.last] = Progress()
                state.expectsCall = false
                return state.last
            }
        }

        deinit { state.withLock { $0.calls[number] = nil } }
    }

    private struct State {
        var now = Instant(offset: .zero)
        /// The date when the clock was created, or the latest one of a clock that it continues.
        var start = Date()
        var events: [Int: Event] = [:]
        /// The calls that are not over.
        var calls: [Int: Progress] = [:]
        /// Whether the test has just begun, and no call has used the clock.
        var expectsCall = false
        /// How many tasks move the clock: on a busy machine, they need more than a moment.
        var movers = 0
        var last = 0
        /// The durations of all sleeps and time limits, in order.
        var asked: [Duration] = []
        /// Resolved when somebody sleeps, for ``nextSleep()``.
        var waiting: [OneShot<Void>] = []

        var date: Date { start + now.offset / .seconds(1) }
        /// Whether somebody is about to sleep or to end.
        var isAwaited: Bool { expectsCall || calls.values.contains(where: \.isRunning) }

        mutating func add(_ event: Event) -> Int {
            last += 1
            events[last] = event
            if let call = event.call, var progress = calls[call] {
                if event.isSleep { progress.sleeps += 1 }
                (progress.isEnding, progress.isLeft) = (false, false)
                calls[call] = progress
            }
            return last
        }

        mutating func remove(_ id: Int) -> Event? {
            guard let event = events.removeValue(forKey: id) else { return nil }
            if event.isSleep, let call = event.call { calls[call]?.sleeps -= 1 }
            return event
        }

        /// The clock goes on without the calls that are still running.
        mutating func leaveOthers() {
            expectsCall = false
            for (call, progress) in calls where progress.isRunning { calls[call]?.isLeft = true }
        }

        /// The earliest event.
        func first(until limit: Instant? = nil, where isMeant: (Event) -> Bool = { _ in true }) -> (Int, Event)? {
            let due = events.filter { event in isMeant(event.value) && limit.map { event.value.time <= $0 } ?? true }
            return due.min { ($0.value.time, $0.key) < ($1.value.time, $1.key) }.map { ($0.key, $0.value) }
        }
    }

    /// Whether a time limit is set while another one passes, in the same task.
    @TaskLocal private static var isSetAgain: Locked<Bool>?

    private static let (fewestRounds, mostRounds, longest) = (20, 1000, Duration.seconds(1))

    private let state: Locked<State>
    private let isImmediate: Bool
    /// The latest date of the clocks that this one continues; `nil` for a clock of its own.
    private let latest: Locked<Date>?
    /// The call that uses this clock; `nil` if it is not known.
    private let user: User?
    /// Who sleeps, for a report.
    private let sleeper: String
    private let later: Later
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

    /// Calls a function after a second of real time.
    package typealias Later = @Sendable (_ check: @escaping @Sendable () -> Void) -> Void

    package static let afterSecond: Later = { DispatchQueue.global().asyncAfter(deadline: .now() + 1, execute: $0) }

    package convenience init(later: @escaping Later = afterSecond, report: @escaping @Sendable (String) -> Void) {
        self.init(isImmediate: false, later: later, report: report)
    }

    private init(
        state: Locked<State> = Locked(State()), isImmediate: Bool, latest: Locked<Date>? = nil, user: User? = nil,
        sleeper: String = "", later: @escaping Later = afterSecond,
        report: @escaping @Sendable (String) -> Void = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
    ) {
        (self.state, self.isImmediate, self.latest, self.user) = (state, isImmediate, latest, user)
        (self.sleeper, self.later, self.report) = (sleeper, later, report)
    }

    /// The same clock for one call, which a report names, and for which the clock waits.
    func used(by call: String) -> TestClock {
        TestClock(
            state: state, isImmediate: isImmediate, latest: latest, user: isImmediate ? nil : User(state),
            sleeper: " of the call in \(call)", later: later, report: report)
    }

    /// An immediate clock whose date is not before the latest one of the clocks before it.
    ///
    /// - Parameter latest: The latest date of all of them, which this one also changes.
    static func immediate(after latest: Locked<Date>) -> TestClock {
        let clock = TestClock(isImmediate: true, latest: latest)
        let start = latest.withLock { latest in
            latest = max(latest, Date())
            return latest
        }
        clock.state.set(\.start, start)
        return clock
    }

    /// A call is about to use the clock for the first time.
    func expectCall() { state.set(\.expectsCall, true) }

    /// Waits for a point of time.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        guard isImmediate else { return try await wait(until: deadline) }
        while try !passes(until: deadline) {
            // The time limit ends what sleeps, unless it belongs to another call that shares the clock.
            try await wait(until: deadline)
        }
    }

    /// Waits for a point of time; on an immediate clock for a second of real time.
    private func wait(until deadline: Instant) async throws {
        let promise = OneShot<Void>()
        let (id, rest, waiting) = state.withLock { state in
            defer { state.waiting = [] }
            state.asked.append(state.now.duration(to: deadline))
            let time = isImmediate ? Instant(offset: .seconds(Int64.max / 2)) : deadline
            guard time > state.now else { return (0, Duration.zero, state.waiting) }
            let event = Event(time: time, isSleep: true, call: user?.number) { promise.resolve(.success(())) }
            return (state.add(event), state.now.duration(to: deadline), state.waiting)
        }
        for test in waiting { test.resolve(.success(())) }
        guard id > 0 else { return }
        defer { Self.remove(id, state) }
        if isImmediate {
            DispatchQueue.global().asyncAfter(deadline: .now() + 1) { promise.resolve(.success(())) }
        } else {
            noticeLater("a sleep of \(rest)\(sleeper) waits, and nobody advances the clock") { [state] in
                state.withLock { $0.events[id] == nil ? false : $0.movers > 0 ? nil : true }
            }
        }
        try await promise.value()
    }

    /// Lets the time pass on an immediate clock.
    ///
    /// - Returns: `false` if a time limit has passed before, which ends what sleeps if both belong to one call.
    private func passes(until deadline: Instant) throws -> Bool {
        while true {
            try Task.checkCancellation()
            guard let isSetAgain = fireNext(until: deadline, where: { !$0.isSleep }) else { return true }
            if !isSetAgain { return false }
        }
    }

    /// Moves the time to the next event, and lets it happen; if there is none, to the end.
    ///
    /// - Returns: Whether it is a time limit that was set again, so that it has ended nothing; `nil` for no event.
    private func fireNext(until end: Instant, where isMeant: (Event) -> Bool = { _ in true }) -> Bool? {
        let (event, before, date) = state.withLock { state in
            let next = state.first(until: end, where: isMeant)
            state.now = max(state.now, next?.1.time ?? end)
            let event = next.flatMap { state.remove($0.0) }
            let before = event?.call.flatMap { state.calls[$0]?.isEnding } ?? false
            if let event, let call = event.call {
                // Who sleeps wakes up, and goes on.
                state.calls[call]?.isEnding = !event.isSleep
                if event.isSleep { state.calls[call]?.isLeft = false }
            }
            return (event, before, state.date)
        }
        latest?.withLock { $0 = max($0, date) }
        guard let event else { return nil }
        let isSetAgain = Locked(false)
        Self.$isSetAgain.withValue(isSetAgain) { event.fire() }
        guard isSetAgain.withLock(\.self) else { return false }
        if let call = event.call { state.withLock { $0.calls[call]?.isEnding = before } }
        return true
    }

    /// Moves the time, and wakes up who sleeps until then, in order; time limits also pass.
    ///
    /// Before and after each of them, other tasks have time to go on, such as to the next sleep.
    public func advance(by duration: Duration) async {
        let end = state.withLock { state in
            state.movers += 1
            return state.now.advanced(by: duration)
        }
        defer { state.withLock { $0.movers -= 1 } }
        await settle()
        while fireNext(until: end) != nil { await settle() }
    }

    /// Moves the time to the end of each sleep, until nobody sleeps or the task is cancelled.
    public func run() async {
        state.withLock { $0.movers += 1 }
        defer { state.withLock { $0.movers -= 1 } }
        await settle()
        while !Task.isCancelled, let (_, event) = state.withLock({ $0.first { $0.isSleep } }) {
            await advance(by: now.duration(to: event.time))
        }
    }

    /// Waits until somebody sleeps.
    ///
    /// - Returns: The time until the first one wakes up; zero if the task is cancelled.
    @discardableResult
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
        while fireNext(until: end) != nil {}
    }

    private static func remove(_ id: Int, _ state: Locked<State>) { _ = state.withLock { $0.remove(id) } }

    /// Waits until all calls that use the clock sleep or are over, and lets other tasks go on.
    ///
    /// A call may wait for something else, such as for the test itself. So the number of rounds, and their time, have
    /// a limit.
    private func settle() async {
        let start = ContinuousClock.now
        for round in 0..<Self.mostRounds {
            if round >= Self.fewestRounds {
                if !state.withLock({ $0.isAwaited }) { return }
                if ContinuousClock.now - start > Self.longest { break }
            }
            // Behind all that tasks of this priority have to do now; where they have threads of their own, tasks of the
            // lowest priority would not wait for them.
            for priority in [Task.currentPriority, .background] {
                await Task.detached(priority: priority) { await Task.yield() }.value
            }
        }
        state.withLock { $0.leaveOthers() }
    }

    /// Reports what is still so after a second of real time, or after another one if that is not known (`nil`).
    private func noticeLater(_ text: String, _ isStillSo: @escaping @Sendable () -> Bool?) {
        // Not the clock: while it lives, its call is not over.
        let (later, report) = (later, report)
        @Sendable func ask() {
            later {
                guard let isSo = isStillSo() else { return ask() }
                if isSo { report("TestClock: \(text)") }
            }
        }
        ask()
    }
}

extension TestClock: AlarmClock {
    package var date: Date { state.withLock { $0.date } }

    package func alarm(after delay: Duration, _ fire: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        Self.isSetAgain?.set(\.self, true)
        let id = state.withLock { state in
            state.asked.append(delay)
            let time = state.now.advanced(by: delay)
            return state.add(Event(time: time, isSleep: false, call: user?.number, fire: fire))
        }
        return { [state] in Self.remove(id, state) }
    }
}
