import Testing
import URLConfig

@testable import URLConfigTesting

struct TestClockTests {
    @Test func `a test moves the time, and sees the delays`() async throws {
        let clock = TestClock()
        try await HTTPStubs.with {
            $0.clock = clock
            $0.get("/v2/users/1", .status(.serviceUnavailable).field(.retryAfter, "30"), .json(user).delay(.seconds(5)))
        } operation: {
            async let response = send { $0.retry = .standard }
            #expect(await clock.nextSleep() == .seconds(30))
            await clock.advance(by: .seconds(29))
            #expect(HTTPStubs.requests.count == 1)
            await clock.advance(by: .seconds(1))
            #expect(await clock.nextSleep() == .seconds(5))
            await clock.run()
            let duration = try await response.duration
            #expect(duration == .seconds(35))
        }
    }

    @Test func `a time limit passes when the test says so`() async throws {
        let clock = TestClock()
        try await HTTPStubs.with {
            $0.get("/v2/users/1", .stall)
        } operation: {
            let response = Task { try await send { ($0.clock, $0.deadline) = (clock, .seconds(10)) } }
            _ = await clock.nextSleep()
            await clock.advance(by: .seconds(10))
            let error = await #expect(throws: RequestError.self) { try await response.value }
            #expect(error?.code == .deadlineExceeded)
        }
    }

    @Test func `sleepers wake up in order, and a cancelled one throws`() async throws {
        let (clock, woken) = (TestClock(), Locked<[Int]>([]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in [3, 1, 2] {
                group.addTask {
                    try await clock.sleep(for: .seconds(number))
                    woken.withLock { $0.append(number) }
                }
            }
            while woken.withLock(\.count) < 3 { await clock.run() }
            try await group.waitForAll()
        }
        #expect(woken.withLock { $0 } == [1, 2, 3])
        #expect(clock.now.offset == .seconds(3))
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        _ = await clock.nextSleep()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        try await clock.sleep(until: .init(offset: .zero))
    }

    @Test func `a cancelled task moves no time`() async throws {
        let clock = TestClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        _ = await clock.nextSleep()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await clock.run()
        }.value
        #expect(clock.now.offset == .zero)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func `a sleep that nobody ends is reported after a second`() async throws {
        let report = OneShot<String>()
        let clock = TestClock { report.resolve(.success($0)) }
        try await HTTPStubs.with {
            $0.clock = clock
            $0.get("/v2/users/1", .text("").delay(.seconds(7)))
        } operation: {
            #expect(HTTPStubs.clock === clock)
            async let response = send(line: 8)
            let text = try await report.value()
            #expect(text.contains("a sleep of 7.0 seconds of the call in URLConfigTestingTests/App.swift:8 waits"))
            await clock.run()
            _ = try await response
        }
    }

    @Test func `a test that waits for a sleep that nobody begins is told so`() async throws {
        let report = OneShot<String>()
        let clock = TestClock { report.resolve(.success($0)) }
        let waiting = Task { await clock.nextSleep() }
        #expect(try await report.value() == "TestClock: the test waits for a sleep, and nobody sleeps")
        waiting.cancel()
        #expect(await waiting.value == .zero)
    }

    /// Its alarms belong to calls.
    @Test func `on an immediate clock, a limit passes only before a longer sleep, and may be set again`() async throws {
        let (clock, fired) = (TestClock.immediate, Locked<[Int]>([]))
        let alarms = Locked<[@Sendable () -> Void]>([])
        @Sendable func set(_ seconds: Int, again: Int) {
            let cancel = clock.alarm(after: .seconds(seconds)) {
                fired.withLock { $0.append(seconds) }
                if again > 0 { set(seconds, again: again - 1) }
            }
            alarms.withLock { $0.append(cancel) }
        }
        set(2, again: 9)
        clock.alarm(after: .seconds(3)) { fired.withLock { $0.append(3) } }()
        try await clock.sleep(for: .seconds(1))
        #expect(fired.withLock { $0 } == [])
        try await clock.sleep(for: .seconds(4))
        #expect(fired.withLock { $0 } == [2, 2])
        #expect(clock.now.offset == .seconds(5))
    }
}
