#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOPosix
import Testing

@testable import URLConfig

/// Servers that speak HTTP/2 and do wrong.
@Suite(.inTime) struct AsyncHTTPClientHTTP2Tests {
    @Test(arguments: [TLSServer.Answer.resetBeforeHead, .resetInBody, .close])
    func `a stream or a connection that ends too early is a lost connection`(answer: TLSServer.Answer) async throws {
        try await TLSServer.trusted { _, _ in
            answer
        } _: { server, config in
            let request = server.request { $0.method = .post }
            let error = await expectError(.networkConnectionLost) {
                try await server.response(for: request, config: config)
            }
            #expect(error?.cause != nil)
            #expect(server.requests.first?.version == 2)
        }
    }

    @Test(arguments: ["000", "001", "42", "099", "abc", "2OO", "", "-200", "1000", "99999999999999999999"])
    func `an invalid status is an error and does not crash`(status: String) async throws {
        try await TLSServer.trusted { _, _ in
            .ok("{}", status: status)
        } _: { server, config in
            await #expect(throws: (any Error).self) { try await server.get(config: config) }
            #expect(server.requests.first?.version == 2)
        }
    }

    @Test(arguments: ["200", "299", "404", "600", "999"])
    func `a valid status is received`(status: String) async throws {
        try await TLSServer.trusted { _, _ in
            .ok("{}", status: status)
        } _: { server, config in
            let events = Recorder<CallEvent>()
            let response = try await server.get(config: config) { $0.events = { events.note($0) } }
            #expect(response.status.code == Int(status))
            #expect(try response.text() == "{}")
            try await waitUntil { events.entries.contains { $0.attempt == 1 && $0.connection != nil } }
            // The connection may have had other requests, which its streams do not know.
            let connections = Set(events.entries.compactMap(\.connection))
            #expect(connections == [.init(protocolName: "h2", isReused: nil)])
        }
    }

    @Test func `a reset stream does not disturb the others of its connection`() async throws {
        try await TLSServer.trusted { request, _ in
            request.path == "/bad" ? .resetInBody : .ok("{}")
        } _: { server, config in
            try await concurrently(40) { index in
                let path = index.isMultiple(of: 2) ? "/good" : "/bad"
                let response = try? await server.get(.init(path), config: config)
                #expect((response != nil) == (path == "/good"))
            }
        }
    }

    @Test func `a connection that the server ends in an orderly manner before a response ends the call`() async throws {
        try await TLSServer.trusted { _, number in
            number == 0 ? .goAway : .ok("{}")
        } _: { server, config in
            let request = server.request { $0.timeout = .seconds(300) }
            let result = await Result {
                try await server.response(for: request, config: config) { $0.retry = .standard }
            }
            #expect((try? result.get().status) == .ok, "\(result)")
        }
    }

    @Test func `a connection that is closed in the middle of many streams ends each call`() async throws {
        try await TLSServer.trusted { _, number in
            number == 19 ? .close : .silence
        } _: { server, config in
            let request = server.request { $0.method = .post }
            try await concurrently(20) { _ in
                await expectError(.networkConnectionLost) { try await server.response(for: request, config: config) }
            }
            #expect(Set(server.requests.map(\.connection)).count == 1)
        }
    }

    /// Serves other calls while one waits, which is cancelled then: its connection stays.
    private func beside(
        _ method: HTTPRequest.Method = .post, _ body: (TLSServer, URLSession.Config) async throws -> Void
    ) async throws {
        try await TLSServer.trusted { request, _ in
            request.path == "/silence" ? .silence : .ok("{}")
        } _: { server, config in
            let silent = server.request("/silence") { $0.method = method }
            let call = Task { try await server.response(for: silent, config: config) }
            try await waitUntil { server.requests.count == 1 }
            try await body(server, config)
            await call.expectCancelled()
            let response = try await server.get("/", config: config)
            #expect(response.isSuccess)
            #expect(server.connections == 1)
        }
    }

    @Test func `a call that is cancelled ends its stream, and the connection stays`() async throws {
        try await beside(.get) { _, _ in }
    }

    @Test(arguments: [17, 1000, 30 << 14])
    func `a body may contain the bytes of a GOAWAY, and other calls stay`(count: Int) async throws {
        let goAway = Data(RawHTTP2.frame(7, 0, 0, [1, 2, 3, 4, 0, 0, 0, 1]))
        // A frame of a body has 16 kB, so that it ends with these bytes.
        let block = Data(repeating: 65, count: min(count, 1 << 14) - goAway.count) + goAway
        let body = (0..<max(1, count >> 14)).reduce(into: Data()) { body, _ in body += block }
        try await beside { server, config in
            let request = server.request { $0.method = .post }
            for _ in 0..<3 {
                let response = try await server.session.upload(.data(body), for: request, config: config)
                #expect(response.isSuccess)
            }
        }
    }

