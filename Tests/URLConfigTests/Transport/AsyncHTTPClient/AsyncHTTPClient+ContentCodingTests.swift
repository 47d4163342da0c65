#if AsyncHTTPClient

import AsyncHTTPClient
import NIOHTTPCompression
import Testing

@testable import URLConfig

/// Bodies with a content coding.
@Suite(.inTime) struct AsyncHTTPClientContentCodingTests {
    private static let text = String(repeating: "0123456789", count: 100)
    private static let gzip = Data(base64Encoded: "H4sIAKlrAmsC/zMwNDI2MTUzt7A0GGWNskZZw5QFAPGPhXzoAwAA") ?? Data()
    private static let zlib = Data(base64Encoded: "eJwzMDQyNjE1M7ewNBhljbJGWcOUBQDsuM0V") ?? Data()
    private static let deflate = Data(base64Encoded: "MzA0MjYxNTO3sDQYZY2yRlnDlAUA") ?? Data()

    /// Responds to every request.
    private static func responding(_ head: String, _ body: Data = Data()) -> FaultServer.Fault {
        .init { connection in
            while true {
                try connection.read()
                try connection.send("HTTP/1.1 \(head)\r\n\r\n")
                try connection.send(body)
            }
        }
    }

    private static func responding(coding: String, _ body: Data) -> FaultServer.Fault {
        responding("200 OK\r\n\(coding)\r\nContent-Length: \(body.count)", body)
    }

    /// A request without a body, and one with, because these are sent in different ways.
    private static func requests(_ server: some TestServer) -> [URLRequest] {
        [HTTPRequest.Method.get, .post].map { method in server.request { $0.use(method) } }
    }

    @Test(arguments: ["204", "304", "200", "302"])
    func `a response of HTTP 2 without content is not decoded`(status: String) async throws {
        try await RawHTTP2.trusted { stream in
            let head = RawHTTP2.headers(
                stream, [":status": status, "content-encoding": "gzip"], end: status != "200")
            return status == "200" ? head + RawHTTP2.data(stream, "", end: true) : head
        } _: { server, config in
            for request in Self.requests(server) {
                let response = try await server.response(for: request, config: config)
                #expect(response.data.isEmpty)
                #expect(response.status.code == Int(status))
            }
        }
    }

    private static let valid: [(String, Data, Int)] = [
        ("x-gzip", gzip, 1), ("GZip", gzip, 1), ("identity, gzip", gzip, 1),
        ("identity\r\nContent-Encoding: gzip", gzip, 1), ("gzip", gzip + gzip + gzip, 3), ("deflate", zlib, 1),
        ("deflate", deflate, 1), ("identity", Data(text.utf8), 1), ("gzip", gzip + Data(count: 100), 1),
    ]

    @Test(arguments: valid)
    func `a body is decoded`(coding: String, body: Data, times: Int) async throws {
        try await FaultServer.serving(Self.responding(coding: "Content-Encoding: \(coding)", body)) { server in
            for request in Self.requests(server) {
                let response = try await server.response(for: request, config: .server)
                #expect(try response.text() == String(repeating: Self.text, count: times))
            }
        }
    }

    @Test func `a body with a transfer coding is decoded`() async throws {
        let chunk = Data("\(String(Self.gzip.count, radix: 16))\r\n".utf8) + Self.gzip + Data("\r\n0\r\n\r\n".utf8)
        try await FaultServer.serving(
            Self.responding("200 OK\r\nTransfer-Encoding: gzip, chunked", chunk)
        ) { server in
            let text = try await server.get(config: .server).text()
            #expect(text == Self.text)
        }
    }

    /// Without `chunked`, a body ends with its connection (RFC 9112 §6.3).
    private static func closing(_ coding: String, _ body: Data) -> FaultServer.Fault {
        .reading { connection in
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\nConnection: close\r\n\r\n")
            try connection.send(body)
        }
    }

    @Test(arguments: [("gzip", Self.gzip), ("X-Gzip", Self.gzip), ("deflate", Self.zlib)])
    func `a body with a transfer coding is decoded, if it ends with its connection`(
        coding: String, body: Data
    ) async throws {
        try await FaultServer.serving(Self.closing(coding, body)) { server in
            for request in Self.requests(server) {
                let response = try await server.response(for: request, config: .server)
                #expect(try response.text() == Self.text)
            }
        }
    }

    @Test(arguments: [("gzip", Data(Self.gzip.dropLast(1))), ("gzip", Data("{}".utf8)), ("compress", Self.gzip)])
    func `a body with a transfer coding is refused, if it was cut or cannot be decoded`(
        coding: String, body: Data
    ) async throws {
        try await FaultServer.serving(Self.closing(coding, body)) { server in
            for request in Self.requests(server) {
                await expectError(.cannotDecodeContentData) {
                    try await server.response(for: request, config: .server)
                }
            }
        }
    }

