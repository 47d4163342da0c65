import FlyingFox
import InMemoryLogging
import Logging
import Testing

@testable import URLConfig

@Suite(.timeLimit(.minutes(10))) struct CancellationTests {
    enum Step: CaseIterable {
        case authorize
        case server
        case reauthorize
        case onUnauthorized
        case validator
        case fallback
    }

    @Test func `cancelled before it starts`() async throws {
        let session = URLSession(configuration: .ofTests)
        defer { session.finishTasksAndInvalidate() }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.response(for: URLRequest.with(.init(host: "http://127.0.0.1:1")))
        }
        await #expect(throws: CancellationError.self) { try await task.valueInTime }
    }

    @Test(arguments: Step.allCases)
    func `cancelled within a step`(step: Step) async throws {
        let (entered, signal) = AsyncStream.makeStream(of: Void.self)
        /// Waits for the end of the task, if this is the tested step.
        @Sendable func pass(_ current: Step) async throws {
            guard current == step else { return }
            signal.yield()
            try await Task.sleep(for: .seconds(600))
        }
        try await Loopback.serving { _ in
            if step == .server { signal.yield() }
            if step == .server { try await Task.sleep(for: .seconds(600)) }
            return step == .reauthorize || step == .onUnauthorized ? .status(.unauthorized) : .json("{}")
        } _: { server in
            let task = Task {
                try await server.get {
                    $0.authenticator = Passing(pass: pass)
                    $0.onUnauthorized = { _ in try? await pass(.onUnauthorized) }
                    $0.validators = [
                        ResponseValidator { _ in
                            try await pass(.validator)
                            if step == .fallback { throw URLError(.badServerResponse) }
                        }
                    ]
                    $0.fallback = { error, request in
                        #expect(step == .fallback, "a fallback is for no cancelled task")
                        try await pass(.fallback)
                        return DataResponse(request: request)
                    }
                }
            }
            for await _ in entered { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.valueInTime }
        }
    }

    @Test(arguments: [[], [ResponseValidator { _ in }]])
    func `cancelled when the answer is there, in a closure of its own`(validators: [ResponseValidator]) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let task = Task {
                try await server.get {
                    $0.validators = validators
                    $0.isUnauthorized = { _ in
                        withUnsafeCurrentTask { $0?.cancel() }
                        return false
                    }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.valueInTime }
        }
    }

    @Test(arguments: [FaultServer.Fault.hangBeforeHead, .hangAfterHead, .hangInBody])
    func `cancelled while the answer comes`(fault: FaultServer.Fault) async throws {
        let (entered, signal) = AsyncStream.makeStream(of: Void.self)
        let telling = FaultServer.Fault { connection in
            // The request may have arrived or not. Both cases must end in the same way.
            signal.yield()
            try fault.run(connection)
        }
        try await FaultServer.serving(telling) { server in
            let task = Task {
                try await server.get {
                    $0.retry = .standard
                }
            }
            for await _ in entered { break }
            for _ in 0..<Int.random(in: 0...500) { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.valueInTime }
        }
    }

    @Test func `cancelled while it waits to try again`() async throws {
        let clock = TestClock()
        try await FaultServer.serving(.statusLine("HTTP/1.1 503 Busy")) { server in
            let task = Task {
                try await server.get {
                    $0.retry = .standard
                    $0.retry.isBudgeted = false
                    $0.clock = clock
                }
            }
            await clock.waitForSleepers()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.valueInTime }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `cancelling is told from a transport failure in the log`() async throws {
        let (logger, log) = Logger.recording()
        let session = URLSession(configuration: .ofTests)
        defer { session.finishTasksAndInvalidate() }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.response(for: URLRequest.with(.init(host: "http://127.0.0.1:1"))) {
                $0.logger = logger
            }
        }
        _ = await task.result
        #expect(log.entries.map(\.level) == [.debug])
        #expect(log.text.contains("cancelled"))
    }
}

private struct Passing: Authenticator {
    let pass: @Sendable (CancellationTests.Step) async throws -> Void

    func authorize(_ request: inout URLRequest) async throws {
        try await pass(.authorize)
    }

    func reauthorize(after response: DataResponse) async throws -> Bool {
        try await pass(.reauthorize)
        return false
    }
}
