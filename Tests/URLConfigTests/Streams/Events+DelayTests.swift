import Testing
import URLConfigTesting

@testable import URLConfig

/// When a connection is made again, by a clock of the test.
@Suite(.inTime) struct EventsDelayTests {
    private typealias Response = HTTPStubs.Response

    private func down(_ seconds: String) -> Response { .status(.serviceUnavailable).field(.retryAfter, seconds) }

    /// The delays between connections with these responses.
    private func delays(
        _ responses: Response..., configure: @escaping @Sendable (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> [Duration] {
        let clock = TestClock()
        try await HTTPStubs.with {
            for response in responses { $0.get("/", response).times(1) }
            $0.get("/", .status(.noContent)).times(1)
        } operation: {
            #expect(await stubs.events(clock: clock, configure).error == nil)
        }
        return clock.asked
    }

    /// Whether each delay is one of these seconds, and up to half more.
    private func expect(
        _ delays: [Duration], _ seconds: [Double], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isRight = zip(delays, seconds).allSatisfy { .seconds($1)...(.seconds($1 * 1.5)) ~= $0 }
        #expect(isRight && delays.count == seconds.count, "\(delays)", sourceLocation: sourceLocation)
    }

    @Test func `it is three seconds, or what the server says`() async throws {
        expect(
            try await delays(
                .event, .events("retry: 10000\ndata: a\n\n"), .event, .events("data: a\n\nretry: 500\n"), .event,
                .events("data: a\n\nretry: no\n\nretry: 0\n")),
            [3, 10, 10, 0.5, 0.5, 0.1])
    }

    @Test func `it doubles while nothing arrives, up to half a minute`() async throws {
        let (down, lost) = (Response.status(.internalServerError), Response.error(.networkConnectionLost))
        let quiet = Response.events(": a\n\nid: 1\n\n")
        expect(
            try await delays(lost, .events(""), lost, down, down, quiet, .event, .event, down, down),
            [3, 6, 12, 24, 30, 30, 3, 3, 3, 6])
        expect(try await delays(.events("retry: 60000\n"), down, .event, down), [60, 60, 60, 60])
    }

    @Test func `a server that wants no delay and sends nothing is not asked all the time`() async throws {
        let clock = TestClock()
        try await HTTPStubs.with {
            $0.get("/", Response.events("retry: 0\n\n"))
        } operation: {
            let task = Task { await stubs.events(clock: clock) }
            try await waitUntil { clock.asked.count >= 20 }
            task.cancel()
            #expect(await task.value.error is CancellationError)
        }
        expect(Array(clock.asked.prefix(20)), [1, 2, 4, 8, 16] + Array(repeating: 30, count: 15))
    }

    @Test func `Retry-After is waited for, to the second, if it is longer`() async throws {
        let delays = try await delays(down("50"), down("0"), down("60"), down("x"))
        #expect([delays[0], delays[2]] == [.seconds(50), .seconds(60)])
        expect([delays[1], delays[3]], [6, 24])
    }

    @Test(arguments: ["61", "86400", "1000000000000000000", String(repeating: "9", count: 400)])
    func `the server cannot ask for more than the policy allows`(seconds: String) async throws {
        let down = down(seconds)
        #expect(try await delays(down) == [.seconds(60)])
        let (event, lost) = (Response.events("retry: \(seconds)000\ndata: a\n\n"), Response.error(.timedOut))
        expect(try await delays(event, lost, event), [60, 60, 60])
        let delays = try await delays(down, event, lost) { $0.retry.longestRetryAfter = .seconds(4) }
        expect(delays, [4, 4, 4])
        expect(try await self.delays(down, event) { $0.retry.longestRetryAfter = .seconds(-1) }, [3, 0.1])
    }

    @Test func `nothing is sent before the delay is over`() async throws {
        let clock = TestClock()
        try await HTTPStubs.with {
            $0.get("/", down("5"), .status(.noContent))
        } operation: {
            let task = Task {
                for try await _ in stubs.session.events(for: stubs.request(), config: .silent, { $0.clock = clock }) {}
            }
            await clock.waitForSleepers()
            clock.move(by: .milliseconds(4999))
            #expect(clock.sleepers == 1)
            #expect(HTTPStubs.requests.count == 1)
            clock.move(by: .milliseconds(1))
            try await task.valueInTime
        }
    }

    // Delays as values.

    private static let empty = EventConnection.Loss()
    private static let event = EventConnection.Loss(hasEvents: true)

    private static func quiet(_ open: Duration) -> EventConnection.Loss { EventConnection.Loss(open: open) }

    @Test func `the random part is at most half`() {
        for (jitter, delay) in [(0.0, Duration.seconds(3)), (0.5, .seconds(3.75)), (1, .seconds(4.5))] {
            var reconnection = Reconnection()
            #expect(reconnection.delay(after: Self.event, jitter: jitter) == delay)
        }
    }

    @Test func `a quiet connection is of use if it was open for as long as the delay before it`() {
        var reconnection = Reconnection()
        let losses = [2, 2, 5, 12, 4, 3].map { Self.quiet(.seconds($0)) }
        #expect(losses.map { reconnection.delay(after: $0, jitter: 0) / .seconds(1) } == [3, 6, 12, 3, 3, 3])
    }

    @Test func `a server cannot make it overflow`() {
        var reconnection = Reconnection()
        reconnection.time = Duration.seconds(Int64.max).clamped
        for loss in [Self.empty, Self.event, Self.empty] {
            #expect(reconnection.delay(after: loss, jitter: 1) == Duration.seconds(Int64.max).clamped)
        }
        let forever = EventConnection.Loss(retryAfter: .seconds(Int64.max))
        #expect(reconnection.delay(after: forever, jitter: 1) == Duration.seconds(Int64.max).clamped)
    }

    @Test func `a shorter time of the server ends a longer delay`() {
        var reconnection = Reconnection()
        for _ in 0..<10 { _ = reconnection.delay(after: Self.empty, jitter: 0) }
        #expect(reconnection.delay(after: Self.empty, jitter: 0) == .seconds(30))
        reconnection.time = .zero
        #expect(reconnection.delay(after: Self.event, jitter: 1) == .milliseconds(150))
        #expect(reconnection.delay(after: Self.empty, jitter: 0) == .seconds(1))
    }
}
