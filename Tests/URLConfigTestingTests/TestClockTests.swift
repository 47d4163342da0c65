import Testing
import URLConfig

@testable import URLConfigTesting

/// One after the other: some of them keep all threads busy.
@Suite(.serialized) struct TestClockTests {
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

    /// Others that always have something to do, as many tests at once have, while an operation runs.
    private func besideOthers(_ operation: () async throws -> Void) async rethrows {
        let isOver = Locked(false)
        defer { isOver.set(\.self, true) }
        for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
            Task {
                while !isOver.withLock(\.self) {
                    _ = (0..<2000).reduce(0.0) { $0 + Double($1).squareRoot() }
                    await Task.yield()
                }
            }
        }
        try await operation()
    }

    /// Whether the test moves the clock by the whole time or runs it.
    @Test(arguments: [false, true], 1...2)
    func `beside others that are busy, the clock does not overtake a call`(runs: Bool, _: Int) async throws {
        let clock = TestClock()
        try await HTTPStubs.with {
            $0.clock = clock
            let busy = HTTPStubs.Response.status(.serviceUnavailable).field(.retryAfter, "2")
            $0.get("/v2/users/1", busy, busy, .text("a"))
        } operation: {
            try await besideOthers {
                let isOver = Locked(false)
                let call = Task {
                    defer { isOver.set(\.self, true) }
                    return try await send { $0.retry = .standard }.duration
                }
                if runs { await clock.run() } else { await clock.advance(by: .seconds(30)) }
                #expect(clock.now.offset == .seconds(runs ? 4 : 30))
                while !isOver.withLock(\.self) { await clock.advance(by: .seconds(1)) }
                let duration = try await call.value
                #expect(duration == .seconds(4))
            }
        }
    }

    @Test(arguments: 1...2)
    func `beside others that are busy, a deadline passes at its time`(_: Int) async throws {
        let clock = TestClock()
        try await HTTPStubs.with {
            $0.clock = clock
            $0.get("/v2/users/1", .stall)
        } operation: {
            await besideOthers {
                let isOver = Locked(false)
                let call = Task {
                    defer { isOver.set(\.self, true) }
                    try await send { $0.deadline = .seconds(20) }
                }
                await clock.advance(by: .seconds(20))
                while !isOver.withLock(\.self) { await clock.advance(by: .seconds(1)) }
                let error = await #expect(throws: RequestError.self) { try await call.value }
                #expect(error?.code == .deadlineExceeded)
                #expect(clock.now.offset == .seconds(20))
            }
        }
    }

    @Test func `the clock does not wait for a call that waits for something else`() async throws {
        let (clock, goOn) = (TestClock(), OneShot<Void>())
        try await HTTPStubs.with {
            $0.clock = clock
            $0.get("/v2/users/1") { _ in
                try await goOn.value()
                return .text("a").delay(.seconds(3))
            }
        } operation: {
            async let response = send()
            for _ in 0..<10 { await clock.advance(by: .seconds(1)) }
            goOn.resolve(.success(()))
            #expect(await clock.nextSleep() == .seconds(3))
            await clock.run()
            let duration = try await response.duration
            #expect(duration == .seconds(13))
        }
    }

    @Test func `in an inner scope without a clock, it is the clock of the outer one`() async throws {
        let clock = TestClock()
        try await HTTPStubs.with {
            $0.clock = clock
            $0.get("/v2/users/1").optional()
        } operation: {
            try await HTTPStubs.with {
                $0.get("/v2/users/1", .text("").delay(.seconds(7)))
            } operation: {
                #expect(HTTPStubs.clock === clock)
                async let response = send()
                #expect(await clock.nextSleep() == .seconds(7))
                await clock.run()
                _ = try await response
            }
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

    @Test func `a sleep is also reported if the clock was just moved when it was asked about`() async throws {
        let (checks, reports) = (Locked<[@Sendable () -> Void]>([]), Locked<[String]>([]))
        @Sendable func check() {
            let due = checks.withLock { checks in
                defer { checks = [] }
                return checks
            }
            for check in due { check() }
        }
        let clock = TestClock { check in
            checks.withLock { $0.append(check) }
        } report: { text in
            reports.withLock { $0.append(text) }
        }
        let sleeper = Task { try await clock.sleep(for: .seconds(7)) }
        while checks.withLock(\.isEmpty) { await Task.yield() }
        _ = clock.alarm(after: .seconds(1), check)
        await clock.advance(by: .seconds(1))
        #expect(reports.withLock { $0 } == [])
        check()
        #expect(
            reports.withLock { $0 } == ["TestClock: a sleep of 7.0 seconds waits, and nobody advances the clock"])
        await clock.run()
        try await sleeper.value
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

    @Test func `on an immediate clock, the limit of another call does not hold up a sleep`() async throws {
        let clock = TestClock.immediate
        let cancel = clock.alarm(after: .seconds(1)) {}
        defer { cancel() }
        try await clock.sleep(for: .seconds(5))
        #expect(clock.now.offset == .seconds(5))
    }
}
