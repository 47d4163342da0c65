import Testing
import URLConfigTesting

@testable import URLConfig

/// The time for a whole call, mostly measured by a clock that the test moves.
@Suite(.inTime) struct DeadlineTests {
    private struct Refused: Error {}

    /// A call with a deadline of five seconds by a clock of the test.
    private func call(
        _ clock: any Clock<Duration>, _ configure: @escaping @Sendable (inout URLSession.Config) -> Void = { _ in }
    ) -> Task<DataResponse, any Error> {
        Task {
            try await stubs.get {
                $0.clock = clock
                $0.deadline = .seconds(5)
                configure(&$0)
            }
        }
    }

    /// Moves the clock to this time and expects that the call ends then, and not a millisecond earlier.
    private func expectEnd(
        of call: Task<DataResponse, any Error>, _ clock: TestClock, after time: Duration = .seconds(5),
        sleepers: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) async -> RequestError? {
        await clock.waitForSleepers(sleepers)
        clock.move(by: time - .milliseconds(1))
        #expect(clock.sleepers == sleepers, sourceLocation: sourceLocation)
        clock.move(by: .milliseconds(1))
        return await expectError(.deadlineExceeded, sourceLocation: sourceLocation) { try await call.valueInTime }
    }

    @Test(.stubs { $0.get("/", .status(.serviceUnavailable).field(.retryAfter, "4")).times(1) })
    func `it ends a wait for another attempt, which is not made`() async throws {
        let clock = TestClock()
        // The delay would end before the deadline, but its sleeper wakes up too late.
        let call = call(Late(clock) { $0 == .seconds(4) }) { $0.retry = .atOnce() }
        let error = await expectEnd(of: call, clock, sleepers: 2)
        #expect(error?.attempts.map(\.description) == ["503 after 0 ms, waiting 4.0 s: Retry-After"])
        // The delay is cancelled.
        try await waitUntil { clock.sleepers == 0 }
    }

    @Test(.stubs { $0.get("/").times(0) }, arguments: [.zero, .seconds(-1), .seconds(Int64.min)] as [Duration])
    func `one of zero or less has passed already: nothing is sent, and a fallback has a second`(
        deadline: Duration
    ) async throws {
        let error = await expectError(.deadlineExceeded) { try await stubs.get { $0.deadline = deadline } }
        #expect(error?.attempts.isEmpty == true)
        let clock = TestClock()
        let response = try await stubs.get {
            ($0.deadline, $0.clock) = (deadline, clock)
            $0.fallback = { error, request in
                #expect((error as? RequestError)?.code == .deadlineExceeded)
                return DataResponse(request: request, data: Data("stored".utf8))
            }
        }
        #expect(try response.text() == "stored")
        #expect(clock.asked == [.seconds(1)])
    }

    @Test(.stubs { $0.get("/") }, arguments: [true, false])
    func `a response that comes after the time is not returned`(isSuccess: Bool) async throws {
        let clock = TestClock()
        let call = call(Late(clock) { _ in true }) {
            $0.validators = [
                ResponseValidator { _ in
                    clock.move(by: .seconds(5))
                    if !isSuccess { throw Refused() }
                }
            ]
        }
        let error = await expectError(.deadlineExceeded) { try await call.valueInTime }
        #expect(error?.attempts.map(\.status?.code) == [200])
    }

    @Test(
        arguments: [
            .seconds(Int64.max), Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
            .seconds(1e9),
        ], [true, false])
    func `the longest time neither traps nor is up`(deadline: Duration, isTest: Bool) async throws {
        let response = try await stubs.get(.status(.ok)) {
            if isTest { $0.clock = TestClock() }
            $0.deadline = deadline
        }
        #expect(response.isSuccess)
    }

    enum Step: String, CaseIterable {
        case authorize
        case server
        case refresh
        case onUnauthorized
        case validator
    }

