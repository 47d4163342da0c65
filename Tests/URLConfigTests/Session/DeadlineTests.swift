import FlyingFox
import Testing

@testable import URLConfig

/// The time for a whole call, measured by a clock that the test moves.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DeadlineTests {
    /// Serves a 503 with a `Retry-After` in seconds; `body` also receives the number of requests.
    private func servingBusy(
        retryAfter seconds: Int, _ body: (Loopback, _ served: () -> Int) async throws -> Void
    ) async throws {
        let served = Locked(0)
        try await Loopback.serving { _ in
            served.withLock { $0 += 1 }
            return .init(
                statusCode: .serviceUnavailable, headers: HTTPHeaders([HTTPHeader("Retry-After"): "\(seconds)"]))
        } _: { server in
            try await body(server) { served.withLock { $0 } }
        }
    }

    @Test func `a wait that is longer than what is left ends the call at once, with the answer`() async throws {
        let clock = TestClock()
        try await servingBusy(retryAfter: 5) { server, served in
            let response = try await server.get {
                $0.clock = clock
                $0.deadline = .seconds(5)
                $0.retry = .atOnce()
            }
            #expect(response.status == .serviceUnavailable)
            #expect(response.attempts.count == 1)
            #expect(served() == 1)
        }
        #expect(!clock.asked.contains { $0 != .seconds(5) })
    }

    @Test func `it ends a wait for another attempt, which is not made`() async throws {
        let clock = TestClock()
        try await servingBusy(retryAfter: 4) { server, served in
            let call = Task {
                try await server.get {
                    // The delay would end before the deadline, but its sleeper wakes up too late.
                    $0.clock = Late(clock) { $0 == .seconds(4) }
                    $0.deadline = .seconds(5)
                    $0.retry = .atOnce()
                }
            }
            await clock.waitForSleepers(2)
            clock.advance(by: .milliseconds(4999))
            #expect(clock.sleepers == 2)
            clock.advance(by: .milliseconds(1))
            let error = await #expect(throws: RequestError.self) { try await call.valueInTime }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.attempts.map(\.description) == ["503 after 0 ms, waiting 4.0 s: Retry-After"])
            // The delay is cancelled.
            try await waitUntil { clock.sleepers == 0 }
            #expect(served() == 1)
        }
    }

    @Test func `it ends the call though a wait is over at the same time`() async throws {
        let clock = TestClock()
        try await servingBusy(retryAfter: 4) { server, _ in
            let call = Task {
                try await server.get {
                    $0.clock = clock
                    $0.deadline = .seconds(5)
                    $0.retry = .atOnce()
                }
            }
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(5))
            let error = await #expect(throws: RequestError.self) { try await call.valueInTime }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.attempts.first?.description == "503 after 0 ms, waiting 4.0 s: Retry-After")
        }
    }

    @Test(arguments: [.zero, .seconds(-1), .seconds(Int64.min)] as [Duration])
    func `one of zero or less has passed already, and nothing is sent`(deadline: Duration) async throws {
        try await Loopback.serving { _ in
            Issue.record("it was sent")
            return .status(.ok)
        } _: { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get { $0.deadline = deadline }
            }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.attempts.isEmpty == true)
        }
    }

    @Test func `without one there is no limit`() async throws {
        let clock = TestClock()
        try await Loopback.serving { _ in
            clock.advance(by: .seconds(1_000_000))
            return .status(.ok)
        } _: { server in
            let response = try await server.get { $0.clock = clock }
            #expect(response.isSuccess)
        }
        #expect(clock.asked.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a response that comes after the time is none`(isSuccess: Bool) async throws {
        struct Refused: Error {}
        let clock = TestClock()
        try await Loopback.serving { _ in
            .status(.ok)
        } _: { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get {
                    $0.clock = Late(clock) { _ in true }
                    $0.deadline = .seconds(5)
                    $0.validators = [
                        ResponseValidator { _ in
                            clock.advance(by: .seconds(5))
                            if !isSuccess { throw Refused() }
                        }
                    ]
                }
            }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.attempts.map(\.status?.code) == [200])
        }
    }

    @Test(
        arguments: [
            .seconds(Int64.max), Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
            .seconds(1e9),
        ], [true, false])
    func `the longest time neither traps nor is up`(deadline: Duration, isTest: Bool) async throws {
        try await Loopback.serving { _ in
            .status(.ok)
        } _: { server in
            let response = try await server.get {
                if isTest { $0.clock = TestClock() }
                $0.deadline = deadline
            }
            #expect(response.isSuccess)
        }
    }
}

/// A clock that wakes up some sleepers too late.
private struct Late: Clock {
    let clock: TestClock
    private let isLate: @Sendable (Duration) -> Bool

    init(_ clock: TestClock, _ isLate: @escaping @Sendable (Duration) -> Bool) {
        self.clock = clock
        self.isLate = isLate
    }

    var now: TestClock.Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        let delay: Duration = isLate(now.duration(to: deadline)) ? .seconds(1_000) : .zero
        try await clock.sleep(until: deadline.advanced(by: delay))
    }
}
