#if canImport(FoundationNetworking)
import Testing

@testable import URLConfig

/// What libcurl does with encoded bodies.
@Suite(.inTime) struct ContentEncodingTests {
    private static let text = "0123456789"
    private static let gzip = Result { try Shell.run("printf \(text) | gzip") }
    /// "hello", encoded by the reference implementation (RFC 7932).
    private static let brotli: [UInt8] = [0x0B, 0x02, 0x80] + Array("hello".utf8) + [0x03]

    private static let status = HTTPField.Name("X-Status")
    private static let location = HTTPField.Name("X-Location")

    private func response(_ encoding: String, _ body: some Sequence<UInt8>) async throws -> DataResponse {
        let bytes = Array(body)
        let fault = FaultServer.Fault.reading { connection in
            try connection.send(FaultServer.Fault.head(length: bytes.count, "Content-Encoding: \(encoding)\r\n"))
            try connection.send(bytes)
        }
        var response: DataResponse?
        try await FaultServer.serving(fault) { response = try await $0.get() }
        return try #require(response)
    }

    @Test(.urlSessionOnly)
    func `it asks for gzip and deflate, unless the caller or the session asks for something else`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            try await server.get()
            try await server.response(for: server.request { $0.headers[.acceptEncoding] = "identity" })
            try await URLSession.with {
                $0.httpAdditionalHeaders = ["accept-encoding": "br"]
            } _: {
                try await $0.response(for: server.request(), config: .silent)
            }
            _ = try await server.session.data(for: server.request())
            let sent = server.requests.map { $0.field("Accept-Encoding") }
            #expect(sent.prefix(3) == ["gzip, deflate", "identity", "br"])
            #expect(sent.last??.contains("br") == true, "Foundation has changed")
        }
    }

    @Test(.urlSessionOnly) func `bodies are decoded, asked for or not`() async throws {
        let gzip = try Self.gzip.get()
        // One block that is not compressed (RFC 1951 §3.2.4), and the same in the format of RFC 1950.
        let deflate = [1, 10, 0, 0xF5, 0xFF] + Array(Self.text.utf8)
        let zlib = [0x78, 0x01] + deflate + [0x0A, 0xFF, 0x02, 0x0E]
        for (encoding, body) in [
            ("gzip", Array(gzip)), ("x-gzip", Array(gzip)), ("deflate", zlib), ("deflate", deflate),
        ] {
            #expect(try await response(encoding, body).text() == Self.text)
        }
        #expect(try await response("br", Self.brotli).text() == "hello")
    }

    @Test(.urlSessionOnly) func `a body that is not encoded as its fields say, or goes on, is an error`() async throws {
        for encoding in ["gzip", "br", "zstd", "unknown"] {
            await expectError(.cannotDecodeContentData) {
                try await response(encoding, [UInt8](repeating: 0xFF, count: 300))
            }
        }
        let gzip = try Self.gzip.get()
        await expectError(.cannotDecodeContentData) { try await response("gzip", gzip + gzip) }
    }

    /// If this fails, libcurl has changed.
    ///
    /// Then change the documentation.
    @Test(.urlSessionOnly) func `a body that is cut before it was sent is a success`() async throws {
        let body = try Self.gzip.get()
        #expect(try await response("gzip", body.dropLast(8)).text() == Self.text)
        #expect(try await response("gzip", body.prefix(5)).data.isEmpty)
        #expect(try await response("br", Self.brotli.dropLast(3)).text() == "hel")
        #expect(try await response("br", Self.brotli.prefix(2)).data.isEmpty)
    }

    /// RFC 9110 §6.4.1.
    @Test(arguments: ["Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n"])
    func `a response without content may be labelled gzip`(framing: String) async throws {
        let fault = FaultServer.Fault { connection in
            repeat {
                let request = try connection.read()
                let status = request.field("X-Status") ?? ""
                let location = request.field("X-Location").map { "Location: \($0)\r\n" } ?? ""
                let isLeftOut = request.head.hasPrefix("HEAD") || ["204", "304"].contains(status)
                let end = framing.hasPrefix("Transfer") && !isLeftOut ? "0\r\n\r\n" : ""
                try connection.send(
                    "HTTP/1.1 \(status) X\r\nContent-Encoding: gzip\r\n\(framing)\(location)\r\n\(end)")
            } while !framing.hasPrefix("Connection")
        }
        try await FaultServer.serving(fault) { server in
            let (status, location) = try (#require(Self.status), #require(Self.location))
            for code in [200, 204, 301, 302, 303, 304, 307, 401, 404] {
                for (method, target) in [("GET", "/a"), ("HEAD", "/a"), ("POST", "/a"), ("GET", nil), ("POST", nil)] {
                    let request = server.request {
                        $0.method = .init(rawValue: method) ?? .get
                        $0.headers[status] = "\(code)"
                        $0.headers[location] = target
                    }
                    let response = try await server.response(for: request) { $0.redirects = .none }
                    #expect(response.data.isEmpty && response.status.code == code)
                    let stream = try await server.session.stream(for: request, config: .silent) {
                        $0.redirects = .none
                    }
                    #expect(try await stream.collect(upTo: 1).data.isEmpty)
                }
            }
        }
    }

    @Test(arguments: [301, 302, 303, 307])
    func `a redirect without content may be labelled gzip, and is followed`(code: Int) async throws {
        for (framing, end) in [("Content-Length: 0", ""), ("Transfer-Encoding: chunked", "0\r\n\r\n")] {
            let redirect = "HTTP/1.1 \(code) X\r\nLocation: /end\r\nContent-Encoding: gzip\r\n\(framing)\r\n\r\n\(end)"
            let fault = FaultServer.Fault { connection in
                while true {
                    let isLast = try connection.read().head.contains(" /end ")
                    try connection.send(isLast ? FaultServer.Fault.head(length: 2) + "ok" : redirect)
                }
            }
            try await FaultServer.serving(fault) { server in
                #expect(try await server.get().text() == "ok")
                let stream = try await server.session.stream(for: server.request(), config: .silent)
                #expect(try await stream.collect(upTo: 9).data == Data("ok".utf8))
            }
        }
    }
}
#endif
