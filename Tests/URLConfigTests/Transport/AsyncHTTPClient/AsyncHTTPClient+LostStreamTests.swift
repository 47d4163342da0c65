#if AsyncHTTPClient

import AsyncHTTPClient
import Testing

@testable import URLConfig

/// Streams of HTTP/2 that might stay counted when their calls have ended: then their connection takes no more calls,
/// and AsyncHTTPClient opens no other one.
@Suite(.inTime) struct AsyncHTTPClientLostStreamTests {
    @Test func `a connection is replaced before the numbers of its streams are used up`() {
        #expect(HTTPClient.Configuration.urlConfig.maximumUsesPerConnection ?? .max < 1 << 30)
    }
}

#endif
