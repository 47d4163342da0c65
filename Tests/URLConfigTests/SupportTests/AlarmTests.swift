import Testing

@testable import URLConfig

/// Alarms of the system's clocks, which share one timer.
@Suite(.inTime) struct AlarmTests {
    @Test func `each alarm fires once, not before its time, and those that were released do not fire`() async throws {
        var generator = SeededGenerator(seed: 11)
        let (fired, early) = (Recorder<Int>(), Recorder<Int>())
        var alarms = (0..<200).map { Int($0) }.shuffled(using: &generator).map { number in
            let (start, delay) = (ContinuousClock.now, Duration.milliseconds(300 + number))
            let alarm = Alarm(after: delay, ContinuousClock()) {
                fired.note(number)
                // The two clocks may differ a little.
                if start.duration(to: .now) < delay - .milliseconds(1) { early.note(number) }
            }
            return (number, alarm)
        }
        alarms.removeAll { $0.0 % 3 == 0 }
        try await waitUntil { fired.entries.count == alarms.count }
        #expect(fired.entries.sorted() == (0..<200).filter { $0 % 3 != 0 })
        #expect(early.entries.isEmpty)
        withExtendedLifetime(alarms) {}
    }

    @Test func `an earlier alarm is not held up by a later one, and many released ones cost nothing`() async throws {
        let (late, fired) = (Recorder<Int>(), Recorder<Int>())
        let kept = Alarm(after: .seconds(3600), ContinuousClock()) { late.note(0) }
        for _ in 0..<100_000 { _ = Alarm(after: .seconds(3600), SuspendingClock()) { late.note(1) } }
        let alarm = Alarm(after: .milliseconds(1), ContinuousClock()) { fired.note(0) }
        try await waitUntil { !fired.entries.isEmpty }
        #expect(late.entries.isEmpty)
        withExtendedLifetime((kept, alarm)) {}
    }

    @Test func `an alarm may release itself and make others while it fires`() async throws {
        let fired = Recorder<Int>()
        let alarm = Locked<Alarm?>(nil)
        alarm.set(
            \.self,
            Alarm(after: .milliseconds(1), ContinuousClock()) {
                fired.note(1)
                alarm.set(\.self, Alarm(after: .zero, ContinuousClock()) { fired.note(2) })
            })
        try await waitUntil { fired.entries == [1, 2] }
    }
}
