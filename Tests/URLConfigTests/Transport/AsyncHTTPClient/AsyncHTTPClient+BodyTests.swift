#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// The bodies of requests.
@Suite(.inTime) struct AsyncHTTPClientBodyTests {
    /// Streams whose reading waits until it is over.
    private struct Blocking: Sendable {
        let reads = Recorder<Void>()
        let isOver = Locked(false)

        var body: Transport.Body {
            .stream(length: nil) { [reads, isOver] in
                EndlessStream { _ in
                    reads.note(())
                    while !isOver.withLock({ $0 }) { usleep(10_000) }
                    return 0
                }
            }
        }
    }

    private static func stream(_ data: Data, length: Int64?) -> Transport.Body {
        .stream(length: length) { InputStream(data: data) }
    }

    private static func put(_ server: FaultServer, timeout: Duration? = nil) -> URLRequest {
        server.request {
            $0.method = .put
            $0.timeout = timeout
        }
    }

    @Test func `streams that block do not hold up other calls, and can be cancelled`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let blocked = Blocking()
            let calls = (0..<100).map { _ in
                Task { try await server.response(for: Self.put(server), config: .sending(blocked.body)) }
            }
            try await waitUntil { blocked.reads.count > 3 }
            // The blocked calls have all connections of the first session.
            let configuration = URLSessionConfiguration.ofTests
            configuration.httpMaximumConnectionsPerHost = 9
            let other = URLSession(configuration: configuration)
            defer { other.finishTasksAndInvalidate() }
            let body = URLSession.Config.sending(Self.stream(Data("{}".utf8), length: 2))
            for config in [URLSession.Config.server, body] {
                let response = try await other.response(for: Self.put(server), config: config)
                #expect(response.isSuccess)
            }
            for call in calls { call.cancel() }
            for call in calls { await #expect(throws: CancellationError.self) { try await call.valueInTime } }
            #expect(blocked.reads.count > 3)
            blocked.isOver.set(\.self, true)
        }
    }

    @Test func `a stream that blocks ends with the time limit of the request`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let blocked = Blocking()
            defer { blocked.isOver.set(\.self, true) }
            await expectError(.timedOut) {
                try await server.response(
                    for: Self.put(server, timeout: .milliseconds(500)),
                    config: .sending(blocked.body))
            }
        }
    }

    @Test(arguments: [true, false], [FaultServer.Fault.End.close, .reset, .hang])
    func `a server that responds before it has received the body does not hang the call`(
        isStream: Bool, end: FaultServer.Fault.End
    ) async throws {
        let early = FaultServer.Fault { connection in
            // What arrives before the request is not its response: AsyncHTTPClient ignores it or closes the connection.
            _ = try connection.received()
            try connection.send("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
            switch end {
            case .close: connection.close()
            case .reset: try connection.reset()
            case .hang: try connection.waitForEnd()
            }
        }
        try await FaultServer.serving(early) { server in
            let data = Data(count: 50_000_000)
            let body = isStream ? Self.stream(data, length: Int64(data.count)) : .data(data)
            do {
                let response = try await server.response(for: Self.put(server), config: .sending(body))
                #expect(response.status.code == 413)
                #expect(try response.text() == "{}")
            } catch let error as URLError {
                #expect(error.code == .networkConnectionLost)
            }
        }
    }
}

#endif
