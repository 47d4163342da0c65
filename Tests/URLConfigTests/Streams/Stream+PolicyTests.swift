import Testing
import URLConfigTesting

@testable import URLConfig

/// What the settings of a call mean for a stream.
///
/// With a `TestClock`, the content of a failure may take any time to arrive. Otherwise it is limited to ten seconds.
@Suite(.inTime) struct StreamPolicyTests {
    // Foundation on Linux reads the body of a redirect before it tells anybody of the redirect.
    @Test(
        .enabled(if: TransportOfTests.isAsyncHTTPClient),
        arguments: ["302 Found\r\nLocation: /next", "307 Temporary Redirect\r\nLocation: /next"])
    func `a redirect is followed before its body is complete`(redirect: String) async throws {
        try await FaultServer.serving(.first(1, then: redirect)) { server in
            let response = try await server.stream()
            #expect(try await response.collect(upTo: 10).text() == "ok")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a transient failure is retried before its body is complete`() async throws {
        try await FaultServer.serving(.first(1, then: "503 Service Unavailable")) { server in
            let response = try await server.stream { $0.retry = RetryPolicy(attempts: 2).quick }
            #expect(try await response.collect(upTo: 10).text() == "ok")
        }
    }

    @Test func `errors and validators see the content of a failure, and the body still has all of it`() async throws {
        let content = #"{"message": "no"}"#
        let failure = FaultServer.Fault.raw(
            "HTTP/1.1 422 No\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)")
        try await FaultServer.serving(failure) { server in
            let response = try await server.stream { $0.clock = TestClock() }
            let error = #expect(throws: RequestError.self) { try response.validated() }
            #expect(try error?.response?.text() == content)
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .custom { _ in AnyKey(stringValue: "other") }
            #expect(throws: Message.self) { try response.validated(orThrow: Message.self) }
            #expect(throws: RequestError.self) { try response.validated(orThrow: Message.self, decoder: decoder) }
            #expect(try await response.collect(upTo: 100).text() == content)
            await #expect(throws: Message.self) {
                try await server.stream { ($0.clock, $0.validators) = (TestClock(), [.orThrow(Message.self)]) }
            }
        }
    }

    @Test func `of an endless failure, a megabyte is read`() async throws {
        let failure = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 500 No\r\n\r\n")
            for _ in 0..<12 { try connection.send([UInt8](repeating: 48, count: 1_000_000)) }
            try connection.waitForEnd()
        }
        try await FaultServer.serving(failure) { server in
            let response = try await server.stream { $0.clock = TestClock() }
            let error = #expect(throws: RequestError.self) { try response.validated() }
            #expect(error.flatMap(\.response)?.data.count ?? 0 >= 1 << 20)
            var count = 0
            for try await piece in response.chunks {
                count += piece.count
                if count > 10_000_000 { break }
            }
            #expect(count > 10_000_000)
        }
    }

    // By a clock that the test moves. The limit is long, because Foundation's clock also runs.
    @Test func `the request's timeout is a limit for silence, and a slow reader is no silence`() async throws {
        let (clock, steps) = (TestClock(), DispatchSemaphore(value: 0))
        let fault = FaultServer.Fault.reading { connection in
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

    @Test(arguments: ["lines", "chunks", "values", "collect"])
    func `the deadline includes the loop, even if the body has arrived`(kind: String) async throws {
        let clock = TestClock()
        let error = await #expect(throws: RequestError.self) {
            let response = try await stubs.session.stream(for: stubs.request(), config: .silent) {
                ($0.clock, $0.deadline) = (clock, .seconds(10))
                $0.transport = Transport { _ in .init(body: .init(Data("1\n2\n3\n".utf8))) }
            }
            switch kind {
            case "lines": for try await _ in response.lines { clock.move(by: .seconds(6)) }
            case "chunks":
                clock.move(by: .seconds(11))
                for try await _ in response.chunks {}
            case "values": for try await _ in response.values(of: Int.self) { clock.move(by: .seconds(6)) }
            default:
                clock.move(by: .seconds(11))
                _ = try await response.collect(upTo: 100)
            }
        }
        #expect(error?.code == .deadlineExceeded)
    }

    @Test func `the limit holds for the whole body`() async throws {
        try await FaultServer.serving(.endless) { server in
            let response = try await server.stream { $0.responseLimit = 1_000_000 }
            var count = 0
            await expectError(.responseTooLarge) { for try await piece in response.chunks { count += piece.count } }
            #expect(count <= 1_000_000)
        }
        try await FaultServer.serving(EndlessBody().fault) { server in
            let error = await #expect(throws: RequestError.self) { try await server.stream().collect(upTo: 1000) }
            #expect(error?.response?.data.count == 1000)
        }
    }

    @Test func `the time of a collected response ends with its body, or is the one of its fallback`() async throws {
        let clock = TestClock()
        let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        let response = try await stubs.session.stream(for: stubs.request(), config: .silent) {
            $0.clock = clock
            $0.transport = Transport { _ in
                clock.move(by: .seconds(2))
                return .init(body: ResponseBody(pieces))
            }
        }
        continuation.yield(Data("1".utf8))
        continuation.finish()
        clock.move(by: .seconds(3))
        let collected = try await response.collect(upTo: 10)
        #expect((response.head.duration, collected.duration) == (.seconds(2), .seconds(5)))
        #expect(collected.attempts.map(\.duration) == [.seconds(5)])
        let other = try await stubs.session.stream(for: stubs.request(), config: .silent) {
            $0.clock = clock
            $0.transport = Transport { _ in throw URLError(.badServerResponse) }
            $0.fallback = { DataResponse(request: $1, data: Data("stored".utf8), duration: .seconds(7)) }
        }
        clock.move(by: .seconds(3))
        let stored = try await other.collect(upTo: 10)
        #expect(stored.duration == .seconds(7) && stored.attempts.map(\.duration) == [.zero])
    }

    @Test func `a fallback is also a stream`() async throws {
        try await FaultServer.serving(.reset) { server in
            let response = try await server.stream { config in
                config.fallback = { DataResponse(request: $1, data: Data("stored".utf8)) }
            }
            #expect(try await response.collect(upTo: 10).text() == "stored")
        }
    }

    @Test func `a transport of the caller can be read as a stream`() async throws {
        let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        let response = try await URLSession.shared.stream(
            for: .with(.init(host: "http://h.invalid")), config: .silent
        ) {
            $0.transport = Transport { _ in .init(body: ResponseBody(pieces)) }
        }
        continuation.yield(Data("1".utf8))
        continuation.yield(Data())
        continuation.yield(Data("2".utf8))
        continuation.finish()
        var all: [Data] = []
        for try await piece in response.chunks { all.append(piece) }
        #expect(all == [Data("1".utf8), Data("2".utf8)])
    }
}

private struct Message: Decodable, Error {
    let message: String
}

extension FaultServer.Fault {
    /// Responds to the first requests with a head and an unfinished body, which hangs; then correctly.
    static func first(_ count: Int, then head: String) -> Self {
        .first(count, .raw("HTTP/1.1 \(head)\r\nContent-Length: 1000\r\n\r\nbeginning", then: .hang), then: .ok("ok"))
    }
}
