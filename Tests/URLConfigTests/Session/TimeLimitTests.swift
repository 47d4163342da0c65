import FlyingFox
import Testing

@testable import URLConfig

/// The time for one attempt, by a clock that the test moves.
///
/// The limits are long, because Foundation's clock also runs.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TimeLimitTests {
    @Test(arguments: [45_001, 59_999, 60_000, 60_001, 3_600_000])
    func `it is up to the millisecond`(milliseconds: Int) async throws {
        let (clock, gate) = (TestClock(), Gate())
        defer { gate.open() }
        try await Loopback.serving { _ in
            await gate.pass()
            return .status(.ok)
        } _: { server in
            let request = server.request { $0.timeout = .milliseconds(milliseconds) }
            let call = Task {
                try await server.response(for: request) {
                    $0.clock = clock
                }
            }
            await clock.waitForSleepers()
            await gate.waitForArrivals()
            clock.advance(by: .milliseconds(milliseconds) - .microseconds(1))
            #expect(clock.sleepers == 1)
            // The value is converted to floating-point seconds.
            clock.advance(by: .microseconds(2))
            let error = await #expect(throws: URLError.self) { try await call.valueInTime }
            #expect(error?.code == .timedOut)
            #expect(error?.localizedDescription.contains("\(Duration.milliseconds(milliseconds).shown)") == true)
            #expect(error?.failingURL?.absoluteString == server.host)
            #expect(error?.attempts.count == 1)
        }
    }

    @Test func `it may be over before the request is sent`() async throws {
        try await FaultServer.serving(.hangBeforeHead) { server in
            let request = server.request { $0.timeout = .nanoseconds(1) }
            for _ in 0..<300 {
                let error = await #expect(throws: URLError.self) {
                    try await server.response(for: request)
                }
                #expect(error?.code == .timedOut)
            }
        }
    }

    @Test func `each attempt has it anew, and the last one's end is the call's`() async throws {
        let (clock, gate) = (TestClock(), Gate())
        defer { gate.open() }
        try await Loopback.serving { _ in
            await gate.pass()
            return .status(.ok)
        } _: { server in
            let request = server.request { $0.timeout = .seconds(200) }
            let call = Task {
                try await server.response(for: request) {
                    $0.clock = clock
                    $0.retry = .atOnce(2)
                }
            }
            for attempt in 1...2 {
                await gate.waitForArrivals(attempt)
                await clock.waitForSleepers()
                clock.advance(by: .seconds(200))
            }
            let error = await #expect(throws: URLError.self) { try await call.valueInTime }
            #expect(error?.code == .timedOut)
            #expect(error?.attempts.map(\.duration) == [.seconds(200), .seconds(200)])
            #expect(error?.attempts.map { ($0.error as? URLError)?.code } == [.timedOut, .timedOut])
        }
    }

    @Test func `an answer in time is not cut off, and what comes after costs no time`() async throws {
        let clock = TestClock()
        try await Loopback.serving { _ in
            .status(.ok)
        } _: { server in
            let request = server.request { $0.timeout = .seconds(200) }
            let response = try await server.response(for: request) {
                $0.clock = clock
                $0.validators = [ResponseValidator { _ in clock.advance(by: .seconds(1000)) }]
            }
            #expect(response.isSuccess)
        }
        #expect(clock.sleepers == 0)
    }

    @Test func `the deadline counts all attempts together`() async throws {
        let (clock, gate) = (TestClock(), Gate())
        defer { gate.open() }
        try await Loopback.serving { _ in
            await gate.pass()
            return .status(.ok)
        } _: { server in
            let request = server.request { $0.timeout = .seconds(200) }
            let call = Task {
                try await server.response(for: request) {
                    $0.clock = clock
                    $0.deadline = .seconds(300)
                    $0.retry = .atOnce()
                }
            }
            for attempt in 1...2 {
                await gate.waitForArrivals(attempt)
                await clock.waitForSleepers(2)
                clock.advance(by: attempt == 1 ? .seconds(200) : .seconds(100))
            }
            let error = await #expect(throws: RequestError.self) { try await call.valueInTime }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.attempts.map(\.duration) == [.seconds(200), .seconds(100)])
            #expect(error?.attempts.last?.description == "unfinished after 100.0 s")
        }
    }

    #if canImport(FoundationNetworking)
    @Test func `a limit on silence is that of the system's clock, too`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 0.05
        let session = URLSession(configuration: configuration)
        try await FaultServer.serving(.hangBeforeHead) { server in
            let error = await #expect(throws: URLError.self) {
                try await session.response(for: server.request(), config: .silent)
            }
            #expect(error?.code == .timedOut)
            // Foundation's own error, after a second, does not contain the limit.
            #expect(error?.localizedDescription.contains("50 ms") == !TransportOfTests.isAsyncHTTPClient)
        }
    }

    @Test func `a call that is over leaves no limit on silence behind`() async throws {
        let clock = TestClock()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 30.5
        let session = URLSession(configuration: configuration)
        try await FaultServer.serving(.ok("{}")) { server in
            for _ in 0..<20 {
                try await session.response(for: server.request(), config: .silent) {
                    $0.clock = clock
                }
            }
        }
        try await waitUntil { clock.sleepers == 0 }
    }

    @Test(.urlSessionOnly) func `a request that waits for its turn has a limit on silence, too`() async throws {
        let clock = TestClock()
        try await FaultServer.serving(.hangBeforeHead) { server in
            let calls = (0..<9).map { _ in
                Task {
                    try await server.response(for: server.request { $0.method = .post }) {
                        $0.clock = clock
                    }
                }
            }
            await clock.waitForSleepers(9)
            clock.advance(by: .seconds(600))
            for call in calls {
                let error = await #expect(throws: URLError.self) { try await call.valueInTime }
                #expect(error?.code == .timedOut)
            }
        }
    }

    @Test func `a request that waits for a connection has the configuration's limit on silence`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 10
        let session = URLSession(configuration: configuration)
        let dripping = FaultServer.Fault { connection in
            try connection.read()
            try connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while true {
                try connection.send("x")
                try connection.pause(.milliseconds(50))
            }
        }
        try await FaultServer.serving(dripping) { server in
            let request = server.request { $0.method = .post }
            let most = configuration.httpMaximumConnectionsPerHost
            let calls = (0..<most).map { _ in Task { try await session.response(for: request, config: .silent) } }
            // These calls have all connections, and never end.
            try await waitUntil { server.requests.count == most }
            let waiting = (0..<3).map { _ in Task { try await session.response(for: request, config: .silent) } }
            for call in waiting {
                let error = await #expect(throws: URLError.self) { try await call.value }
                #expect(error?.code == .timedOut)
            }
            #expect(server.connections == most)
            for call in calls {
                call.cancel()
                await #expect(throws: CancellationError.self) { try await call.value }
            }
        }
    }

    @Test(.urlSessionOnly) func `a configuration's limit on silence is exact, though it is no whole number of seconds`()
        async throws
    {
        let clock = TestClock()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 1.5
        let session = URLSession(configuration: configuration)
        try await FaultServer.serving(.hangBeforeHead) { server in
            let call = Task {
                try await session.response(for: server.request(), config: .silent) {
                    $0.clock = clock
                }
            }
            await clock.waitForSleepers()
            #expect(clock.asked == [.milliseconds(1500)])
            clock.advance(by: .milliseconds(1499))
            #expect(clock.sleepers == 1)
            clock.advance(by: .milliseconds(1))
            let error = await #expect(throws: URLError.self) { try await call.valueInTime }
            #expect(error?.code == .timedOut)
            #expect(error?.localizedDescription.contains("1.5 s") == true)
        }
    }
    #endif
}
