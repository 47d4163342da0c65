import FlyingFox
import Testing
import URLConfigTesting

@testable import URLConfig

/// The time for one attempt, by a clock that the test moves.
///
/// The limits are long, because Foundation's clock also runs.
@Suite(.serialized, .inTime) struct TimeLimitTests {
    /// A server whose requests wait at the gate, and a call with a time limit by the clock.
    private func waiting(
        _ timeout: Duration, _ configure: @escaping @Sendable (inout URLSession.Config) -> Void = { _ in },
        _ body: (TestClock, Gate, Task<DataResponse, any Error>) async throws -> Void
    ) async throws {
        let (clock, gate) = (TestClock(), Gate())
        defer { gate.open() }
        try await Loopback.serving { _ in
            await gate.pass()
            return .status(.ok)
        } _: { server in
            let request = server.request { $0.timeout = timeout }
            let call = Task {
                try await server.response(for: request) {
                    $0.clock = clock
                    configure(&$0)
                }
            }
            try await body(clock, gate, call)
        }
    }

    @Test(arguments: [45_001, 59_999, 60_000, 60_001, 3_600_000])
    func `it is up to the millisecond`(milliseconds: Int) async throws {
        let limit = Duration.milliseconds(milliseconds)
        try await waiting(limit) { clock, gate, call in
            await clock.waitForSleepers()
            await gate.waitForArrivals()
            clock.move(by: limit - .microseconds(1))
            #expect(clock.sleepers == 1)
            // The value is converted to floating-point seconds.
            clock.move(by: .microseconds(2))
            let error = await expectError(.timedOut) { try await call.valueInTime }
            #expect(error?.localizedDescription.contains("\(limit.shown)") == true)
            #expect(error?.failingURL?.host() == "127.0.0.1")
            #expect(error?.attempts.count == 1)
        }
    }

    @Test func `it may be over before the request is sent`() async throws {
        try await FaultServer.serving(.hangBeforeHead) { server in
            let request = server.request { $0.timeout = .nanoseconds(1) }
            for _ in 0..<300 { await expectError(.timedOut) { try await server.response(for: request) } }
        }
    }

    @Test func `each attempt has it anew, and the error of the last one is thrown`() async throws {
        try await waiting(.seconds(200)) {
            $0.retry = .atOnce(2)
        } _: { clock, gate, call in
            for attempt in 1...2 {
                await gate.waitForArrivals(attempt)
                await clock.waitForSleepers()
                clock.move(by: .seconds(200))
            }
            let error = await expectError(.timedOut) { try await call.valueInTime }
            #expect(error?.attempts.map(\.duration) == [.seconds(200), .seconds(200)])
            #expect(error?.attempts.map { ($0.error as? URLError)?.code } == [.timedOut, .timedOut])
        }
    }

    @Test func `the deadline counts all attempts together`() async throws {
        try await waiting(.seconds(200)) {
            $0.deadline = .seconds(300)
            $0.retry = .atOnce()
        } _: { clock, gate, call in
            for attempt in 1...2 {
                await gate.waitForArrivals(attempt)
                await clock.waitForSleepers(2)
                clock.move(by: attempt == 1 ? .seconds(200) : .seconds(100))
            }
            let error = await expectError(.deadlineExceeded) { try await call.valueInTime }
            #expect(error?.attempts.map(\.duration) == [.seconds(200), .seconds(100)])
            #expect(error?.attempts.last?.description == "unfinished after 100.0 s")
        }
    }

    @Test func `a response in time is not cut off, and what comes after costs no time`() async throws {
        let clock = TestClock()
        try await Loopback.serving(.status(.ok)) { server in
            let request = server.request { $0.timeout = .seconds(200) }
            let response = try await server.response(for: request) {
                $0.clock = clock
                $0.validators = [ResponseValidator { _ in clock.move(by: .seconds(1000)) }]
            }
            #expect(response.isSuccess)
        }
        #expect(clock.sleepers == 0)
    }

    #if canImport(FoundationNetworking)
    /// A call on a session with this limit on silence.
    private func call(
        _ server: FaultServer, silence: TimeInterval, _ clock: any Clock<Duration>
    ) async throws -> DataResponse {
        try await URLSession.with {
            $0.timeoutIntervalForRequest = silence
        } _: {
            try await $0.response(for: server.request(), config: .silent) { $0.clock = clock }
        }
    }

    @Test func `the system's clock also measures a limit on silence`() async throws {
        try await FaultServer.serving(.hangBeforeHead) { server in
            await expectError(.timedOut) { try await call(server, silence: 0.05, ContinuousClock()) }
        }
    }

    @Test func `a call that is over leaves no limit on silence behind`() async throws {
        let clock = TestClock()
        try await FaultServer.serving(.ok("{}")) { server in
            for _ in 0..<20 { _ = try await call(server, silence: 30.5, clock) }
        }
        try await waitUntil { clock.sleepers == 0 }
    }

    @Test(.urlSessionOnly) func `a configuration's limit on silence is exact, though it is no whole number of seconds`()
        async throws
    {
        let clock = TestClock()
        try await FaultServer.serving(.hangBeforeHead) { server in
            let call = Task { try await self.call(server, silence: 1.5, clock) }
            await clock.waitForSleepers()
            #expect(clock.asked == [.milliseconds(1500)])
            clock.move(by: .milliseconds(1499))
            #expect(clock.sleepers == 1)
            clock.move(by: .milliseconds(1))
            let error = await expectError(.timedOut) { try await call.valueInTime }
            #expect(error?.localizedDescription.contains("1.5 s") == true)
        }
    }

    @Test(.urlSessionOnly) func `a request that waits for a connection has the configuration's limit on silence`()
        async throws
    {
        let clock = TestClock()
        try await FaultServer.serving(.hangAfterHead) { server in
            let request = server.request { $0.method = .post }
            func call(_ clock: any Clock<Duration>) -> Task<DataResponse, any Error> {
                Task { try await server.response(for: request) { $0.clock = clock } }
            }
            let most = server.session.configuration.httpMaximumConnectionsPerHost
            let calls = (0..<most).map { _ in call(ContinuousClock()) }
            // These calls have all connections, and do not end.
            try await waitUntil { server.requests.count == most }
            let waiting = (0..<3).map { _ in call(clock) }
            await clock.waitForSleepers(3)
            clock.move(by: .seconds(600))
            for call in waiting { await expectError(.timedOut) { try await call.valueInTime } }
            #expect(server.connections == most)
            for call in calls {
                await call.expectCancelled()
            }
        }
    }
    #endif
}
