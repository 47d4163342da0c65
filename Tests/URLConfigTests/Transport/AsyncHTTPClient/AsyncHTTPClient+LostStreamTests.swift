#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import Testing

@testable import URLConfig

/// Streams of HTTP/2 that might stay counted when their calls have ended: then their connection takes no more calls,
/// and AsyncHTTPClient opens no other one.
@Suite(.inTime) struct AsyncHTTPClientLostStreamTests {
    /// The setting of a server that takes two streams at once.
    private static let twoStreams: [UInt8] = [0, 3, 0, 0, 0, 2]

    @Test func `a connection is replaced before the numbers of its streams are used up`() {
        #expect(HTTPClient.Configuration.urlConfig.maximumUsesPerConnection ?? .max < 1 << 30)
    }

    @Test(arguments: ["gzip", "trailers, deflate", "Trailers", "trailers"])
    func `a request with any TE is sent`(value: String) async throws {
        try await RawHTTP2.trusted(RawHTTP2.frame(4, 0, 0, Self.twoStreams)) { stream in
            RawHTTP2.headers(stream, [":status": "200"], end: true)
        } _: { server, config in
            var request = server.request { $0.timeout = .seconds(30) }
            request.setValue(value, forHTTPHeaderField: "TE")
            for _ in 0..<4 {
                let response = try await server.response(for: request, config: config)
                #expect(response.isSuccess)
            }
        }
    }

    @Test(arguments: ["200", "413"])
    func `a response that ends before its server takes the body gives the stream back`(status: String) async throws {
        // No stream may send a body.
        let settings = RawHTTP2.frame(4, 0, 0, Self.twoStreams + [0, 4, 0, 0, 0, 0])
        try await RawHTTP2.trusted(settings) { stream in
            RawHTTP2.headers(stream, [":status": status]) + RawHTTP2.data(stream, "early", end: true)
        } _: { server, config in
            let request = server.request {
                $0.method = .post
                $0.body = .data(Data(count: 1000))
                $0.timeout = .seconds(30)
            }
            for _ in 0..<4 {
                let result = await Result { try await server.response(for: request, config: config) }
                #expect((try? result.get().status.code) == Int(status), "\(result)")
                #expect((try? result.get().text()) == "early")
            }
        }
    }
}

#endif
