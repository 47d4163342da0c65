import Testing

@testable import URLConfig

/// What the time limit of a request means for a stream.
///
/// The tests run in separate processes: ten thousand calls of another test would hold up Foundation's queue for longer
/// than the limit.
@Suite(.timeLimit(.minutes(10))) struct StreamSilenceTests {
    @Test func `the request's timeout is a limit for silence`() async throws {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let dripping = FaultServer.Fault { connection in
                try connection.read()
                try connection.send(FaultServer.Fault.head(length: 10))
                for byte in "0123456789".utf8 {
                    try connection.send(CollectionOfOne(byte))
                    try connection.pause(.milliseconds(1200))
                }
            }
            try await FaultServer.serving(dripping) { server in
                let request = server.request { $0.timeout = .seconds(10) }
                let response = try await server.session.stream(for: request, config: .silent)
                #expect(try await response.collect(upTo: 10).text() == "0123456789")
            }
            try await FaultServer.serving(.hangInBody) { server in
                let request = server.request { $0.timeout = .seconds(10) }
                let response = try await server.session.stream(for: request, config: .silent)
                let error = await #expect(throws: URLError.self) { try await response.collect(upTo: 1000) }
                #expect(error?.code == .timedOut)
            }
        }
    }

    @Test func `a slow reader is no silence`() async throws {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let body = EndlessBody(length: 21_000_000)
            try await FaultServer.serving(body.fault) { server in
                let request = server.request { $0.timeout = .seconds(20) }
                let response = try await server.session.stream(for: request, config: .silent)
                var count = 0
                for try await piece in response.chunks {
                    count += piece.count
                    guard count < 20_000_000 else { break }
                    if count == piece.count { try await Task.sleep(for: .seconds(24)) }
                }
                #expect(count >= 20_000_000)
            }
        }
    }
}
