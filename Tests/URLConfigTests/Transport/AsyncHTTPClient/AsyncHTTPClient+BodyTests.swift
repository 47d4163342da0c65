#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// The bodies of requests.
@Suite(.inTime) struct AsyncHTTPClientBodyTests {
    private static let large = Data.sample(10_000_000)

    /// Sends a PUT with this body instead of its own.
    private static func sending(_ body: Transport.Body) -> URLSession.Config {
        .silent.with {
            $0.transport = Transport { request in
                var request = request
                request.body = body
                return try await Transport.asyncHTTPClient.send(request)
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

    @Test(arguments: [0, 1, 10_000_000])
    func `a stream is sent with its length, or else in chunks`(count: Int) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let data = Self.large.prefix(count)
            try await server.response(
                for: Self.put(server), config: Self.sending(Self.stream(data, length: Int64(count))))
            try await server.response(for: Self.put(server), config: Self.sending(Self.stream(data, length: nil)))
            #expect(server.requests.map(\.body) == [data, data])
            #expect(server.requests.first?.field("Content-Length") == "\(count)")
            #expect(count == 0 || server.requests.last?.field("Transfer-Encoding") == "chunked")
        }
    }

    @Test func `streams that block do not hold up other calls, and can be cancelled`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let blocked = BlockingStream.Block()
            let calls = (0..<100).map { _ in
                let body = Transport.Body.stream(length: nil) { BlockingStream(blocked) }
                return Task { try await server.response(for: Self.put(server), config: Self.sending(body)) }
            }
            try await waitUntil { blocked.count > 3 }
            // The blocked calls have all connections of the first session.
            let configuration = URLSessionConfiguration.ofTests
            configuration.httpMaximumConnectionsPerHost = 9
            let other = URLSession(configuration: configuration)
            defer { other.finishTasksAndInvalidate() }
            let body = Self.sending(Self.stream(Data("{}".utf8), length: 2))
            for config in [URLSession.Config.server, body] {
                let response = try await other.response(for: Self.put(server), config: config)
                #expect(response.isSuccess)
            }
            for call in calls { call.cancel() }
            for call in calls { await #expect(throws: CancellationError.self) { try await call.valueInTime } }
            #expect(blocked.count > 3)
            blocked.end()
        }
    }

    @Test func `a stream that blocks ends with the time limit of the request`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let blocked = BlockingStream.Block()
            defer { blocked.end() }
            await expectError(.timedOut) {
                try await server.response(
                    for: Self.put(server, timeout: .milliseconds(500)),
                    config: Self.sending(.stream(length: nil) { BlockingStream(blocked) }))
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
                let response = try await server.response(for: Self.put(server), config: Self.sending(body))
                #expect(response.status.code == 413)
                #expect(try response.text() == "{}")
            } catch let error as URLError {
                #expect(error.code == .networkConnectionLost)
            }
        }
    }
}

/// A stream whose reading waits until it is allowed.
private final class BlockingStream: InputStream {
    final class Block: Sendable {
        private let gate = NSCondition()
        private let state = Locked((count: 0, isOver: false))

        /// The number of streams that were read.
        var count: Int { state.withLock { $0.count } }

        func wait() {
            state.withLock { $0.count += 1 }
            gate.lock()
            while !state.withLock({ $0.isOver }) { gate.wait() }
            gate.unlock()
        }

        func end() {
            gate.lock()
            state.set(\.isOver, true)
            gate.broadcast()
            gate.unlock()
        }
    }

    private let block: Block

    init(_ block: Block) {
        self.block = block
        super.init(data: Data())
    }

    override var hasBytesAvailable: Bool { true }

    override func open() {}

    override func close() {}

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        block.wait()
        return 0
    }
}

#endif