    private static let malformed: [(String, Data)] = [
        ("gzip, gzip", gzip), ("br", gzip), ("zstd, gzip", gzip), ("gzip", gzip + Data("{}".utf8)),
        ("gzip", Data(gzip.dropLast(8))), ("gzip", Data(gzip.dropLast(1))), ("gzip", gzip + Data([0x1F])),
        ("gzip", Data([0x1F])), ("gzip", Data("{}".utf8)), ("gzip", gzip + zlib), ("deflate", zlib + zlib),
        ("deflate", Data(deflate.dropLast(1))), ("deflate", Data("no".utf8)),
    ]

    @Test(arguments: malformed)
    func `a body that cannot be decoded is an error`(coding: String, body: Data) async throws {
        try await FaultServer.serving(Self.responding(coding: "Content-Encoding: \(coding)", body)) { server in
            for request in Self.requests(server) {
                let error = await expectError(.cannotDecodeContentData) {
                    try await server.response(for: request, config: .server)
                }
                #expect(error?.attempts.count == 1)
            }
        }
    }

    @Test(arguments: ["br", "gzip, gzip", "gzip\r\nContent-Encoding: deflate"])
    func `a coding that cannot be decoded does not hide the status`(coding: String) async throws {
        let head = "503 Busy\r\nContent-Encoding: \(coding)\r\nContent-Length: 2"
        try await FaultServer.serving(Self.responding(head, Data("br".utf8))) { server in
            for request in Self.requests(server) {
                let response = try await server.response(for: request, config: .server)
                #expect(response.status == .serviceUnavailable)
                #expect(response.data == Data("br".utf8))
            }
        }
    }

    @Test func `a coding that the caller's own Accept-Encoding names is left to the caller`() async throws {
        let body = Data("br".utf8)
        try await FaultServer.serving(Self.responding(coding: "Content-Encoding: br", body)) { server in
            let own = server.request { $0.headers[.acceptEncoding] = "br;q=1.0, gzip;q=0.9" }
            let data = try await server.response(for: own, config: .server).data
            #expect(data == body)
            #expect(server.requests.first?.field("Accept-Encoding") == "br;q=1.0, gzip;q=0.9")
        }
        try await FaultServer.serving(Self.responding(coding: "Content-Encoding: gzip", Self.gzip)) { server in
            let own = server.request { $0.headers[.acceptEncoding] = "gzip" }
            let text = try await server.response(for: own, config: .server).text()
            #expect(text == Self.text)
        }
    }

    @Test func `a client that would decompress itself does not`() async throws {
        try await FaultServer.serving(Self.responding(coding: "Content-Encoding: gzip", Self.gzip)) { server in
            try await HTTPClient.lending {
                $0.decompression = .enabled(limit: .none)
            } _: { client in
                let text = try await server.get(config: .onServer(client)).text()
                #expect(text == Self.text)
            }
        }
    }

    @Test(arguments: [Self.gzip + Self.gzip, Self.zlib, Self.deflate], [1, 2, 3, 7])
    func `a body that arrives in small parts is decoded`(body: Data, size: Int) throws {
        let decoder = try ContentDecoder([body.count == Self.gzip.count * 2 ? "gzip" : "deflate"])
        var text = Data()
        for start in stride(from: 0, to: body.count, by: size) {
            decoder.receive(body.dropFirst(start).prefix(size))
            while let piece = try decoder.next() { text += piece }
        }
        try decoder.finish()
        #expect(String(decoding: text, as: UTF8.self).hasPrefix(Self.text))
        #expect(text.count == (body.count == Self.gzip.count * 2 ? 2000 : 1000))
    }

    @Test func `random bytes are decoded as gzip did encode them`() async throws {
        let directory = TemporaryDirectory()
        let sample = Data.sample(300_000) + Data(count: 300_000)
        let body = try Shell.run("gzip -c '\(directory.file("file", sample).path)'")
        try await FaultServer.serving(Self.responding(coding: "Content-Encoding: gzip", body)) { server in
            let data = try await server.get(config: .server).data
            #expect(data == sample)
        }
    }

    #if os(Linux)
    @Test func `36 bombs at once need little memory`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            try await FaultServer.serving(.gzipBomb) { server in
                let configuration = URLSessionConfiguration.ofTests
                configuration.httpMaximumConnectionsPerHost = 36
                let session = URLSession(configuration: configuration)
                for round in 0..<4 {
                    let before = try Memory.peak()
                    await withTaskGroup(of: Void.self) { group in
                        for _ in 0..<36 {
                            group.addTask {
                                do {
                                    try await session.response(for: server.request(), config: .server) {
                                        $0.responseLimit = round % 2 == 0 ? 1_000 : 1_000_000
                                    }
                                    Issue.record("no error")
                                } catch {
                                    guard (error as? RequestError)?.code != .responseTooLarge else { return }
                                    // The issues of a child process have no comments.
                                    print(error)
                                    Issue.record(error)
                                }
                            }
                        }
                    }
                    #expect(try Memory.peak() - before < 200_000_000)
                }
            }
        }
    }
    #endif
}

#endif
