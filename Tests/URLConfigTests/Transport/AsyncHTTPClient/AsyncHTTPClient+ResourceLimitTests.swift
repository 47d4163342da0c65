#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// The session's time limit for a whole attempt, `timeoutIntervalForResource`.
@Suite(.timeLimit(.minutes(10))) struct AsyncHTTPClientResourceLimitTests {
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
                let error = await #expect(throws: URLError.self) {
                    try await session.response(for: server.request(), config: .server)
                }
                #expect(error?.code == .timedOut)
                #expect(error?.failingURL == server.request().url)
                #expect(error?.attempts.count == 1)
                #expect(elapsed() >= .seconds(1))
            }
        }
    }

    @Test func `the limit is for each attempt, and the transfer of a late one is cancelled`() async throws {
        let running = Locked(0)
        let fault = FaultServer.Fault { connection in
            try connection.read()
            running.withLock { $0 += 1 }
            defer { running.withLock { $0 -= 1 } }
            try connection.dripForever()
        }
        try await FaultServer.serving(fault) { server in
            try await limited(to: 0.5) { session in
                let error = await #expect(throws: URLError.self) {
                    try await session.response(for: server.request(), config: .server) {
                        $0.retry = RetryPolicy.standard.quick
                    }
                }
                #expect(error?.code == .timedOut)
                #expect(error?.attempts.count == 3)
            }
            try await waitUntil { running.withLock { $0 } == 0 }
        }
    }

    @Test func `connecting to a host that does not react ends with the limit of the session`() async throws {
        try await BlackHole.open { host in
            try await limited(to: 1) { session in
                let request = URLRequest.with(.init(host: host)) { _ in }
                let error = await #expect(throws: URLError.self) {
                    try await session.response(for: request, config: .server)
                }
                #expect(error?.code == .timedOut)
            }
        }
    }

    @Test func `waiting for a connection ends with the limit of the session`() async throws {
        try await FaultServer.serving(.hangBeforeHead) { server in
            try await limited(to: 1) { session in
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            let error = await #expect(throws: URLError.self) {
                                try await session.response(for: server.request(), config: .server)
                            }
                            #expect(error?.code == .timedOut)
                        }
                    }
                }
            }
        }
    }

    @Test func `the shorter limit applies, of the session or of the request`() async throws {
        try await FaultServer.serving(.dripForever) { server in
            for (ofSession, ofRequest) in [(0.5, 500.0), (500.0, 0.5)] {
                try await limited(to: ofSession) { session in
                    let request = server.request { $0.timeout = .seconds(ofRequest) }
                    let error = await #expect(throws: URLError.self) {
                        try await session.response(for: request, config: .server)
                    }
                    #expect(error?.code == .timedOut)
                }
            }
        }
    }

    @Test func `the limit is the session's also with a client of one's own, which has none`() async throws {
        try await FaultServer.serving(.dripForever) { server in
            try await HTTPClient.lending { client in
                try await limited(to: 0.5) { session in
                    let error = await #expect(throws: URLError.self) {
                        try await session.response(for: server.request(), config: .onServer(client))
                    }
                    #expect(error?.code == .timedOut)
                }
            }
        }
    }

    @Test func `a response within the limit is complete`() async throws {
        try await FaultServer.serving(.drip("0123456789", every: .milliseconds(1))) { server in
            try await limited(to: 300) { session in
                let response = try await session.response(for: server.request(), config: .server)
                #expect(try response.text() == "0123456789")
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
