import FlyingFox
import Testing

@testable import URLConfig

/// The time for a whole call, by a clock that the test moves.
@Suite(.serialized, .timeLimit(.minutes(1))) struct DeadlineTests {
    /// Where a call is when its time is up.
    enum Step: String, CaseIterable {
        case authorize
        case server
        case refresh
        case onUnauthorized
        case validator
        case redirectDelegate
    }

    @Test(arguments: Step.allCases)
    func `it ends the call in every step, even one that goes on regardless`(step: Step) async throws {
        let (clock, gate) = (TestClock(), Gate())
        defer { gate.open() }
        let steps = Steps { if $0 == step { await gate.pass() } }
        try await Loopback.serving { _ in
            await steps.pass(.server)
            switch step {
            case .refresh, .onUnauthorized: return .status(.unauthorized)
            case .redirectDelegate: return .init(statusCode: .found, headers: HTTPHeaders([.location: "/end"]))
            default: return .status(.ok)
            }
        } _: { server in
            let call = Task {
                try await server.session.response(for: URLRequest.with(server.config) { _ in }) {
                    $0.logger = nil
                    $0.clock = clock
                    $0.deadline = .seconds(5)
                    $0.authenticator = steps
                    $0.onUnauthorized = { _ in await steps.pass(.onUnauthorized) }
                    $0.validators = [ResponseValidator { _ in await steps.pass(.validator) }]
                    if step == .redirectDelegate {
                        $0.taskDelegate = TaskDelegate { _, _, _ in Task { await gate.pass() } }
                    }
                }
            }
            await gate.waitForArrivals()
            // A delegate has a limit of its own besides.
            let sleepers = step == .redirectDelegate ? 2 : 1
            await clock.waitForSleepers(sleepers)
            clock.advance(by: .milliseconds(4999))
            #expect(clock.sleepers == sleepers)
            clock.advance(by: .milliseconds(1))
            let error = await #expect(throws: RequestError.self) { try await call.value }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.stage == .executing)
            #expect(error?.request?.urlText == server.host)
            #expect(error?.reason.contains("5.0 s") == true)
            let attempts: [String] =
                switch step {
                case .authorize: []
                case .server: ["unfinished after 5.0 s"]
                case .refresh, .onUnauthorized: ["401 after 0 ms"]
                case .validator: ["200 after 0 ms"]
                case .redirectDelegate: ["302 after 0 ms"]
                }
            #expect(error?.attempts.map(\.description) == attempts)
            // The server's own task and the delegate's are not the call's.
            if step != .server && step != .redirectDelegate {
                while gate.cancelled == 0, !Task.isCancelled { await Task.yield() }
                #expect(gate.cancelled == 1)
            }
        }
    }

    @Test func `what was cut off goes no further`() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let journal = Journal()
        let steps = Steps { if $0 == .authorize { await gate.pass() } }
        try await Loopback.serving { _ in
            await journal.note("served")
            return .status(.ok)
        } _: { server in
            let call = Task {
                try await server.session.response(for: URLRequest.with(server.config) { _ in }) {
                    $0.logger = nil
                    $0.clock = clock
                    $0.deadline = .seconds(5)
                    $0.authenticator = steps
                    $0.fallback = { error, request in
                        #expect((error as? RequestError)?.code == .deadlineExceeded)
                        gate.open()
                        return DataResponse(request: request, data: Data("stored".utf8))
                    }
                }
            }
            await gate.waitForArrivals()
            await clock.waitForSleepers()
            clock.advance(by: .seconds(5))
            let response = try await call.value
            #expect(response.data == Data("stored".utf8))
            try await server.session.response(for: URLRequest.with(server.config) { _ in })
        }
        #expect(await journal.entries == ["served"])
    }

    @Test func `a wait that is longer than what is left ends the call at once, with the answer`() async throws {
        let clock = TestClock()
        try await Loopback.serving { _ in
            .init(statusCode: .serviceUnavailable, headers: HTTPHeaders([HTTPHeader("Retry-After"): "5"]))
        } _: { server in
            let response = try await server.session.response(for: URLRequest.with(server.config) { _ in }) {
                $0.logger = nil
                $0.clock = clock
                $0.deadline = .seconds(5)
                $0.retry = .atOnce()
            }
            #expect(response.status == .serviceUnavailable)
            #expect(response.attempts.count == 1)
        }
        #expect(!clock.asked.contains { $0 != .seconds(5) })
    }

    @Test func `it ends a wait for another attempt`() async throws {
        let clock = TestClock()
        try await Loopback.serving { _ in
            .init(statusCode: .serviceUnavailable, headers: HTTPHeaders([HTTPHeader("Retry-After"): "4"]))
        } _: { server in
            let call = Task {
                try await server.session.response(for: URLRequest.with(server.config) { _ in }) {
                    $0.logger = nil
                    $0.clock = clock
                    $0.deadline = .seconds(5)
                    $0.retry = .atOnce()
                }
            }
            await clock.waitForSleepers(2)
            // Both are over at once: the time has passed, whichever is first.
            clock.advance(by: .seconds(5))
            let error = await #expect(throws: RequestError.self) { try await call.value }
            #expect(error?.code == .deadlineExceeded)
        }
    }

    @Test(arguments: [.zero, .seconds(-1), .seconds(Int64.min)] as [Duration])
    func `one of zero or less has passed already, and nothing is sent`(deadline: Duration) async throws {
        try await Loopback.serving { _ in
            Issue.record("it was sent")
            return .status(.ok)
        } _: { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.session.response(for: .with(server.config)) {
                    $0.logger = nil
                    $0.deadline = deadline
                }
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
            let response = try await server.session.response(for: .with(server.config)) {
                $0.logger = nil
                $0.clock = clock
            }
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
                try await server.session.response(for: .with(server.config)) {
                    $0.logger = nil
                    $0.clock = Late(clock)
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

    @Test func `calls whose validators block threads end on time`() async throws {
        let end = DispatchSemaphore(value: 0)
        try await Loopback.serving { _ in
            .status(.ok)
        } _: { server in
            // More than there are threads for tasks.
            let count = 4 * ProcessInfo.processInfo.activeProcessorCount
            await withTaskGroup { group in
                for _ in 0..<count {
                    group.addTask {
                        await #expect(throws: RequestError.self) {
                            try await server.session.response(for: .with(server.config)) {
                                $0.logger = nil
                                $0.deadline = .milliseconds(200)
                                $0.validators = [ResponseValidator { _ in #expect(end.wasSignalled) }]
                            }
                        }
                    }
                }
                for await error in group { #expect(error?.code == .deadlineExceeded) }
            }
            for _ in 0..<count { end.signal() }
        }
    }

    @Test func `a cancellation handler that blocks holds up no other deadline`() async throws {
        let (end, gate) = (DispatchSemaphore(value: 0), Gate())
        defer { gate.open() }
        try await Loopback.serving { _ in
            .status(.ok)
        } _: { server in
            for isBlocking in [true, false] {
                let error = await #expect(throws: RequestError.self) {
                    try await server.session.response(for: .with(server.config)) {
                        $0.logger = nil
                        $0.deadline = .milliseconds(100)
                        $0.validators = [
                            ResponseValidator { _ in
                                await withTaskCancellationHandler {
                                    await gate.pass()
                                } onCancel: {
                                    if isBlocking { #expect(end.wasSignalled) }
                                }
                            }
                        ]
                    }
                }
                #expect(error?.code == .deadlineExceeded)
            }
            end.signal()
        }
    }

    @Test func `a fallback has what is left of it, and a second at least`() async throws {
        struct Refused: Error {}
        for (spent, left) in [(Duration.seconds(2), Duration.seconds(3)), (.milliseconds(4500), .seconds(1))] {
            let (clock, gate) = (TestClock(), Gate())
            defer { gate.open() }
            try await Loopback.serving { _ in
                clock.advance(by: spent)
                return .status(.ok)
            } _: { server in
                let call = Task {
                    try await server.session.response(for: .with(server.config)) {
                        $0.logger = nil
                        $0.clock = clock
                        $0.deadline = .seconds(5)
                        $0.validators = [ResponseValidator { _ in throw Refused() }]
                        $0.fallback = { _, request in
                            await gate.pass()
                            return DataResponse(request: request)
                        }
                    }
                }
                await gate.waitForArrivals()
                // The deadline's own sleeper has gone, and that of the fallback has come.
                while clock.asked.count < 2 || clock.sleepers > 1, !Task.isCancelled { await Task.yield() }
                if Task.isCancelled { gate.open() }
                #expect(clock.asked == [.seconds(5), left])
                clock.advance(by: left - .milliseconds(1))
                #expect(clock.sleepers == 1)
                clock.advance(by: .milliseconds(1))
                let error = await #expect(throws: RequestError.self) { try await call.value }
                #expect(error?.code == .deadlineExceeded)
                #expect(error?.underlyingError is Refused)
                #expect(error?.reason.contains("fallback") == true)
            }
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
            let response = try await server.session.response(for: URLRequest.with(server.config) { _ in }) {
                $0.logger = nil
                if isTest { $0.clock = TestClock() }
                $0.deadline = deadline
            }
            #expect(response.isSuccess)
        }
    }
}

/// A clock whose sleepers are woken up late.
private struct Late: Clock {
    let clock: TestClock

    init(_ clock: TestClock) {
        self.clock = clock
    }

    var now: TestClock.Instant { clock.now }
    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline.advanced(by: .seconds(1_000)))
    }
}

extension DispatchSemaphore {
    /// Blocks the thread, which a task must not do, until it is signalled; but not for ever.
    fileprivate var wasSignalled: Bool { wait(timeout: .now() + 20) == .success }
}

/// An authenticator that tells which step a call is in.
private struct Steps: Authenticator {
    let pass: @Sendable (DeadlineTests.Step) async -> Void

    init(_ pass: @escaping @Sendable (DeadlineTests.Step) async -> Void) {
        self.pass = pass
    }

    func pass(_ step: DeadlineTests.Step) async { await pass(step) }

    func authorize(_ request: inout URLRequest) async throws { await pass(.authorize) }

    func reauthorize(after response: DataResponse) async throws -> Bool {
        await pass(.refresh)
        return false
    }
}
