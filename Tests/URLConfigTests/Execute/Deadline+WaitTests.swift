import Foundation
import Testing

@testable import URLConfig

/// What a deadline does to those who wait, on a clock of the test.
@Suite(.inTime) struct DeadlineWaitTests {
    private let clock = TestClock()
    private let passed = Recorder<Int>()

    private func deadline(_ limit: Duration?) -> Deadline {
        Deadline(limit, clock, Attempts(redaction: .standard))
    }

    @Test func `everybody who waits is told once, and nobody who has stopped to wait`() async throws {
        let deadline = deadline(.seconds(5))
        let waits = (0..<3).map { number in deadline.wait { [passed] _ in passed.note(number) } }
        deadline.end(waits[1])
        await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        try await waitUntil { passed.count == 2 }
        #expect(Set(passed.entries) == [0, 2])
        let error = #expect(throws: RequestError.self) { try deadline.check() }
        #expect(error?.code == .deadlineExceeded)
        // Who begins to wait afterwards is told at once.
        _ = deadline.wait { [passed] _ in passed.note(3) }
        #expect(passed.count == 3)
    }

    @Test func `after its end it does not count`() async throws {
        let deadline = deadline(.seconds(5))
        _ = deadline.wait { [passed] _ in passed.note(0) }
        await clock.waitForSleepers()
        deadline.end()
        try await waitUntil { clock.sleepers == 0 }
        clock.advance(by: .seconds(10))
        try deadline.check()
        #expect(deadline.remaining == nil)
        #expect(try await deadline.run { 1 } == 1)
        #expect(passed.count == 0)
    }

    @Test func `a function that does not return is left alone, and the clock decides if the timer is late`()
        async throws
    {
        let gate = Gate()
        defer { gate.open() }
        let deadline = deadline(.seconds(5))
        let call = Task { try await deadline.run { await gate.pass() } }
        await gate.waitForArrivals()
        await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: RequestError.self) { try await call.valueInTime }
        #expect(error?.code == .deadlineExceeded)
        let late = self.deadline(.seconds(5))
        await #expect(throws: RequestError.self) { try await late.run { [clock] in clock.advance(by: .seconds(6)) } }
    }

    @Test func `without a deadline a function runs in the task of the caller, unless it is to be left alone`()
        async throws
    {
        let own = withUnsafeCurrentTask { $0?.hashValue }
        for leavesAlone in [false, true] {
            let other = try await deadline(nil).run(leavesAlone: leavesAlone) {
                withUnsafeCurrentTask { $0?.hashValue }
            }
            #expect((own == other) == !leavesAlone)
        }
    }

    @Test func `no time is over at once`() async {
        for limit in [Duration.zero, .seconds(-1)] {
            let deadline = deadline(limit)
            #expect(throws: RequestError.self) { try deadline.begin(URLRequest(url: URL(filePath: "/"))) }
            await #expect(throws: RequestError.self) { try await deadline.run { Issue.record("it was run") } }
        }
    }
}
