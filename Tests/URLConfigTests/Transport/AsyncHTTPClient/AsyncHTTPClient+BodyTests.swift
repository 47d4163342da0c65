#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
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

    @Test func `the end of a body is passed on when all of it was written, or never`() async throws {
        for isWritten in [true, false] {
            let body = try UploadBody(Self.stream(Data("hello".utf8), length: 5), nil)
            body.watch()
            #expect(try await body.next()?.readableBytes == 5)
            let end = Task { try await body.next() }
            body.didWrite(4)
            try await waitUntil { body.isAtEnd }
            if isWritten {
                body.didWrite(1)
                #expect(try await end.valueInTime == nil)
            }
            body.end()
            if !isWritten { await #expect(throws: CancellationError.self) { try await end.valueInTime } }
        }
    }

    @Test func `a long piece of a sequence is sent in parts`() async throws {
        let data = Data.sample(1_000_000)
        let pieces = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(data)
            continuation.finish()
        }
        let body = try UploadBody(.sequence(ResponseBody(pieces), length: nil), nil)
        var sent = Data()
        while let part = try await body.next() {
            #expect(part.readableBytes <= UploadBody.pieceSize)
            sent += part.readableBytesView
        }
        #expect(sent == data)
    }

    @Test func `a refusal that comes while a short body is sent is the response`() async throws {
        let directory = TemporaryDirectory()
        let file = try directory.file("a", Data(count: 1_000))
        let refusal = FaultServer.Fault { connection in
            _ = try connection.head()
            try connection.send("HTTP/1.1 413 X\r\nConnection: close\r\nContent-Length: 10\r\n\r\n01234")
            try connection.pause(.milliseconds(3))
            try connection.send("56789")
            try connection.pause(.milliseconds(20))
        }
        try await FaultServer.serving(refusal) { server in
            for _ in 0..<5 {
                try await concurrently(20) { _ in
                    let request = server.request { $0.method = .post }
                    let response = try await server.session.upload(.file(file), for: request, config: .server)
                    #expect(response.status.code == 413 && response.data.count == 10)
                }
            }
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
