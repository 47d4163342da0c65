import Testing

@testable import URLConfig

/// A clock that a test moves; a sleeper wakes up only when the clock was moved far enough.
final class TestClock: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        var offset = Swift.Duration.zero

        func advanced(by duration: Swift.Duration) -> Self { Self(offset: offset + duration) }
        func duration(to other: Self) -> Swift.Duration { other.offset - offset }
        static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant()
        var sleepers: [Int: (deadline: Instant, promise: OneShot<Void>)] = [:]
        var nextSleeper = 0
        /// The durations of all sleeps, in order.
        var asked: [Duration] = []
    }

    private let state = Locked(State())
    let minimumResolution = Duration.nanoseconds(1)
    var now: Instant { state.withLock { $0.now } }

    /// The durations of all sleeps, in order.
    var asked: [Duration] { state.withLock { $0.asked } }

    /// The number of current sleepers.
    var sleepers: Int { state.withLock { $0.sleepers.count } }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let promise = OneShot<Void>()
        let sleeper = state.withLock { state in
            state.asked.append(state.now.duration(to: deadline))
            guard deadline > state.now else {
                promise.resolve(.success(()))
                return -1
            }
            state.nextSleeper += 1
            state.sleepers[state.nextSleeper] = (deadline, promise)
            return state.nextSleeper
        }
        defer { state.withLock { _ = $0.sleepers.removeValue(forKey: sleeper) } }
        try await promise.value()
    }

    /// Moves the clock and wakes the sleepers whose time is over.
    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let woken = state.sleepers.filter { $0.value.deadline <= state.now }
            for sleeper in woken.keys { state.sleepers[sleeper] = nil }
            return woken.values.map(\.promise)
        }
        for promise in woken { promise.resolve(.success(())) }
    }

    /// Waits for this number of sleepers; otherwise the test fails.
    func waitForSleepers(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        await #expect(throws: Never.self, sourceLocation: sourceLocation) {
            try await waitUntil { sleepers >= count }
        }
    }
}
