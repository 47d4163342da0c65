import Testing
import URLConfigTesting

@testable import URLConfig

/// The end of a loop from inside and from outside.
@Suite(.inTime) struct EventsCancellationTests {
    /// Begins a loop in a task, cancels it when the condition is true, and expects the error of that.
    private func cancelling(
        _ server: FaultServer, _ clock: TestClock = TestClock(), when condition: (Int) -> Bool,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        let count = Locked(0)
        let task = Task {
            for try await _ in server.session.events(for: server.request(), config: .silent, { $0.clock = clock }) {
                count.withLock { $0 += 1 }
            }
        }
        try await waitUntil { condition(count.withLock { $0 }) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.valueInTime }
    }

    @Test func `before the head, in the body, and while it waits`() async throws {
        let clock = TestClock()
        let faults: [(FaultServer.Fault, events: Int, sleepers: Int)] = [
            (.hangBeforeHead, 0, 0), (.events("data: a\n\n", then: .hang), 1, 0), (.events("data: a\n\n"), 1, 1),
        ]
        for (fault, events, sleepers) in faults {
            try await FaultServer.serving(fault) { server in
                try await cancelling(server, clock) { count in
                    !server.requests.isEmpty && count == events && clock.sleepers == sleepers
                }
                #expect(server.requests.count == 1)
                #expect(clock.sleepers == 0)
            }
        }
    }

    @Test func `while the authenticator works`() async throws {
        struct Slow: Authenticator {
            let gate: Gate
            func authorize(_ request: inout URLRequest) async throws { await gate.pass() }
        }
        let gate = Gate()
        try await FaultServer.serving(.events()) { server in
            let task = Task { await server.events { $0.authenticator = Slow(gate: gate) } }
            await gate.waitForArrivals()
            task.cancel()
            gate.open()
            #expect(await task.value.error is CancellationError)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a cancelled loop receives no event that has arrived`() async throws {
        try await FaultServer.serving(.events(String(repeating: "data: a\n\n", count: 100), then: .hang)) { server in
            let count = Locked(0)
            let task = Task {
                for try await _ in server.session.events(for: server.request(), config: .silent) {
                    count.withLock { $0 += 1 }
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            await #expect(throws: CancellationError.self) { try await task.valueInTime }
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test func `leaving the loop ends the transfer, although the sequence is kept`() async throws {
        let ends = Locked(0)
        let endless = FaultServer.Fault.endless(FaultServer.Fault.eventsHead, "data: a\n\n") {
            ends.withLock { $0 += 1 }
        }
        try await FaultServer.serving(endless) { server in
            let events = server.session.events(for: server.request(), config: .silent)
            for try await _ in events { break }
            try await waitUntil { ends.withLock { $0 } == 1 }
            struct Stop: Error {}
            await #expect(throws: Stop.self) { for try await _ in events { throw Stop() } }
            try await waitUntil { ends.withLock { $0 } == 2 }
        }
    }

    @Test func `the transfer of a lost connection is over before the delay`() async throws {
        let isOver = Locked(false)
        let endless = FaultServer.Fault.endless("HTTP/1.1 503 Down\r\n\r\n", "x") { isOver.set(\.self, true) }
        try await FaultServer.serving(endless) { server in
            let clock = TestClock()
            try await cancelling(server, clock) { _ in clock.sleepers == 1 && isOver.withLock { $0 } }
        }
    }
}
