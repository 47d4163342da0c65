#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import Testing

@testable import URLConfig

/// A hostile server or a careless caller.
@Suite(.inTime) struct AsyncHTTPClientHostileTests {
    /// An ephemeral session with this limit for silence, in seconds.
    private static func session(silence: TimeInterval, connections: Int = 6) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = silence
        configuration.httpMaximumConnectionsPerHost = connections
        return URLSession(configuration: configuration)
    }

    private static func put(_ server: some TestServer, _ count: Int = 0) -> URLRequest {
        server.request {
            $0.method = .put
            if count > 0 { $0.body = .data(Data(count: count)) }
        }
    }

    /// Serves connections of which no more is read after this text was sent.
    private static func stalled(_ text: String, _ body: (FaultServer) async throws -> Void) async throws {
        let isOver = Locked(false)
        let fault = FaultServer.Fault { connection in
            _ = try connection.received()
            try connection.send(text)
            while !isOver.withLock({ $0 }) { usleep(10_000) }
        }
        try await FaultServer.serving(fault) { server in
            defer { isOver.withLock { $0 = true } }
            try await body(server)
        }
    }

    @Test(arguments: ["/files/%E9", "/a%FF/b?x=1", "/%C3", "/a%2F%E9"])
    func `a path that the client would leave out is refused`(path: String) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let url = try #require(URL(string: server.host + path))
            for content in ["", "body"] {
                var request = URLRequest(url: url)
                (request.httpMethod, request.httpBody) = ("PUT", Data(content.utf8))
                await expectError(.invalidURL) {
                    try await server.session.response(for: request, config: .silent) {
                        $0.transport = .asyncHTTPClient
                    }
                }
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a POST whose body breaks off is sent once`() async throws {
        try await TLSCutter.serving { server, count in
            try await HTTPClient.trusting { client in
                for index in 1...10 {
                    let error = await #expect(throws: URLError.self) {
                        try await server.response(
                            for: server.request { $0.method = .post },
                            config: .sending(.data(Data(count: 20_000_000)), by: .asyncHTTPClient(client)))
                    }
                    #expect(count.withLock { $0 } == index, "\(String(describing: error))")
                }
            }
        }
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "HTTP/1.1 413 X\r\nContent-Length: 9\r\n\r\n{",
    ])
    func `an upload that nobody reads ends with the time limit of the session`(head: String) async throws {
        try await Self.stalled(head) { server in
            let data = Data(count: 50_000_000)
            for body in [Transport.Body.data(data), .stream(length: nil) { InputStream(data: data) }] {
                let session = Self.session(silence: 1)
                let error = await #expect(throws: (any Error).self) {
                    try await session.response(for: Self.put(server), config: .sending(body)) {
                        $0.deadline = .seconds(300)
                    }
                }
                #expect((error as? URLError)?.code == .timedOut)
            }
        }
    }

    // The window of the stream stays at 65,535 bytes.
    @Test func `an upload on HTTP 2 without more window ends with the time limit`() async throws {
        try await RawHTTP2.serving { _ in
            []
        } _: { server in
            try await HTTPClient.lending {
                $0.tlsConfiguration = try TestCertificate.localhost.forClient()
            } _: { client in
                let request = server.request {
                    $0.method = .put
                    $0.timeout = .seconds(1)
                }
                let error = await #expect(throws: (any Error).self) {
                    try await URLSession.shared.upload(
                        .data(Data(count: 1_000_000)), for: request, config: .onServer(client)
                    ) { $0.deadline = .seconds(300) }
                }
                #expect((error as? URLError)?.code == .timedOut)
            }
        }
    }

    @Test func `an upload ends with its response`() async throws {
        try await Self.stalled("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") { server in
            let reads = Locked(0)
            let body = Transport.Body.stream(length: nil) {
                EndlessStream { room in
                    reads.withLock { $0 += 1 }
                    usleep(1000)
                    return min(room, 10)
                }
            }
            let response = try await server.response(for: Self.put(server), config: .sending(body))
            #expect(response.isSuccess)
            let before = reads.withLock { $0 }
            try await Task.sleep(for: .milliseconds(300))
            #expect(reads.withLock { $0 } - before < 10)
        }
    }

    @Test(arguments: [nil, 1 << 40] as [Int64?])
    func `an upload that the server does not read does not keep its connection after the response`(length: Int64?)
        async throws
    {
        let (reads, isOver) = (Locked(0), Locked(false))
        let fault = FaultServer.Fault { connection in
            _ = try connection.received()
            // Until all buffers are full, and AsyncHTTPClient waits.
            var (last, rounds) = (-1, 0)
            while rounds < 30 {
                usleep(10_000)
                let now = reads.withLock(\.self)
                (last, rounds) = (now, now == last ? rounds + 1 : 0)
            }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            while !isOver.withLock(\.self) { usleep(10_000) }
        }
        let body = Transport.Body.stream(length: length) {
            EndlessStream { room in
                reads.withLock { $0 += 1 }
                return room
            }
        }
        try await FaultServer.serving(fault) { server in
            defer { isOver.set(\.self, true) }
            let session = Self.session(silence: 60, connections: 1)
            defer { session.finishTasksAndInvalidate() }
            // The second one needs a connection, and there may be only one.
            for _ in 1...2 {
                let response = try await session.response(for: Self.put(server), config: .sending(body))
                #expect(response.isSuccess)
            }
        }
    }

    private final class Token: Sendable {}
    private struct Weak: Sendable { weak var token: Token? }

    /// Uploads an endless stream; returns whether that is still in memory.
    private static func upload(
        to server: some TestServer, by transport: Transport = .asyncHTTPClient,
        _ check: (Result<DataResponse, any Error>) -> Void
    ) async -> @Sendable () -> Bool {
        let token = Token()
        let kept = Locked(Weak(token: token))
        let body = Transport.Body.stream(length: nil) {
            EndlessStream { room in withExtendedLifetime(token) { room } }
        }
        check(
            await Result(of: { try await server.response(for: put(server), config: .sending(body, by: transport)) }))
        return { kept.withLock { $0.token != nil } }
    }

    @Test func `an upload that waits for room leaves nothing behind when its connection breaks off`() async throws {
        let fault = FaultServer.Fault { connection in
            _ = try connection.received()
            // Meanwhile the upload fills all buffers, and then waits.
            try connection.pause(.milliseconds(500))
        }
        try await FaultServer.serving(fault) { server in
            let isKept = await Self.upload(to: server) { result in #expect(throws: URLError.self) { try result.get() } }
            try await waitUntil { !isKept() }
        }
    }

    @Test(arguments: [200, 307, 401, 413, 500])
    func `an upload that is refused before it was read leaves nothing behind`(status: Int) async throws {
        let fault = FaultServer.Fault { connection in
            _ = try connection.received()
            try connection.send("HTTP/1.1 \(status) Early\r\nContent-Length: 2\r\n\r\n{}")
            try connection.waitForEnd()
        }
        try await FaultServer.serving(fault) { server in
            for _ in 0..<3 {
                let isKept = await Self.upload(to: server) { result in
                    #expect((try? result.get().status.code) == status, "\(result)")
                }
                try await waitUntil { !isKept() }
            }
        }
    }

    @Test func `over HTTP 2, an upload that is refused before it was read leaves nothing behind`() async throws {
        try await RawHTTP2.trusted { stream in
            RawHTTP2.headers(stream, [":status": "413"], end: true)
        } _: { server, config in
            for _ in 0..<3 {
                let isKept = await Self.upload(to: server, by: config.transport) { result in
                    #expect((try? result.get().status) == .contentTooLarge, "\(result)")
                }
                try await waitUntil { !isKept() }
            }
        }
    }

    @Test func `streams that block do not keep connections after the response`() async throws {
        let isOver = Locked(false)
        let fault = FaultServer.Fault { connection in
            _ = try connection.received()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            try connection.waitForEnd()
        }
        try await FaultServer.serving(fault) { server in
            defer { isOver.withLock { $0 = true } }
            let session = Self.session(silence: 60, connections: 2)
            let body = Transport.Body.stream(length: nil) {
                EndlessStream { _ in
                    while !isOver.withLock({ $0 }) { usleep(10_000) }
                    return 0
                }
            }
            for _ in 0..<3 {
                let response = try? await session.response(for: Self.put(server), config: .sending(body))
                #expect(response?.isSuccess == true)
            }
        }
    }

    @Test func `sessions with ever new settings do not make clients without an end`() async throws {
        // In a process of its own, because other tests would lose their connections.
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let open = Locked(0)
            let fault = FaultServer.Fault { connection in
                open.withLock { $0 += 1 }
                defer { open.withLock { $0 -= 1 } }
                while true {
                    try connection.read()
                    try connection.send(FaultServer.Fault.answer("{}"))
                }
            }
            try await FaultServer.serving(fault) { server in
                var isAlive: [() -> Bool] = []
                for index in 0..<200 {
                    let configuration = URLSessionConfiguration.ofTests
                    configuration.httpMaximumConnectionsPerHost = 1 + index
                    let session = URLSession(configuration: configuration)
                    try await session.response(for: server.request(), config: .server)
                    let url = server.request().url
                    let client = SharedClient.with(try SharedClient.Settings(session.configuration, url))
                    isAlive.append { [weak client] in client != nil }
                }
                #expect(isAlive.count { $0() } == 64)
                try await waitUntil { open.withLock { $0 } <= 64 }
            }
        }
    }

    @Test func `a stream that claims to have read more than there is room for does not crash`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            try await FaultServer.serving(.ok("{}")) { server in
                let body = Transport.Body.stream(length: nil) { EndlessStream { $0 + 1 } }
                _ = try? await server.response(for: Self.put(server), config: .sending(body))
            }
        }
    }
}

#endif