    @Test(arguments: ["~", "é"], [false, true])
    func `a head that does not fit into a frame is an error of its call only`(
        text: String, hasBody: Bool
    ) async throws {
        try await beside { server, config in
            var request = server.request("/long") {
                $0.method = hasBody ? .put : .get
                $0.timeout = .seconds(10)
            }
            if hasBody { request.httpBody = Data.sample(1_000_000) }
            request.setValue(String(repeating: text, count: 20_000), forHTTPHeaderField: "X-Long")
            for _ in 0..<3 {
                let error = await expectError(.invalidRequest) {
                    try await server.response(for: request, config: config)
                }
                #expect(error.says(.invalidRequest, "HTTP/2", "16384"))
                #expect(error?.attempts.count == 1)
            }
            let response = try await server.get(config: config)
            #expect(response.isSuccess)
            #expect(server.requests.map(\.path) == ["/silence", "/"])
        }
    }

    @Test func `a head that is refused gives its stream back`() async throws {
        // Two streams at once.
        try await RawHTTP2.trusted(RawHTTP2.frame(4, 0, 0, [0, 3, 0, 0, 0, 2])) { stream in
            RawHTTP2.headers(stream, [":status": "200"], end: true)
        } _: { server, config in
            let request = server.request { $0.timeout = .seconds(10) }
            var long = request
            long.setValue(String(repeating: "~", count: 20_000), forHTTPHeaderField: "X-Long")
            try await server.response(for: request, config: config)
            for _ in 0..<3 {
                await expectError(.invalidRequest) { try await server.response(for: long, config: config) }
            }
            try await server.response(for: request, config: config)
        }
    }

    @Test func `calls that are cancelled before they are sent give their streams back`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        // Two streams at once.
        try await RawHTTP2.serving(RawHTTP2.frame(4, 0, 0, [0, 3, 0, 0, 0, 2])) { stream in
            RawHTTP2.headers(stream, [":status": "200"], end: true)
        } _: { server in
            try await HTTPClient.lending(on: group) {
                $0.tlsConfiguration = try TestCertificate.localhost.forClient()
            } _: { client in
                let config = URLSession.Config.onServer(client)
                let request = server.request { $0.timeout = .seconds(10) }
                try await server.response(for: request, config: config)
                for _ in 0..<20 {
                    // The connection's thread waits, so nothing is sent.
                    let gate = DispatchSemaphore(value: 0)
                    group.next().execute { gate.wait() }
                    let call = Task { try await server.response(for: request, config: config) }
                    try await waitUntil { Delivery.waiting(for: request.url) == 1 }
                    await call.expectCancelled()
                    gate.signal()
                }
                let response = try await server.response(for: request, config: config)
                #expect(response.isSuccess)
            }
        }
        try await group.shutdownGracefully()
    }

    @Test func `a connection that its server ends after each response stays no longer, and no request is lost`()
        async throws
    {
        let heads = Locked(0)
        try await RawHTTP2.trusted { stream in
            heads.withLock { $0 += 1 }
            let last = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> UInt32($0)) }
            return RawHTTP2.headers(stream, [":status": "200"], end: true)
                + RawHTTP2.frame(7, 0, 0, last + [0, 0, 0, 0])
        } _: { server, config in
            let request = server.request {
                $0.method = .post
                $0.timeout = .seconds(300)
            }
            for _ in 0..<40 {
                let response = try await server.response(for: request, config: config)
                #expect(response.isSuccess)
            }
            #expect(heads.withLock(\.self) == 40)
            try await waitUntil { server.connections == 0 }
        }
    }

    #if compiler(>=6.3) && os(Linux)
    @Test(arguments: [true, false])
    func `a response that ends before the body of its request was sent is the response`(isRefused: Bool) async {
        await #expect(processExitsWith: .success) { [isRefused] in
            ChildProcess.endIfStuck()
            try await RawHTTP2.trusted { stream in
                RawHTTP2.headers(stream, isRefused ? [":status": "413"] : [":status": "200"], end: true)
            } _: { server, config in
                let request = server.request { $0.method = .put }
                for _ in 0..<5 {
                    let response = try await server.session.upload(
                        .data(Data(count: 1_000_000)), for: request, config: config)
                    #expect(response.status == (isRefused ? .contentTooLarge : .ok))
                }
            }
        }
    }
    #endif

    /// A letter needs 5 bits, and a tilde 13 (RFC 7541 appendix B).
    @Test(arguments: [
        ("a", 26_000, RawHTTP2.settings), ("~", 9_900, RawHTTP2.settings),
        // 1 MB
        ("~", 20_000, RawHTTP2.frame(4, 0, 0, [0, 5, 0, 16, 0, 0])),
    ])
    func `a head as long as a frame of the server is sent`(text: String, count: Int, settings: [UInt8]) async throws {
        try await RawHTTP2.trusted(settings) { stream in
            RawHTTP2.headers(stream, [":status": "200"], end: true)
        } _: { server, config in
            var request = server.request { $0.timeout = .seconds(10) }
            request.setValue(String(repeating: text, count: count), forHTTPHeaderField: "X-Long")
            for _ in 0..<3 {
                let response = try await server.response(for: request, config: config)
                #expect(response.isSuccess)
            }
        }
    }
}

#endif
