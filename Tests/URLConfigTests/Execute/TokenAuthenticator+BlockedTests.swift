import Foundation
import Testing
import URLConfigTesting

@testable import URLConfig

/// The closure of a ``TokenAuthenticator`` blocks for another call.
@Suite(.inTime) struct TokenAuthenticatorBlockedTests {
    @Test func `a refused call waits for the closure of another call no longer than its deadline`() async throws {
        let (blocks, entered, late) = (Locked(false), Gate(), Locked(Bool?.none))
        let (clock, mayEnd, sent) = (TestClock(), DispatchSemaphore(value: 0), Recorder<Void>())
        let authenticator = TokenAuthenticator(hosts: ["api.test"]) { token in
            if blocks.withLock(\.self) {
                entered.open()
                late.set(\.self, mayEnd.wait(timeout: .now() + 20) == .timedOut)
            }
            return .bearer(token)
        } load: {
            .init("one")
        } refresh: { _ in
            .init("two")
        }
        let (content, end) = AsyncStream<Data>.makeStream()
        let request = URLRequest(url: URL(string: "https://api.test/a")!)
        let call = Task {
            try await URLSession.shared.stream(for: request, config: .silent) {
                ($0.authenticator, $0.clock, $0.deadline) = (authenticator, clock, .seconds(10))
                $0.transport = Transport { _ in
                    .init(status: .unauthorized, body: sent.note(()) == 1 ? .init(Data()) : .init(content))
                }
            }
        }
        try await waitUntil { sent.count == 2 }
        blocks.set(\.self, true)
        let other = Task.detached {
            var request = request
            try await authenticator.authorize(&request)
        }
        await entered.pass()
        end.finish()
        // The explanation of the refusal is next, which nobody can see.
        for _ in 0..<1000 { await Task.yield() }
        await clock.advance(by: .seconds(11))
        let error = await #expect(throws: RequestError.self) { try await call.value }
        #expect(error?.code == .deadlineExceeded)
        mayEnd.signal()
        try await other.value
        #expect(late.withLock(\.self) == false)
    }
}
