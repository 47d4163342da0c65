#if AsyncHTTPClient

import AsyncHTTPClient
import Logging
import Testing

@testable import URLConfig

/// Proxies that refuse, hang, or do not speak the protocol.
@Suite(.inTime) struct AsyncHTTPClientProxyFaultTests {
    private static let fast = RetryPolicy.standard.quick

    @Test(arguments: ["HTTP", "SOCKS"])
    func `a proxy that cannot be reached is an error`(kind: String) async throws {
        let socket = try TCPSocket()
        let port = try socket.takePort()
        defer { socket.end() }
        try await URLSession.with {
            $0.connectionProxyDictionary = Proxied.settings([kind], port)
        } _: { session in
            let request = URLRequest.with(.init(host: "http://api.invalid")) { _ in }
            let error = await expectError(.cannotConnectToHost) {
                try await session.response(for: request, config: .server) { $0.retry = Self.fast }
            }
            #expect(error?.attempts.count == 3)
        }
    }

    /// A proxy's response and its codes.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: FaultServer.Fault
        var codes: Set<URLError.Code> = [.cannotConnectToHost]
        var attempts = 3

        /// Of a connection that ends, which may be noticed in several places.
        static let lost: Set<URLError.Code> = [.networkConnectionLost, .cannotConnectToHost]

