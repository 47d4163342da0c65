import FlyingFox
import InMemoryLogging
import Logging
import Testing

@testable import URLConfig

@Suite(.inTime) struct CancellationTests {
    enum Step: CaseIterable {
        case authorize
        case server
        case reauthorize
        case onUnauthorized
        case validator
        case fallback
    }

    @Test func `before it starts, which the log tells from a failed transport`() async throws {
        let (logger, log) = Logger.recording()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await URLSession.shared.response(for: .with(.init(host: "http://127.0.0.1:1"))) {
                $0.logger = logger
            }
        }
        await #expect(throws: CancellationError.self) { try await task.valueInTime }
        #expect(log.entries.map(\.level) == [.debug])
        #expect(log.text.contains("cancelled"))
    }

    @Test(arguments: Step.allCases)
    func `within a step`(step: Step) async throws {
        let entered = OneShot<Void>()
        /// Waits for the end of the task, if this is the tested step.
        @Sendable func pass(_ current: Step) async throws {
            guard current == step else { return }
            entered.resolve(.success(()))
            try await Task.sleep(for: .seconds(600))
        }
        try await Loopback.serving { _ in
            try await pass(.server)
            return step == .reauthorize || step == .onUnauthorized ? .status(.unauthorized) : .json("{}")
        } _: { server in
            let task = Task {
                try await server.get {
                    $0.authenticator = TestAuthenticator { _ in
                        try await pass(.authorize)
                    } reauthorize: { _ in
                        try await pass(.reauthorize)
                        return false
                    }
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
            try await entered.value()
            await task.expectCancelled()
        }
    }

    @Test(arguments: [[], [ResponseValidator { _ in }]])
    func `by a closure of the call, when the response has arrived`(validators: [ResponseValidator]) async throws {
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
    func `while the response arrives`(fault: FaultServer.Fault) async throws {
        let entered = OneShot<Void>()
        let telling = FaultServer.Fault { connection in
            entered.resolve(.success(()))
            try fault.run(connection)
        }
        try await FaultServer.serving(telling) { server in
            let task = Task { try await server.get { $0.retry = .standard } }
            // The head may have arrived or not, and both must end in the same way.
            try await entered.value()
            await task.expectCancelled()
        }
    }
}
