import Foundation
import URLConfig

/// The transport that all tests of this process use by default, so that the same tests run with each transport:
///
/// ```console
/// TEST_TRANSPORT=asyncHTTPClient swift test --traits AsyncHTTPClient --scratch-path .build/async-http-client
/// ```
enum TransportOfTests {
    static let isAsyncHTTPClient = ProcessInfo.processInfo.environment["TEST_TRANSPORT"] == "asyncHTTPClient"

    /// Sets the default transport, once.
    static let use: Void = {
        #if AsyncHTTPClient
        if isAsyncHTTPClient { URLSession.Config.default.transport = .asyncHTTPClient() }
        #endif
    }()
}