    @Test(arguments: Step.allCases)
    func `it ends the call in every step, even one that ignores that it is cancelled`(step: Step) async throws {
        let (clock, gate) = (TestClock(), Gate())
        defer { gate.open() }
        @Sendable func pass(_ current: Step) async { if current == step { await gate.pass() } }
        try await HTTPStubs.with {
            $0.get("/") { _ in
                await pass(.server)
                return .status(step == .refresh || step == .onUnauthorized ? .unauthorized : .ok)
            }.optional()
        } operation: {
            let call = call(clock) {
                $0.authenticator = TestAuthenticator { _ in
                    await pass(.authorize)
                } reauthorize: { _ in
                    await pass(.refresh)
                    return false
                }
                $0.onUnauthorized = { _ in await pass(.onUnauthorized) }
                $0.validators = [ResponseValidator { _ in await pass(.validator) }]
            }
            await gate.waitForArrivals()
            let error = await expectEnd(of: call, clock)
            #expect(error?.request?.urlText == stubs.host)
            let (attempts, place): ([String], String) =
                switch step {
                case .authorize: ([], "before anything was sent")
                case .server: (["unfinished after 5.0 s"], "in attempt 1, before a response")
                case .refresh, .onUnauthorized: (["401 after 0 ms"], "after attempt 1, which had a response, 401")
                case .validator: (["200 after 0 ms"], "after attempt 1, which had a response, 200")
                }
            #expect(error?.attempts.map(\.description) == attempts)
            #expect(error?.reason == "the deadline, 5.0 s, passed \(place)")
            try await waitUntil { gate.cancelled == 1 }
        }
    }

