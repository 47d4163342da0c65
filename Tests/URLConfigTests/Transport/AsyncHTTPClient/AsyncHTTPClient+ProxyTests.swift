#if AsyncHTTPClient

import AsyncHTTPClient
import Logging
import Testing

@testable import URLConfig

/// Requests through proxies, whose names only the proxies can resolve.
@Suite(.inTime) struct AsyncHTTPClientProxyTests {
    @Test func `http goes through a tunnel, and the proxy resolves the name`() async throws {
        try await Proxied.serving { call in
            let response = try await call.get("http://api.invalid:8080")
            #expect(try response.text() == "{}")
            #expect(call.lines == ["CONNECT api.invalid:8080 HTTP/1.1"])
            #expect(call.origin.requests.map { $0.field("Host") } == ["api.invalid:8080"])
        }
    }

    @Test func `calls to one host share a tunnel, and another host has its own`() async throws {
        try await Proxied.serving { call in
            for _ in 0..<3 { try await call.get("http://api.invalid") }
            try await call.get("http://[::1]:8080")
            #expect(call.lines == ["CONNECT api.invalid:80 HTTP/1.1", "CONNECT [::1]:8080 HTTP/1.1"])
            #expect(call.origin.requests.count == 4)
        }
    }

    @Test func `a body is sent through a tunnel`() async throws {
        try await Proxied.serving { call in
            let request = URLRequest.with(.init(host: "http://api.invalid")) {
                $0.method = .post
                $0.modify = { $0.httpBody = Data(repeating: 7, count: 1 << 20) }
            }
            try await call.session.response(for: request, config: .server)
            #expect(call.origin.requests.map(\.body.count) == [1 << 20])
        }
    }

    @Test func `https goes through a tunnel, and the certificate is the server's`() async throws {
        try await TLSServer.serving { server in
            let port = try #require(URL(string: server.host)?.port)
            try await FaultServer.serving(.httpProxy(to: UInt16(port))) { proxy in
                let url = try #require(URL(string: "https://localhost/"))
                let request = URLRequest.with(.init(host: "https://localhost")) { _ in }
                let settings = Proxied.settings(["HTTPS"], proxy.port)
                let error = try await URLSession.with {
                    $0.connectionProxyDictionary = settings
                } _: { session in
                    await #expect(throws: URLError.self) { try await session.response(for: request, config: .server) }
                }
                #expect(error?.code == .serverCertificateUntrusted)
                #expect(server.requests.isEmpty)
                try await HTTPClient.lending {
                    $0.tlsConfiguration = try TestCertificate.localhost.forClient()
                    $0.proxy = try .init(for: url, settings, environment: [:])
                } _: { client in
                    let response = try await server.response(for: request, config: .onServer(client))
                    #expect(try response.text() == "{}")
                }
                #expect(server.requests.map(\.version) == [2])
                #expect(Set(proxy.requests.map { $0.head.prefix(21) }) == ["CONNECT localhost:443"])
            }
        }
    }

    @Test(arguments: [true, false])
    func `the user and the password are sent to the proxy only, and shown nowhere`(isReached: Bool) async throws {
        let fault = isReached ? nil : FaultServer.Fault.raw("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        try await Proxied.serving(fault) { call in
            try await HTTPClient.lending {
                let user = HTTPClient.Authorization.basic(username: "ada", password: "s3cret")
                $0.proxy = .server(host: "127.0.0.1", port: Int(call.proxy.port), authorization: user)
            } _: { client in
                let (logger, log) = Logger.recording(level: .trace)
                let result = await Result {
                    try await call.get("http://api.invalid", .onServer(client).with { $0.logger = logger })
                }
                #expect(call.proxy.requests.map { $0.field("Proxy-Authorization") } == ["Basic YWRhOnMzY3JldA=="])
                #expect(call.origin.requests.count { $0.head.lowercased().contains("authorization") } == 0)
                #expect(call.origin.requests.count == (isReached ? 1 : 0))
                for text in ["\(result)", String(reflecting: result), log.text] {
                    #expect(!text.contains(/s3cret|YWRhOnMzY3JldA/))
                }
            }
        }
    }

