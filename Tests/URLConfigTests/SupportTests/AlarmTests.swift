import Foundation
import Testing

@testable import URLConfig

/// Alarms of the system's clocks, which share one timer.
@Suite(.timeLimit(.minutes(10))) struct AlarmTests {
    @Test func `alarms fire in the order of their times, and those that were released do not fire`() async throws {
        var generator = SeededGenerator(seed: 11)
        let fired = Recorded<Int>()
        let start = ContinuousClock.now
        var alarms = (0..<200).map { Int($0) }.shuffled(using: &generator).map { number in
            (number, Alarm(after: .milliseconds(300 + number), ContinuousClock()) { fired.append(number) })
        }
        alarms.removeAll { $0.0 % 3 == 0 }
        try await waitUntil { fired.all.count == alarms.count }
        #expect(fired.all == (0..<200).filter { $0 % 3 != 0 })
        #expect(ContinuousClock.now - start >= .milliseconds(499))
        withExtendedLifetime(alarms) {}
    }

    @Test func `an earlier alarm is not held up by a later one, and many released ones cost nothing`() async throws {
        let (late, fired) = (Recorded<Int>(), Recorded<Int>())
        let kept = Alarm(after: .seconds(3600), ContinuousClock()) { late.append(0) }
        for _ in 0..<100_000 { _ = Alarm(after: .seconds(3600), SuspendingClock()) { late.append(1) } }
        let alarm = Alarm(after: .milliseconds(1), ContinuousClock()) { fired.append(0) }
        try await waitUntil { !fired.all.isEmpty }
        #expect(late.all.isEmpty)
        withExtendedLifetime((kept, alarm)) {}
    }

    @Test func `an alarm may release itself and make others while it fires`() async throws {
        let fired = Recorded<Int>()
        let alarm = Locked<Alarm?>(nil)
        alarm.set(
            \.self,
            Alarm(after: .milliseconds(1), ContinuousClock()) {
                fired.append(1)
                alarm.set(\.self, Alarm(after: .zero, ContinuousClock()) { fired.append(2) })
            })
        try await waitUntil { fired.all == [1, 2] }
    }
}
