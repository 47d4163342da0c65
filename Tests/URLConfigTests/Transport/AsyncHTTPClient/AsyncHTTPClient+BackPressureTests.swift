#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// A body that is read slowly, or not at all.
@Suite(.inTime) struct AsyncHTTPClientBackPressureTests {
    @Test func `an endless body that is read slowly does not grow memory`() async throws {
        // More than all buffers of the system contain.
        let most = 100_000_000
        let endless = EndlessBody(length: most)
        /// Waits until nothing was sent for a while, or very much was.
        func waitForStandstill() async throws {
            var (last, since) = (endless.sent, ContinuousClock.now)
            while since.duration(to: .now) < .milliseconds(300), last < most {
                try await Task.sleep(for: .milliseconds(20))
                if endless.sent != last { (last, since) = (endless.sent, .now) }
            }
        }
        try await FaultServer.serving(endless.fault) { server in
            let body = try await server.open().body.makeAsyncIterator()
            for _ in 0..<3 {
                #expect(try await body.next()?.isEmpty == false)
                try await waitForStandstill()
                #expect(endless.sent < most / 2)
            }
        }
    }

    @Test func `releasing short responses that were never read leaves the client able to work`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            // More than the client opens connections.
            for _ in 0..<50 {
                let response = try await server.open()
                #expect(response.status == .ok)
            }
        }
    }

    @Test func `a body that is too long is an error at once, although the server is silent then`() async throws {
        let text = FaultServer.Fault.head(length: 100_000) + String(repeating: "x", count: 2000)
        try await FaultServer.serving(.raw(text, then: .hang)) { server in
            await expectError(.responseTooLarge) {
                try await server.get(config: .server) {
                    $0.responseLimit = 1000
                    $0.deadline = .seconds(300)
                }
            }
        }
    }
}

#endif
