#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// The fields of requests and responses, decompression, and responses without a body.
@Suite(.timeLimit(.minutes(10))) struct AsyncHTTPClientResponseTests {
    private static let text = String(repeating: "0123456789", count: 100)

    @Test(arguments: [
        ("gzip", "H4sIAKlrAmsC/zMwNDI2MTUzt7A0GGWNskZZw5QFAPGPhXzoAwAA"),
        ("deflate", "eJwzMDQyNjE1M7ewNBhljbJGWcOUBQDsuM0V"),
    ])
    func `a compressed body is decompressed`(encoding: String, base64: String) async throws {
        let body = try #require(Data(base64Encoded: base64))
        let fault = FaultServer.Fault { connection in
            while true {
                try connection.read()
                try connection.send(FaultServer.Fault.head(length: body.count, "Content-Encoding: \(encoding)\r\n"))
                try connection.send(body)
            }
        }
        try await FaultServer.serving(fault) { server in
            for _ in 0..<2 {
                let response = try await server.get(config: .server)
                #expect(try response.text() == Self.text)
            }
            #expect(server.requests.first?.field("Accept-Encoding")?.contains(encoding) == true)
            #expect(server.connections == 1)
        }
    }

    @Test func `a limit is one of the bytes after decompression`() async throws {
        try await FaultServer.serving(.gzipBomb) { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.get(config: .server) { $0.responseLimit = 1_000_000 }
            }
            #expect(error?.code == .responseTooLarge)
            #expect(error?.response?.data.count == 1_000_000)
        }
    }

    @Test func `a compressed body is received as a whole where there is no limit`() async throws {
        try await FaultServer.serving(.gzipBomb) { server in
            var count = 0
            for try await piece in try await server.open().body { count += piece.count }
            #expect(count == 200_000_000)
        }
    }

    @Test func `a HEAD has no body, whatever its length says`() async throws {
        try await FaultServer.serving(.repeated(FaultServer.Fault.head(length: 1_000))) { server in
            for _ in 0..<2 {
                let response = try await server.response(
                    for: server.request { $0.method = .head }, config: .server)
                #expect(response.status == .ok)
                #expect(response.data.isEmpty)
                #expect(response.headerFields[.contentLength] == "1000")
            }
            #expect(server.connections == 1)
        }
    }

    @Test(arguments: ["204 No Content", "304 Not Modified"])
    func `a status without a body has none, whatever its length says`(status: String) async throws {
        try await FaultServer.serving(.repeated("HTTP/1.1 \(status)\r\nContent-Length: 5\r\n\r\n")) { server in
            for _ in 0..<2 {
                let response = try await server.get(config: .server)
                #expect(response.status.code == Int(status.prefix(3)))
                #expect(response.data.isEmpty)
            }
        }
    }

    @Test(arguments: ["100 Continue", "102 Processing", "103 Early Hints", "199 Other"], [1, 100])
    func `interim responses are ignored`(status: String, times: Int) async throws {
        try await FaultServer.serving(.interim(status, times: times)) { server in
            let response = try await server.get(config: .server)
            #expect(response.status == .ok)
            #expect(response.headerFields.count == 2)
            #expect(try response.text() == "{}")
        }
    }

    @Test(arguments: [FaultServer.Fault.End.close, .reset, .hang])
    func `a switch of protocols does not crash or hang`(end: FaultServer.Fault.End) async throws {
        let switching = FaultServer.Fault.raw(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\nother", then: end)
        try await FaultServer.serving(switching) { server in
            try await URLSession.impatient { session in
                let result = await Result {
                    try await session.response(for: server.request(), config: .server)
                }
                switch result {
                case .success(let response): #expect(response.status.code == 101)
                case .failure(let error): #expect(error is URLError)
                }
            }
        }
    }

    @Test(arguments: ["CONNECT", "TRACE", "PRI", "OPTIONS", "BREW"])
    func `unusual methods do not crash or hang`(method: String) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let request = server.request { $0.modify = { $0.httpMethod = method } }
            let result = await Result { try await server.response(for: request, config: .server) }
            switch result {
            case .success(let response): #expect(response.status == .ok)
            case .failure(let error): #expect(error is URLError || error is RequestError, "\(error)")
            }
            let next = try await server.get(config: .server)
            #expect(try next.text() == "{}")
        }
    }

    @Test func `there is a User-Agent, which the request and the session may replace`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            try await server.get(config: .server)
            let own = server.request { $0.headers[.userAgent] = "mine" }
            try await server.response(for: own, config: .server)
            let configuration = URLSessionConfiguration.ofTests
            configuration.httpAdditionalHeaders = ["User-Agent": "session's", "X-Tag": "1"]
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            try await session.response(for: server.request(), config: .server)
            try await session.response(for: own, config: .server)
            let agents = server.requests.map { $0.field("User-Agent") }
            #expect(agents.first??.contains("URLConfig") == true)
            #expect(agents.dropFirst() == ["mine", "session's", "mine"])
            #expect(server.requests.map { $0.field("X-Tag") } == [nil, nil, "1", "1"])
        }
    }

    @Test func `cookies of a response are sent with the next request`() async throws {
        try await FaultServer.serving(.cookie("name=value; Path=/")) { server in
            for _ in 0..<2 { try await server.get(config: .server) }
            #expect(server.requests.map { $0.field("Cookie") } == [nil, "name=value"])
        }
    }

    @Test func `cookies are neither stored nor sent where the session says so`() async throws {
        try await FaultServer.serving(.cookie("name=value; Path=/")) { server in
            let configuration = URLSessionConfiguration.ofTests
            configuration.httpCookieAcceptPolicy = .never
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            for _ in 0..<2 { try await session.response(for: server.request(), config: .server) }
            #expect(server.requests.map { $0.field("Cookie") } == [nil, nil])
            #expect(configuration.httpCookieStorage?.cookies?.isEmpty != false)
        }
    }

    @Test func `each field of a response is received, also those with one name`() async throws {
        let head = "HTTP/1.1 200 OK\r\nX-Tag: 1\r\nX-Tag: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
        try await FaultServer.serving(.raw(head + "Content-Length: 2\r\n\r\n{}")) { server in
            let response = try await server.get(config: .server)
            let name = try #require(HTTPField.Name("X-Tag"))
            #expect(response.headerFields[values: name] == ["1", "2"])
            #expect(response.cookies.map(\.name).sorted() == ["a", "b"])
        }
    }
}

extension FaultServer.Fault {
    /// Responds to every request with this text.
    fileprivate static func repeated(_ text: String) -> Self {
        Self { connection in
            while true {
                try connection.read()
                try connection.send(text)
            }
        }
    }
}

#endif