        var testDescription: String { name }
    }

    @Test(arguments: [
        Row(
            name: "407",
            fault: .raw(
                "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"r\"\r\n"
                    + "Content-Length: 0\r\n\r\n", then: .hang),
            codes: [.userAuthenticationRequired], attempts: 1),
        Row(name: "403", fault: .raw("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", then: .hang)),
        Row(name: "302", fault: .raw("HTTP/1.1 302 Found\r\nLocation: http://evil.invalid/\r\n\r\n", then: .hang)),
        Row(name: "502", fault: .raw("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")),
        Row(name: "empty", fault: .empty, codes: Row.lost),
        Row(name: "reset", fault: .reset, codes: Row.lost),
        Row(name: "garbage", fault: .garbage, codes: Row.lost),
        Row(name: "closed at once", fault: .init { $0.close() }, codes: Row.lost),
    ])
    func `a proxy that refuses is an error, and receives no request`(row: Row) async throws {
        try await Proxied.serving(row.fault) { call in
            let error = await #expect(throws: URLError.self) {
                try await call.get("http://api.invalid", .server.with { $0.retry = Self.fast })
            }
            #expect(error.map { row.codes.contains($0.code) } == true, "\(String(describing: error))")
            #expect(error?.cause != nil)
            #expect(error?.failingURL?.host() == "api.invalid")
            #expect(error?.attempts.count == row.attempts)
            #expect(call.proxy.connections >= row.attempts)
            #expect(call.lines.allSatisfy { $0 == "CONNECT api.invalid:80 HTTP/1.1" })
        }
    }

    @Test(arguments: ["HTTP", "HTTPS", "SOCKS"])
    func `a proxy that hangs ends with each time limit, and when the task is cancelled`(kind: String) async throws {
        try await Proxied.serving(.init { try $0.waitForEnd() }, kinds: [kind]) { call in
            let host = kind == "HTTPS" ? "https://api.invalid" : "http://api.invalid"
            await expectError(.timedOut) {
                let request = URLRequest.with(.init(host: host)) { $0.timeout = .milliseconds(500) }
                try await call.session.response(for: request, config: .server)
            }
            await expectError(.deadlineExceeded) {
                try await call.get(host, .server.with { $0.deadline = .milliseconds(500) })
            }
            let running = Task { try await call.get(host) }
            await Task.yield()
            await running.expectCancelled()
        }
    }

    @Test func `a proxy to which no connection is established ends with the time limit`() async throws {
        try await BlackHole.open { host in
            let port = try #require(URL(string: host)?.port)
            for kind in ["HTTP", "SOCKS"] {
                try await URLSession.with {
                    $0.connectionProxyDictionary = Proxied.settings([kind], UInt16(port))
                    $0.timeoutIntervalForRequest = 1
                } _: { session in
                    let request = URLRequest.with(.init(host: "http://api.invalid")) { _ in }
                    await expectError(.timedOut) { try await session.response(for: request, config: .server) }
                }
            }
        }
    }

    @Test func `whatever a proxy responds, nothing crashes or hangs`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let responses = [
                "HTTP/1.1 200 OK\r\n\r\nearly bytes", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
                "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nx",
                "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
                "HTTP/1.1 407 No\r\nContent-Length: 9\r\n\r\nab", "HTTP/1.1 204 No Content\r\n\r\n",
                "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 0 x\r\n\r\n", "HTTP/1.1 999 x\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 200_000))\r\n\r\n", "HTTP/1.1 200", "\r\n\r\n",
                "\u{5}\u{0}", "\u{5}\u{0}\u{5}\u{0}\u{0}\u{1}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}early bytes",
                "\u{5}\u{0}\u{5}\u{0}\u{0}\u{9}", "\u{5}\u{0}\u{5}\u{7}\u{0}\u{3}\u{0}\u{0}\u{0}", "\u{5}\u{2}",
                "\u{4}",
            ]
            for (kind, end) in [
                ("HTTP", FaultServer.Fault.End.close), ("SOCKS", .close), ("HTTP", .hang), ("SOCKS", .hang),
            ] {
                try await concurrently(responses.count) { index in
                    let fault = FaultServer.Fault { connection in
                        _ = try connection.received()
                        try connection.send(responses[index])
                        if end == .hang { try connection.waitForEnd() }
                    }
                    try await Proxied.serving(fault, kinds: [kind], silence: 2) { call in
                        let result = await Result { try await call.get("http://api.invalid") }
                        if case .failure(let error) = result { #expect(error is URLError, "\(error)") }
                    }
                }
            }
        }
    }

    @Test(arguments: [
        Row(name: "refusal of the host", fault: .socksProxy(to: 0, reply: 5)),
        Row(name: "an unknown reply", fault: .socksProxy(to: 0, reply: 99)),
        Row(name: "a demand for a password", fault: .socks([5, 2])),
        Row(name: "no method", fault: .socks([5, 255])), Row(name: "another version", fault: .socks([4, 0])),
        Row(name: "closed at once", fault: .init { $0.close() }, codes: Row.lost),
        Row(name: "empty", fault: .socks([]), codes: Row.lost),
        Row(name: "garbage", fault: .init { try $0.send("HTTP/1.1 400 Bad Request\r\n\r\n") }),
    ])
    func `a SOCKS proxy that refuses is an error, and is asked again`(row: Row) async throws {
        try await Proxied.serving(row.fault, kinds: ["SOCKS"]) { call in
            let error = await #expect(throws: URLError.self) {
                try await call.get("http://api.invalid", .server.with { $0.retry = Self.fast })
            }
            #expect(error.map { row.codes.contains($0.code) } == true, "\(String(describing: error))")
            #expect(error?.cause != nil)
            #expect(error?.attempts.count == 3)
        }
    }

    @Test func `a host that is longer than any name is an error, even for SOCKS or after a redirect`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let long = "http://" + String(repeating: "long.", count: 60) + "invalid"
            for kind in ["HTTP", "SOCKS"] {
                try await Proxied.serving(kinds: [kind], origin: .redirect(to: long)) { call in
                    for host in [long, "http://api.invalid"] {
                        let error = await expectError(.cannotFindHost) { try await call.get(host) }
                        #expect(error?.failingURL?.absoluteString.hasPrefix(long) == true)
                    }
                }
            }
        }
    }

    @Test func `malformed settings are an error, and nothing is sent`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            try await URLSession.with {
                $0.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1"]
            } _: { session in
                let error = await expectError(.invalidRequest) {
                    try await session.response(for: server.request(), config: .server) { $0.retry = Self.fast }
                }
                #expect(error?.reason.contains("HTTPPort") == true)
                #expect(error?.attempts.count == 1)
            }
            #expect(server.connections == 0)
        }
    }
}

extension FaultServer.Fault {
    /// Responds to the greeting of a client with these bytes.
    fileprivate static func socks(_ answer: [UInt8]) -> Self {
        Self { connection in
            _ = try connection.received()
            try connection.send(answer)
        }
    }
}

#endif
