#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import Testing

@testable import URLConfig

/// A body whose connection breaks, and responses that nobody asked for.
@Suite(.inTime) struct AsyncHTTPClientCutBodyTests {
    /// Reads a body that is cut, after the server has closed its connection.
    private static func count(_ body: ResponseBody, after isClosed: Gate? = nil) async throws -> Int {
        await isClosed?.pass()
        var count = 0
        await expectError(.networkConnectionLost) { for try await piece in body { count += piece.count } }
        return count
    }

    @Test(arguments: ["Content-Length: 400001\r\n", "Transfer-Encoding: chunked\r\n"], [false, true])
    func `all bytes that arrived are read before the error`(framing: String, hasBody: Bool) async throws {
        let isClosed = Gate()
        let fault = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 200 OK\r\n\(framing)\r\n")
            if framing.hasPrefix("T") { try connection.send("\(String(400_001, radix: 16))\r\n") }
            try connection.send(Data.sample(400_000))
            connection.close()
            isClosed.open()
        }
        try await FaultServer.serving(fault) { server in
            let response = try await server.open(server.request { $0.use(hasBody ? .post : .get) })
            let count = try await Self.count(response.body, after: isClosed)
            #expect(count == 400_000)
        }
    }

    @Test(arguments: [false, true])
    func `a body without a length is not complete if its connection is reset`(hasBody: Bool) async throws {
        let isRead = Locked(false)
        let fault = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npart")
            while !isRead.withLock({ $0 }) { try connection.pause(.milliseconds(1)) }
            try connection.reset()
        }
        try await FaultServer.serving(fault) { server in
            let response = try await server.open(server.request { $0.use(hasBody ? .post : .get) })
            var count = 0
            await #expect(throws: URLError.self) {
                for try await piece in response.body {
                    count += piece.count
                    isRead.withLock { $0 = true }
                }
            }
            #expect(count == 4)
        }
    }

    @Test func `all bytes of a stream of HTTP 2 that arrived are read before the error`() async throws {
        try await RawHTTP2.trusted { stream in
            RawHTTP2.headers(stream, [":status": "200"]) + RawHTTP2.data(stream, "0123")
                + RawHTTP2.frame(3, 0, stream, [0, 0, 0, 2])
        } _: { server, config in
            for method in [HTTPRequest.Method.get, .put] {
                let body = try await config.transport.send(
                    Transport.Request(for: server.request { $0.use(method) }, in: server.session, config: .server)
                ).body
                let count = try await Self.count(body)
                #expect(count == 4)
            }
        }
    }

    /// The whole response, or the beginning of its head.
    @Test(arguments: ["200 OK", "408 Request Timeout"], [true, false])
    func `a response on an idle connection is not the next call's`(status: String, isWhole: Bool) async throws {
        let (received, closed) = (Locked(0), Locked(0))
        let fault = FaultServer.Fault.reading { connection in
            try connection.send(FaultServer.Fault.answer("right"))
            while received.withLock({ $0 }) <= connection.index { try connection.pause(.milliseconds(1)) }
            try connection.send("HTTP/1.1 \(status)\r\nContent-Length: 6\r\n" + (isWhole ? "\r\npoison" : ""))
            defer { closed.withLock { $0 += 1 } }
            while true {
                try connection.read()
                try connection.send(FaultServer.Fault.answer("right"))
            }
        }
        try await FaultServer.serving(fault) { server in
            for count in 1...10 {
                let text = try await server.get(config: .server).text()
                #expect(text == "right")
                received.withLock { $0 = count }
                try await waitUntil { closed.withLock { $0 } == count }
            }
            #expect(server.connections == 10)
        }
    }

    /// So many characters of it, or the whole; the rest comes with the next one.
    @Test(arguments: [1, 12, 45, .max], [false, true])
    func `a response that was sent with another one is not a waiting call's`(count: Int, isChunked: Bool) async throws {
        let fault = FaultServer.Fault { connection in
            let poison = FaultServer.Fault.answer("poison")
            let chunked = FaultServer.Fault.chunkedHead + "5\r\nright\r\n0\r\n\r\n"
            let right = isChunked ? chunked : FaultServer.Fault.answer("right")
            var rest = ""
            while true {
                try connection.read()
                try connection.send(rest + right + poison.prefix(count))
                rest = String(poison.dropFirst(count))
            }
        }
        try await FaultServer.serving(fault) { server in
            try await URLSession.with {
                $0.httpMaximumConnectionsPerHost = 1
            } _: { session in
                try await concurrently(24) { _ in
                    let text = try await session.response(for: server.request(), config: .server).text()
                    #expect(text == "right")
                }
            }
        }
    }
}

#endif
