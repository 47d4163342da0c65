#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// The session's time limit for a whole attempt, `timeoutIntervalForResource`.
@Suite(.inTime) struct AsyncHTTPClientResourceLimitTests {
    /// Calls with a session with this limit and a long one for silence.
    private func limited<Value>(
        to limit: TimeInterval, isolation: isolated (any Actor)? = #isolation,
        _ body: (URLSession) async throws -> Value
    ) async throws -> Value {
        try await URLSession.with {
            $0.timeoutIntervalForRequest = 600
            $0.timeoutIntervalForResource = limit
        } _: {
            try await body($0)
        }
    }

    @Test func `a body that arrives slowly forever ends with the limit of the session`() async throws {
        try await FaultServer.serving(.dripForever) { server in
            try await limited(to: 1) { session in
                let elapsed = ContinuousClock().stopwatch()
                let error = await expectError(.timedOut) {
                    try await session.response(for: server.request(), config: .server)
                }
                #expect(error?.failingURL == server.request().url)
                #expect(error?.attempts.count == 1)
                #expect(elapsed() >= .seconds(1))
            }
        }
    }

    @Test func `connecting to a host that does not react ends with the limit of the session`() async throws {
        try await BlackHole.open { host in
            try await limited(to: 1) { session in
                let request = URLRequest.with(.init(host: host)) { _ in }
                await expectError(.timedOut) { try await session.response(for: request, config: .server) }
            }
        }
    }

    @Test func `waiting for a connection ends with the limit of the session`() async throws {
        try await FaultServer.serving(.hangBeforeHead) { server in
            try await limited(to: 1) { session in
                try await concurrently(20) { _ in
                    await expectError(.timedOut) { try await session.response(for: server.request(), config: .server) }
                }
            }
        }
    }

    @Test func `a custom transport ignores the limit of the session`() async throws {
        let custom = Transport { _ in
            try await Task.sleep(for: .milliseconds(200))
            return .init(body: .init(Data("{}".utf8)))
        }
        try await limited(to: 0.001) { session in
            let request = URLRequest.with(.init(host: "https://api.example.com")) { _ in }
            let response = try await session.response(for: request, config: .silent) { $0.transport = custom }
            #expect(try response.text() == "{}")
        }
    }
}

extension FaultServer.Fault {
    /// A body that never ends, one byte at a time.
    fileprivate static let dripForever = Self { connection in
        try connection.read()
        try connection.dripForever()
    }
}

extension FaultServer.Connection {
    fileprivate func dripForever() throws {
        try send(FaultServer.Fault.head(length: 1 << 30))
        while true {
            try send("0")
            try pause(.milliseconds(20))
        }
    }
}

#endif
