import Testing
import URLConfigTesting

@testable import URLConfig

/// What the time limit of a request means for a stream, by a clock that the test moves.
///
/// The limit is long, because Foundation's clock also runs.
@Suite(.inTime) struct StreamSilenceTests {
    @Test func `the request's timeout is a limit for silence, and a slow reader is no silence`() async throws {
        let (clock, steps) = (TestClock(), DispatchSemaphore(value: 0))
        let fault = FaultServer.Fault { connection in
            try connection.read()
            try connection.send(FaultServer.Fault.head(length: 10))
            for byte in "012".utf8 {
                steps.wait()
                try connection.send(CollectionOfOne(byte))
            }
            try connection.waitForEnd()
        }
        try await FaultServer.serving(fault) { server in
            let request = server.request { $0.timeout = .seconds(100) }
            let response = try await server.session.stream(for: request, config: .silent) { $0.clock = clock }
            steps.signal()
            var text = ""
            var later: Task<Void, any Error>?
            let error = await #expect(throws: URLError.self) {
                for try await piece in response.chunks {
                    text += String(decoding: piece, as: UTF8.self)
                    switch text.count {
                    case 1:
                        // Nobody waits for bytes now.
                        clock.move(by: .seconds(300))
                        steps.signal()
                    case 2:
                        later = Task {
                            try await Task.sleep(for: .milliseconds(50))
                            clock.move(by: .seconds(90))
                            steps.signal()
                        }
                    default:
                        later = Task {
                            while !Task.isCancelled {
                                clock.move(by: .seconds(90))
                                try await Task.sleep(for: .milliseconds(10))
                            }
                        }
                    }
                }
            }
            later?.cancel()
            #expect(text == "012")
            #expect(error?.code == .timedOut)
        }
    }
}