    @Test(arguments: [true, false], ["Basic c2VjcmV0", "Bearer secret"])
    func `the field Proxy-Authorization is not sent to an origin, and its call says so`(
        isOfSession: Bool, value: String
    ) async throws {
        try await Proxied.serving(exceptions: ["127.0.0.1"]) { call in
            try await URLSession.with {
                $0.connectionProxyDictionary = call.session.configuration.connectionProxyDictionary
                if isOfSession { $0.httpAdditionalHeaders = ["proxy-authorization": value] }
            } _: { session in
                for host in ["http://api.invalid", call.origin.host] {
                    var request = URLRequest.with(.init(host: host)) { _ in }
                    if !isOfSession { request.setValue(value, forHTTPHeaderField: "Proxy-Authorization") }
                    let (logger, log) = Logger.recording(level: .trace)
                    try await session.response(for: request, config: .server) { $0.logger = logger }
                    #expect(log.text.contains("asyncHTTPClient does not send Proxy-Authorization"))
                }
            }
            #expect(call.lines == ["CONNECT api.invalid:80 HTTP/1.1"])
            #expect(call.origin.requests.count == 2)
            for request in call.proxy.requests + call.origin.requests {
                #expect(request.field("Proxy-Authorization") == nil)
            }
        }
    }

    @Test func `a SOCKS proxy also resolves the name`() async throws {
        try await Proxied.serving(kinds: ["SOCKS"]) { call in
            let response = try await call.get("http://api.invalid")
            #expect(try response.text() == "{}")
            try await call.get("http://127.0.0.1:8080")
            #expect(call.lines == ["api.invalid:80", "127.0.0.1:8080"])
            #expect(call.origin.requests.map { $0.field("Host") } == ["api.invalid", "127.0.0.1:8080"])
        }
    }

    @Test func `https goes through a SOCKS proxy`() async throws {
        try await TLSServer.serving { server in
            let port = try #require(URL(string: server.host)?.port)
            try await FaultServer.serving(.socksProxy(to: UInt16(port))) { proxy in
                try await HTTPClient.lending {
                    $0.tlsConfiguration = try TestCertificate.localhost.forClient()
                    $0.proxy = .socksServer(host: "127.0.0.1", port: Int(proxy.port))
                } _: { client in
                    let request = URLRequest.with(.init(host: "https://localhost")) { _ in }
                    let response = try await server.response(for: request, config: .onServer(client))
                    #expect(try response.text() == "{}")
                }
                #expect(proxy.requests.map(\.head) == ["localhost:443"])
            }
        }
    }

    @Test func `a redirect uses the proxy of the new URL`() async throws {
        try await FaultServer.serving(.ok("direct")) { server in
            try await Proxied.serving(origin: .redirect(to: server.host), exceptions: ["127.0.0.1"]) { call in
                let response = try await call.get("http://api.invalid")
                #expect(try response.text() == "direct")
                #expect(call.lines == ["CONNECT api.invalid:80 HTTP/1.1"])
                #expect(server.requests.count == 1)
            }
        }
        try await FaultServer.serving(.redirect(to: "http://api.invalid/next")) { server in
            try await Proxied.serving(exceptions: ["127.0.0.1"]) { call in
                let response = try await call.get(server.host)
                #expect(try response.text() == "{}")
                #expect(call.lines == ["CONNECT api.invalid:80 HTTP/1.1"])
                #expect(call.origin.requests.map { $0.head.prefix(9) } == ["GET /next"])
            }
        }
    }

    @Test func `the environment of the process applies unless the session has settings`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            try await Proxied.serving { call in
                setenv("http_proxy", "http://ada:s3%63ret@127.0.0.1:\(call.proxy.port)", 1)
                setenv("no_proxy", "localhost,127.0.0.1", 1)
                let request = URLRequest.with(.init(host: "http://api.invalid")) { _ in }
                try await URLSession.with { _ in
                } _: { session in
                    let response = try await session.response(for: request, config: .server)
                    #expect(try response.text() == "{}")
                    #expect(call.lines == ["CONNECT api.invalid:80 HTTP/1.1"])
                    #expect(call.proxy.requests.first?.field("Proxy-Authorization") == "Basic YWRhOnMzY3JldA==")
                    try await session.response(for: call.origin.request(), config: .server)
                }
                try await URLSession.with {
                    $0.connectionProxyDictionary = [:]
                } _: { session in
                    await expectError(.cannotFindHost) { try await session.response(for: request, config: .server) }
                }
                #expect(call.proxy.connections == 1)
                #expect(call.origin.requests.count == 2)
            }
        }
    }
}

#endif
