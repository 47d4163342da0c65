import FlyingFox
import Testing

@testable import URLConfig

/// A deadline that expires in each step of a call.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DeadlineStepTests {
    enum Step: String, CaseIterable {
        case authorize
        case server
        case refresh
        case onUnauthorized
        case validator
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
            default: return .status(.ok)
            }
        } _: { server in
            let call = Task {
                try await server.get {
                    $0.clock = clock
                    $0.deadline = .seconds(5)
                    $0.authenticator = steps
                    $0.onUnauthorized = { _ in await steps.pass(.onUnauthorized) }
                    $0.validators = [ResponseValidator { _ in await steps.pass(.validator) }]
                }
            }
            await gate.waitForArrivals()
            await clock.waitForSleepers()
            clock.advance(by: .milliseconds(4999))
            #expect(clock.sleepers == 1)
            clock.advance(by: .milliseconds(1))
            let error = await #expect(throws: RequestError.self) { try await call.valueInTime }
            #expect(error?.code == .deadlineExceeded)
            #expect(error?.request?.urlText == server.host)
            #expect(error?.reason.contains("5.0 s") == true)
            let attempts: [String] =
                switch step {
                case .authorize: []
                case .server: ["unfinished after 5.0 s"]
                case .refresh, .onUnauthorized: ["401 after 0 ms"]
                case .validator: ["200 after 0 ms"]
                }
            #expect(error?.attempts.map(\.description) == attempts)
            // The task of the server is not part of the call.
            if step != .server { try await waitUntil { gate.cancelled == 1 } }
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
                try await server.get {
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
            let response = try await call.valueInTime
            #expect(response.data == Data("stored".utf8))
            try await server.get()
        }
        #expect(await journal.entries == ["served"])
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
                    try await server.get {
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
                // The sleeper of the deadline has ended, and that of the fallback has begun.
                try await waitUntil { clock.asked.count == 2 && clock.sleepers == 1 }
                #expect(clock.asked == [.seconds(5), left])
                clock.advance(by: left - .milliseconds(1))
                #expect(clock.sleepers == 1)
                clock.advance(by: .milliseconds(1))
                let error = await #expect(throws: RequestError.self) { try await call.valueInTime }
                #expect(error?.code == .deadlineExceeded)
                #expect(error?.underlyingError is Refused)
                #expect(error?.reason.contains("fallback") == true)
            }
        }
    }
}

/// An authenticator that reports the step of a call.
private struct Steps: Authenticator {
    let pass: @Sendable (DeadlineStepTests.Step) async -> Void

    init(_ pass: @escaping @Sendable (DeadlineStepTests.Step) async -> Void) {
        self.pass = pass
    }

    func pass(_ step: DeadlineStepTests.Step) async { await pass(step) }

    func authorize(_ request: inout URLRequest) async throws { await pass(.authorize) }

    func reauthorize(after response: DataResponse) async throws -> Bool {
        await pass(.refresh)
        return false
    }
}
