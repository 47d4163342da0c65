import Testing
import URLConfigTesting

@testable import URLConfig

/// The time limits of an attempt, on a clock of the test.
@Suite(.inTime) struct WatchdogTests {
    private let clock = TestClock()
    private let passed = Recorder<Duration>()

    private let isAwaited = Locked(true)

    private func watchdog(_ limits: TimeLimits) -> Watchdog {
        let watchdog = Watchdog(limits, clock, since: clock.stopwatch()) { [isAwaited] in
            isAwaited.withLock { $0 }
        } expire: { [passed] in
            passed.note($0)
        }
        watchdog.start()
        return watchdog
    }

    private func advance(by seconds: Int) async {
        await clock.waitForSleepers()
        clock.move(by: .seconds(seconds))
    }

    // Many times, to find a race between an alarm that fires and the watchdog that keeps it.
    @Test func `silence is counted from the last bytes`() async throws {
        for _ in 0..<100 {
            let (clock, passed) = (TestClock(), Recorder<Duration>())
            let watchdog = Watchdog(TimeLimits(silence: .seconds(3)), clock, since: clock.stopwatch()) {
                passed.note($0)
            }
            watchdog.start()
            for _ in 0..<5 {
                await clock.waitForSleepers()
                clock.move(by: .seconds(2))
                watchdog.touch()
            }
            await clock.waitForSleepers()
            #expect(passed.entries.isEmpty)
            while passed.entries.isEmpty {
                clock.move(by: .seconds(1))
                try await waitUntil { clock.sleepers > 0 || !passed.entries.isEmpty }
            }
            #expect(passed.entries == [.seconds(3)])
            #expect(clock.now.offset == .seconds(13))
        }
    }

    @Test func `bytes do not extend the limit of the whole attempt`() async throws {
        let watchdog = watchdog(TimeLimits(whole: .seconds(5), silence: .seconds(3)))
        for _ in 0..<4 {
            await advance(by: 1)
            watchdog.touch()
        }
        #expect(passed.entries.isEmpty)
        await advance(by: 1)
        try await waitUntil { !passed.entries.isEmpty }
        #expect(passed.entries == [.seconds(5)])
        try await waitUntil { clock.sleepers == 0 }
    }

    @Test func `while nobody waits there is no silence, and then its time begins again`() async throws {
        let watchdog = watchdog(TimeLimits(silence: .seconds(3)))
        isAwaited.set(\.self, false)
        for _ in 0..<5 { await advance(by: 3) }
        await clock.waitForSleepers()
        isAwaited.set(\.self, true)
        watchdog.touch()
        await advance(by: 2)
        while passed.entries.isEmpty {
            clock.move(by: .seconds(1))
            try await waitUntil { clock.sleepers > 0 || !passed.entries.isEmpty }
        }
        #expect(clock.now.offset == .seconds(18))
    }

    @Test func `a time limit that is over already passes at once`() {
        for limit in [Duration.zero, .seconds(-1)] { withExtendedLifetime(watchdog(TimeLimits(whole: limit))) {} }
        #expect(passed.entries == [.zero, .seconds(-1)])
    }

    @Test func `after it was stopped or released, nothing passes`() async throws {
        let stopped = watchdog(TimeLimits(whole: .seconds(1)))
        await clock.waitForSleepers()
        stopped.stop()
        try await waitUntil { clock.sleepers == 0 }
        do { _ = watchdog(TimeLimits(silence: .seconds(1))) }
        try await waitUntil { clock.sleepers == 0 }
        clock.move(by: .seconds(2))
        #expect(passed.entries.isEmpty)
        withExtendedLifetime(stopped) {}
    }
}
