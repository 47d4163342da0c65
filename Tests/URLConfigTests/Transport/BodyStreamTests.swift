import Testing

@testable import URLConfig

// On Apple platforms, URLSession reads the stream itself.
#if canImport(FoundationNetworking)
/// A body stream and its `Content-Length`.
@Suite(.inTime) struct BodyStreamTests {
    /// A stream that returns its bytes in pieces of one size.
    private final class Pieces: InputStream {
        private var bytes: [UInt8]
        private let size: Int

        init(_ bytes: [UInt8], size: Int) {
            self.bytes = bytes
            self.size = size
            super.init(data: Data())
        }

        override var hasBytesAvailable: Bool { true }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            let piece = bytes.prefix(min(size, maxLength))
            for (index, byte) in piece.enumerated() { buffer[index] = byte }
            bytes.removeFirst(piece.count)
            return piece.count
        }
    }

    private func request(_ stream: InputStream, length: Int?, to server: FaultServer) -> URLRequest {
        var request = server.request { $0.method = .post }
        request.httpBodyStream = stream
        request.setValue(length.map { "\($0)" }, forHTTPHeaderField: "Content-Length")
        return request
    }

    @Test(arguments: [0, 1, 2, 3, 7, 70_000], [1, 2, 3, 1 << 20])
    func `one that is as long as it says is sent, however it is read`(length: Int, size: Int) async throws {
        guard length < 10 * 3 || size > 3 else { return }
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        try await FaultServer.serving(.ok("{}")) { server in
            for length in [bytes.count, nil] {
                let request = request(Pieces(bytes, size: size), length: length, to: server)
                let response = try await server.response(for: request)
                #expect(response.isSuccess)
                #expect(server.requests.last?.body == Data(bytes))
                #expect(server.requests.last?.field("Content-Length") == length.map { "\($0)" })
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4, 100])
    func `a longer one is neither a second request nor a whole first one`(size: Int) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let bytes = Array("abcGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
            let request = request(Pieces(bytes, size: size), length: 3, to: server)
            let error = await expectError(.invalidRequest) { try await server.response(for: request) }
            #expect(error?.reason == "body: the stream is longer than its Content-Length, 3 bytes")
            try await server.get()
            #expect(server.requests.map { $0.head.prefix(4) } == ["GET "])
        }
    }

    @Test(arguments: [0, 1, 2, 4], [1, 3])
    func `a shorter one ends the call`(length: Int, size: Int) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let request = request(Pieces(Array("abcd".utf8.prefix(length)), size: size), length: 5, to: server)
            let error = await expectError(.invalidRequest) { try await server.response(for: request) }
            #expect(error?.reason == "body: the stream ends after \(length) of its Content-Length, 5 bytes")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `one of a caller's own that fails without an error ends the call`() async throws {
        final class Failing: InputStream {
            override var hasBytesAvailable: Bool { true }
            override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int { -1 }
        }
        try await FaultServer.serving(.ok("{}")) { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.response(for: request(Failing(data: Data()), length: 5, to: server))
            }
            #expect(error?.reason == "body: the stream cannot be read")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `one that cannot be read ends the call, and says why`() async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            let stream = try #require(InputStream(fileAtPath: "/nowhere/at/all"))
            let error = await expectError(.invalidRequest) {
                try await server.response(for: request(stream, length: nil, to: server))
            }
            #expect(error?.reason.hasPrefix("body: the stream cannot be read: ") == true)
            #expect(server.requests.isEmpty)
        }
    }
}
#endif
