#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import Testing

@testable import URLConfig

/// Connections that cannot be established.
@Suite(.inTime) struct AsyncHTTPClientConnectingTests {
    @Test(arguments: [false, true])
    func `a connection that ends before its handshake fails no call, and nothing is sent twice`(
        isKept: Bool
    ) async throws {
        let answer = isKept ? TLSServer.Answer.ok("{}") : .last("{}")
        try await TLSServer.trusted(protocols: ["http/1.1"], dropped: 6) { _, _ in
            answer
        } _: { server, config in
            // A caller's client shows by its first response that it has its guards.
            try await server.get(config: config)
            try await concurrently(200) { index in
                let request = server.request { $0.use(index % 2 == 0 ? .get : .post) }
                try await server.response(for: request, config: config) { $0.retry = .none }
            }
            #expect(server.requests.count == 201)
        }
    }

    @Test func `a server that ends each connection before its handshake is given up`() async throws {
        try await TLSServer.serving(dropped: 1) { server in
            let error = await #expect(throws: URLError.self) {
                try await server.get(config: .server) { $0.retry = .none }
            }
            // The connection may be reset.
            #expect(error?.code == .secureConnectionFailed || error?.code == .networkConnectionLost)
            #expect(server.connections == 4)
        }
    }

    /// Then nothing tells whether a request was sent.
    @Test func `a client without its guards sends nothing twice, and is refused`() async throws {
        let heads = Locked(0)
        let fault = FaultServer.Fault { connection in
            let head = try connection.head()
            heads.withLock { $0 += 1 }
            if head.head.hasPrefix("GET") { try connection.send(FaultServer.Fault.answer("ok")) }
        }
        try await FaultServer.serving(fault) { server in
            try await HTTPClient.lending {
                $0.http1_1ConnectionDebugInitializer = { $0.eventLoop.makeSucceededVoidFuture() }
            } _: { client in
                let post = server.request { $0.use(.post) }
                await #expect(throws: URLError.self) {
                    try await server.response(for: post, config: .onServer(client)) { $0.retry = .none }
                }
                #expect(heads.withLock { $0 } == 1)
                let error = await #expect(throws: RequestError.self) {
                    try await server.get(config: .onServer(client)) { $0.retry = .none }
                }
                #expect(error?.reason.contains("debug initializers") == true)
            }
        }
    }

    /// It does not tell how much of a body was written.
    @Test func `a client without its guards is refused after a large upload, too`() async throws {
        let fault = FaultServer.Fault { connection in
            _ = try connection.head()
            _ = try connection.bytes(3_000_000)
            try connection.send(FaultServer.Fault.answer("ok"))
        }
        try await FaultServer.serving(fault) { server in
            try await HTTPClient.lending {
                $0.http1_1ConnectionDebugInitializer = { $0.eventLoop.makeSucceededVoidFuture() }
            } _: { client in
                let put = server.request {
                    $0.method = .put
                    $0.body = .data(Data(count: 3_000_000))
                }
                let error = await #expect(throws: RequestError.self) {
                    try await server.response(for: put, config: .onServer(client)) { $0.retry = .none }
                }
                #expect(error?.reason.contains("debug initializers") == true)
            }
        }
    }

    @Test func `a refused connection is an error long before the time limit`() async throws {
        let socket = try TCPSocket()
        let port = try socket.takePort()
        defer { socket.end() }
        let session = URLSession(configuration: .ofTests)
        defer { session.finishTasksAndInvalidate() }
        let start = ContinuousClock.now
        for method in [HTTPRequest.Method.get, .post] {
            let request = URLRequest.with(.init(host: "http://127.0.0.1:\(port)")) { $0.use(method) }
            await expectError(.cannotConnectToHost) {
                try await session.response(for: request, config: .server) { $0.retry = .none }
            }
            #expect(Delivery.waiting(for: request.url) == 0)
        }
        #expect(start.duration(to: .now) < .seconds(300))
    }

    @Test func `a host is given up after some failures without a success`() {
        let url = URL(string: "https://\(UUID().uuidString).invalid")
        let establishing = Establishing(to: url, within: .seconds(600))
        let error = HTTPClientError.remoteConnectionClosed
        for _ in 0..<6 {
            for _ in 0..<3 { #expect(establishing.pause(after: error, .zero) != nil) }
            Establishing.succeeded(to: url)
        }
        for _ in 0..<2 { #expect(establishing.pause(after: error, .zero) != nil) }
        Establishing.succeeded(to: url)
        #expect(establishing.pause(after: error, .zero) == nil, "others may succeed on kept connections for ever")
        let alone = Establishing(to: url, within: nil)
        for isLast in [false, false, false, true] { #expect((alone.pause(after: error, .zero) == nil) == isLast) }
        #expect(Establishing(to: url, within: .seconds(1)).pause(after: error, .seconds(1)) == nil)
        // The client waits for less time than the call.
        let waiting = Establishing(to: url, within: .seconds(600))
        for _ in 0..<30 { #expect(waiting.pause(after: HTTPClientError.connectTimeout, .seconds(599)) == .zero) }
        #expect(waiting.pause(after: HTTPClientError.connectTimeout, .seconds(600)) == nil)
    }

    @Test func `a delivery is given to one connection, and to none after it was withdrawn`() async throws {
        try await HTTPClient.lending { client in
            let client = SharedClient(client)
            let delivery = Delivery(of: nil, to: ReceivedBody(), by: client)
            #expect(Delivery.begin("\(delivery.number)", isReused: false) === delivery)
            #expect(delivery.isSent)
            let withdrawn = Delivery(of: nil, to: ReceivedBody(), by: client)
            withdrawn.withdraw()
            for number in ["\(delivery.number)", "\(withdrawn.number)", "x", nil] {
                #expect(Delivery.begin(number, isReused: false) == nil)
            }
        }
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func `a cancelled call that waits for a connection leaves nothing behind`(
        _ method: HTTPRequest.Method
    ) async throws {
        try await BlackHole.open { host in
            let session = URLSession(configuration: .ofTests)
            defer { session.finishTasksAndInvalidate() }
            let request = URLRequest.with(.init(host: host)) { $0.use(method) }
            let call = Task { try await session.response(for: request, config: .server) }
            try await waitUntil { Delivery.waiting(for: request.url) == 1 }
            await call.expectCancelled()
            #expect(Delivery.waiting(for: request.url) == 0)
        }
    }

    @Test func `the number of a delivery is not sent`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let body = server.request { $0.use(.post) }
            try await server.get(config: .server)
            try await server.response(for: body, config: .server)
            #expect(server.requests.map { $0.field("urlconfig-delivery") } == [nil, nil])
        }
    }
}

#endif
