#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import Testing

@testable import URLConfig

/// Responses that are not as they should be.
@Suite(.inTime) struct AsyncHTTPClientHostileResponseTests {
    #if compiler(>=6.3)
    @Test(arguments: 0..<10) func `frames of HTTP 2 in a wrong order do not crash`(number: Int) async {
        await #expect(processExitsWith: .success) { [number] in
            ChildProcess.endIfStuck()
            try await RawHTTP2.trusted { stream in
                let head = RawHTTP2.headers(stream, [":status": "200"])
                let info = RawHTTP2.headers(stream, [":status": "103"])
                let end = RawHTTP2.data(stream, "0123", end: true)
                let trailers = RawHTTP2.headers(stream, ["a": "b"])
                let switching = RawHTTP2.headers(stream, [":status": "101"])
                return [
                    RawHTTP2.data(stream, "0123") + end, info + end, head + trailers + end,
                    head + RawHTTP2.headers(stream, ["a": "b"], end: true) + end, head + end + end, head + head + end,
                    info + info + head + end, end + head, RawHTTP2.headers(stream, [":status": "103"], end: true),
                    switching + RawHTTP2.headers(stream, [":status": "200"], end: true),
                ][number]
            } _: { server, config in
                _ = try? await server.get(config: config) { $0.deadline = .seconds(2) }
            }
        }
    }
    #endif

    @Test(arguments: 0..<6) func `a frame that breaks HTTP 2 ends the connection, and the next call has another`(
        number: Int
    ) async throws {
        let asked = Recorder<Void>()
        try await RawHTTP2.trusted { stream in
            let head = RawHTTP2.headers(stream, [":status": "200"])
            let end = RawHTTP2.headers(stream, [":status": "200"], end: true)
            if asked.note(()) > 1 { return end }
            return [
                head + RawHTTP2.frame(0, 8, stream, [200, 1, 2]),  // More padding than data.
                RawHTTP2.frame(1, 5, stream, [UInt8](repeating: 0xFF, count: 9) + [0x7F]),
                RawHTTP2.frame(5, 4, stream, [0, 0, 0, 2]), RawHTTP2.frame(4, 0, stream, []),
                head + RawHTTP2.frame(0, 0, 0, [1]),
                head + RawHTTP2.frame(0, 0, stream, [UInt8](repeating: 0, count: 20_000)),
            ][number]
        } _: { server, config in
            await expectError(.networkConnectionLost) {
                try await server.response(for: server.request { $0.method = .post }, config: config)
            }
            // The pool may give a request to the connection that is just being closed.
            try await waitUntil { (try? await server.get("/a", config: config)) != nil }
            for _ in 0..<3 { try await server.get("/a", config: config) }
        }
        #expect(asked.count >= 5)
    }

    @Test(arguments: 0..<4) func `silence on HTTP 2 ends with the time limit`(number: Int) async throws {
        try await RawHTTP2.serving { stream in
            let head = RawHTTP2.headers(stream, [":status": "200"])
            let info = RawHTTP2.headers(stream, [":status": "103"], end: true)
            return [[], head, head + RawHTTP2.data(stream, "0123"), info][number]
        } _: { server in
            try await HTTPClient.lending {
                $0.tlsConfiguration = try TestCertificate.localhost.forClient()
                $0.timeout.read = .seconds(1)
            } _: { client in
                _ = await expectError(.timedOut) { try await server.get(config: .onServer(client)) }
            }
        }
    }

    #if os(Linux)
    @Test func `bombs and endless trailers do not grow memory`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let trailers = FaultServer.Fault.reading { connection in
                try connection.send(FaultServer.Fault.chunkedHead + "2\r\n{}\r\n0\r\n")
                let line = "a: \(String(repeating: "b", count: 1000))\r\n"
                for _ in 0..<300_000 { try connection.send(line) }
            }
            // AsyncHTTPClient itself keeps all empty blocks of one read.
            for (fault, most) in [(FaultServer.Fault.gzipBomb, 100), (trailers, 100), (.emptyBlocks, 400)] {
                try await FaultServer.serving(fault) { server in
                    let before = try Memory.peak()
                    await #expect(throws: (any Error).self) {
                        try await server.get(config: .server) { $0.responseLimit = 1000 }
                    }
                    #expect(try Memory.peak() - before < most * 1_000_000)
                }
            }
        }
    }
    #endif

    @Test func `a cookie with a control character in a response of HTTP 2 does not end all later calls`() async throws {
        try await RawHTTP2.trusted { stream in
            RawHTTP2.headers(stream, [":status": "200", "set-cookie": "sid=a\u{1}b"], end: true)
        } _: { server, config in
            for _ in 0..<2 {
                let result = await Result { try await server.get(config: config) }
                #expect((try? result.get().isSuccess) == true, "\(result)")
            }
        }
    }

    #if compiler(>=6.3)
    @Test(arguments: ["200 OK\r\nContent-Length: 5\r\n\r\n{", "401 No\r\nContent-Length: 0\r\n\r\n"], [0, 1000])
    func `a response before the request was read neither crashes nor hangs`(text: String, count: Int) async {
        await #expect(processExitsWith: .success) { [text, count] in
            ChildProcess.endIfStuck()
            let fault = FaultServer.Fault { connection in
                // The client has filled the socket's buffer, and not sent the end of its head.
                Thread.sleep(forTimeInterval: 0.5)
                try connection.send("HTTP/1.1 " + text)
                Thread.sleep(forTimeInterval: 0.5)
                for _ in 0..<200 { _ = try connection.received() }
                try connection.waitForEnd()
            }
            try await FaultServer.serving(fault) { server in
                var request = server.request { $0.method = .put }
                request.setValue(String(repeating: "a", count: 12_000_000), forHTTPHeaderField: "X-Large")
                request.httpBody = Data(count: count)
                try await URLSession.impatient { [request] session in
                    // A response or an error, but before the process is ended.
                    _ = await Result { try await session.response(for: request, config: .server) { $0.retry = .none } }
                }
            }
        }
    }
    #endif

    @Test func `of a thousand calls, half of them cancelled, none is sent twice`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let calls = (0..<1000).map { index in
                Task {
                    let request = server.request {
                        $0.method = .post
                        $0.query = ["n": "\(index)"]
                        $0.body = .data(Data(count: 1000))
                    }
                    return try await server.response(for: request, config: .server).isSuccess
                }
            }
            for call in calls.shuffled().prefix(500) { call.cancel() }
            for call in calls {
                do {
                    #expect(try await call.valueInTime)
                } catch {
                    #expect(error is CancellationError)
                }
            }
            let lines = server.requests.map { $0.head.prefix { !$0.isNewline } }
            #expect(Set(lines).count == lines.count)
        }
    }
}

#endif
