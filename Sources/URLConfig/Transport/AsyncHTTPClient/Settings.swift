#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// What a client takes from a session's configuration.
///
/// Time limits are not part of it, because the library watches them. So all calls to a host share its connections.
struct Settings: Hashable {
    let connections: Int
    let proxy: HTTPClient.Configuration.Proxy?

    init(_ configuration: URLSessionConfiguration, _ url: URL?) throws {
        connections = max(1, configuration.httpMaximumConnectionsPerHost)
        proxy = try url.flatMap {
            try HTTPClient.Configuration.Proxy(for: $0, configuration.connectionProxyDictionary)
        }
    }

    var clientConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.urlConfig
        (configuration.timeout.read, configuration.timeout.write) = (nil, nil)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        configuration.proxy = proxy
        return configuration
    }
}

extension HTTPClient.Configuration {
    /// The configuration for a client of your own, to change as you need.
    ///
    /// ```swift
    /// var configuration = HTTPClient.Configuration.urlConfig
    /// configuration.tlsConfiguration = tls
    /// let client = HTTPClient(configuration: configuration)
    /// URLSession.Config.default.transport = .asyncHTTPClient(client)
    /// ```
    ///
    /// It does not follow redirects, because ``Foundation/URLSession/Config/redirects`` does. It does not decompress
    /// bodies, because the transport does, in steps: if you turn it on, AsyncHTTPClient decompresses instead, without
    /// a limit of memory. It does not try to connect again, because the transport does. Its time limits are 60 seconds.
    /// It has no tracer, because the transport creates the spans itself, without secrets. Its debug initializers
    /// protect the process from malformed responses, and tell whether a request was sent: keep them.
    public static var urlConfig: Self {
        var configuration = Self(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(60), read: .seconds(60), write: .seconds(60)), decompression: .disabled)
        // Otherwise a host that cannot be reached is tried until the time limit.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.tracing.tracer = nil
        configuration.http1_1ConnectionDebugInitializer = ConnectionGuard.add(
            after: ByteToMessageHandler<HTTPResponseDecoder>.self)
        let addGuard = ConnectionGuard.add(after: HTTP2FramePayloadToHTTP1ClientCodec.self)
        configuration.http2StreamChannelDebugInitializer = { channel in
            addGuard(channel).flatMapThrowing { try StatusGuard.add(to: channel) }
        }
        return configuration
    }

    /// Whether it does not follow redirects, and has the guards.
    fileprivate var isForURLConfig: Bool {
        !"\(redirectConfiguration)".contains("follow") && http1_1ConnectionDebugInitializer != nil
            && http2StreamChannelDebugInitializer != nil
    }
}

extension HTTPClient {
    /// The configuration; `nil` if it cannot be found out, because a client has no property for it.
    var configuration: Configuration? { Mirror(reflecting: self).descendant("configuration") as? Configuration }

    /// - Parameter configuration: Its configuration; `nil` if it cannot be found out.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if it follows redirects, has no
    ///   guards, or has a tracer, whose spans would contain secrets.
    func checkIsForURLConfig(_ configuration: Configuration?) throws(RequestError) {
        guard configuration?.isForURLConfig ?? true else {
            throw .refused(
                .invalidRequest,
                "the HTTPClient may follow redirects itself; make it with HTTPClient(configuration: .urlConfig)")
        }
        guard tracer == nil else {
            throw .refused(
                .invalidRequest, "the HTTPClient has a tracer; leave it out, because asyncHTTPClient creates the spans")
        }
    }
}

#endif