    @Test(.stubs { $0.get("/").times(1) }) func `a step that was cut off has no effect`() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let call = call(clock) {
            $0.authenticator = TestAuthenticator { _ in await gate.pass() }
            $0.fallback = { error, request in
                #expect((error as? RequestError)?.code == .deadlineExceeded)
                gate.open()
                return DataResponse(request: request, data: Data("stored".utf8))
            }
        }
        await gate.waitForArrivals()
        await clock.waitForSleepers()
        clock.move(by: .seconds(5))
        let response = try await call.valueInTime
        #expect(response.data == Data("stored".utf8))
        try await stubs.get()
    }

    @Test(arguments: [(.seconds(2), .seconds(3)), (.milliseconds(4500), .seconds(1))] as [(Duration, Duration)])
    func `a fallback has the rest of it, and at least a second`(spent: Duration, left: Duration) async throws {
        let (clock, gate) = (TestClock(), Gate())
        defer { gate.open() }
        try await HTTPStubs.with {
            $0.get("/") { _ in
                clock.move(by: spent)
                return .status(.ok)
            }
        } operation: {
            let call = call(clock) {
                $0.validators = [ResponseValidator { _ in throw Refused() }]
                $0.fallback = { _, request in
                    await gate.pass()
                    return DataResponse(request: request)
                }
            }
            await gate.waitForArrivals()
            // The sleeper of the deadline has ended, and the fallback's has begun.
            try await waitUntil { clock.asked.count == 2 && clock.sleepers == 1 }
            #expect(clock.asked == [.seconds(5), left])
            let error = await expectEnd(of: call, clock, after: left)
            #expect(error?.underlyingError is Refused)
            #expect(error?.reason.contains("fallback") == true)
        }
    }

    @Test(arguments: [(FaultServer.Fault.hangAfterHead, "0 B"), (.hangInBody, "10 B")])
    func `its error says how much of a body has arrived`(fault: FaultServer.Fault, count: String) async throws {
        try await FaultServer.serving(fault) { server in
            let place = "passed in attempt 1, after the head and \(count) of the body"
            // On a busy machine, head and body may need more time.
            var reason = ""
            for limit in [500, 2000, 8000] where !reason.hasSuffix(place) {
                let error = await expectError(.deadlineExceeded) {
                    try await server.get { $0.deadline = .milliseconds(limit) }
                }
                reason = error?.reason ?? ""
            }
            #expect(reason.hasSuffix(place), "\(reason)")
        }
    }

    // What it does to those who wait.

    @Test(arguments: [true, false])
    func `everybody who waits is told once, and nobody who has stopped to wait, or after its end`(
        isEnded: Bool
    ) async throws {
        let (clock, passed) = (TestClock(), Recorder<Int>())
        let deadline = Deadline(.seconds(5), clock) { limit, _ in URLError(timedOut: nil, after: limit) }
        let waits = (0..<3).map { number in deadline.wait { _ in passed.note(number) } }
        deadline.end(waits[1])
        await clock.waitForSleepers()
        if isEnded {
            deadline.end()
            try await waitUntil { clock.sleepers == 0 }
        }
        clock.move(by: .seconds(5))
        try await waitUntil { passed.count == (isEnded ? 0 : 2) }
        #expect(Set(passed.entries) == (isEnded ? [] : [0, 2]))
        #expect((try? deadline.check()) == nil || isEnded)
        #expect((deadline.remaining == nil) == isEnded)
        // Who begins to wait afterwards is told at once.
        _ = deadline.wait { _ in passed.note(3) }
        #expect(passed.count == (isEnded ? 0 : 3))
    }

    // A task must not block a thread, but closures of a caller may do so.

    /// By the system's clock, without a server.
    private static let real = URLSession.Config.silent.with { $0.transport = Transport { _ in .init() } }

    enum Function: CaseIterable {
        case validator
        case isUnauthorized
        case redirects
    }

    @Test(arguments: Function.allCases)
    func `calls whose functions block threads end on time`(function: Function) async throws {
        let end = DispatchSemaphore(value: 0)
        // More calls than there are threads for tasks.
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        try await concurrently(count) { _ in
            await expectError(.deadlineExceeded) {
                try await stubs.get(config: Self.real) {
                    $0.deadline = .milliseconds(200)
                    let block = { @Sendable in #expect(end.wasSignalled) }
                    switch function {
                    case .validator: $0.validators = [ResponseValidator { _ in block() }]
                    case .isUnauthorized:
                        $0.isUnauthorized = { _ in
                            block()
                            return false
                        }
                    case .redirects:
                        $0.redirects = RedirectPolicy { _, _ in
                            block()
                            return nil
                        }
                        $0.transport = Transport { _ in
                            .init(status: .found, headerFields: [.location: "/"])
                        }
                    }
                }
            }
        }
        for _ in 0..<count { end.signal() }
    }

    @Test func `a cancellation handler that blocks holds up neither who cancels nor the call`() async throws {
        let (end, gate) = (DispatchSemaphore(value: 0), Gate())
        defer { gate.open() }
        let waiting = ResponseValidator { _ in
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                #expect(end.wasSignalled)
            }
        }
        let call = Task {
            try await stubs.get(config: Self.real) { ($0.deadline, $0.validators) = (.seconds(60), [waiting]) }
        }
        await gate.waitForArrivals()
        await call.expectCancelled()
        end.signal()
    }

    @Test func `a cancellation handler that blocks holds up no other deadline`() async throws {
        let (end, gate) = (DispatchSemaphore(value: 0), Gate())
        defer { gate.open() }
        for isBlocking in [true, false] {
            let waiting = ResponseValidator { _ in
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    if isBlocking { #expect(end.wasSignalled) }
                }
            }
            await expectError(.deadlineExceeded) {
                try await stubs.get(config: Self.real) {
                    $0.deadline = .milliseconds(100)
                    $0.validators = [waiting]
                }
            }
        }
        end.signal()
    }
}

extension DispatchSemaphore {
    /// Blocks the thread until a signal, with a time limit.
    fileprivate var wasSignalled: Bool { wait(timeout: .now() + 20) == .success }
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
