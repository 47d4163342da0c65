import Testing
import URLConfig

/// The transport that all tests of this process use by default.
///
/// The same tests run with each transport:
///
/// ```console
/// TEST_TRANSPORT=asyncHTTPClient swift test --traits AsyncHTTPClient --scratch-path .build/async-http-client
/// ```
enum TransportOfTests {
    static let isAsyncHTTPClient = ProcessInfo.processInfo.environment["TEST_TRANSPORT"] == "asyncHTTPClient"

    /// For a transport that passes requests on.
    static var transport: Transport {
        use
        return URLSession.Config.default.transport
    }

    /// Sets the default transport, once.
    static let use: Void = {
        #if AsyncHTTPClient
        if isAsyncHTTPClient { URLSession.Config.default.transport = .asyncHTTPClient }
        #endif
    }()
}

extension Trait where Self == ConditionTrait {
    /// For what only a session does: delegates, challenges, `URLProtocol` classes, and what Foundation does wrong.
    static var urlSessionOnly: Self {
        .enabled(if: !TransportOfTests.isAsyncHTTPClient, "It is about URLSession.")
    }
}
