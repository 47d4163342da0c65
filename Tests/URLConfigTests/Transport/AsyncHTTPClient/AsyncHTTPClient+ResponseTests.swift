#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// The fields of requests and responses, decompression, and responses without a body.
@Suite(.inTime) struct AsyncHTTPClientResponseTests {
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

    @Test(arguments: [FaultServer.Fault.End.close, .reset, .hang])
    func `a switch of protocols does not crash or hang`(end: FaultServer.Fault.End) async throws {
        let switching = FaultServer.Fault.raw(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\nother", then: end)
        try await FaultServer.serving(switching) { server in
            try await URLSession.impatient { session in
                let result = await Result { try await session.response(for: server.request(), config: .server) }
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
            try await URLSession.with {
                $0.httpAdditionalHeaders = ["User-Agent": "session's", "X-Tag": "1"]
            } _: { session in
                try await session.response(for: server.request(), config: .server)
                try await session.response(for: own, config: .server)
            }
            let agents = server.requests.map { $0.field("User-Agent") }
            #expect(agents.first??.contains("URLConfig") == true)
            #expect(agents.dropFirst() == ["mine", "session's", "mine"])
            #expect(server.requests.map { $0.field("X-Tag") } == [nil, nil, "1", "1"])
        }
    }
}

#endif
