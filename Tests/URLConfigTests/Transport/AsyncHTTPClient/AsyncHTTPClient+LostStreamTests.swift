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
}

#endif
