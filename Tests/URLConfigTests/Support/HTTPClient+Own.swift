#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOSSL

@testable import URLConfig

extension HTTPClient {
    /// Lends a client, and shuts it down afterwards, unless the body has done so.
    @discardableResult
    static func lending<Value>(
        on group: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
        _ configure: (inout Configuration) throws -> Void = { _ in }, isolation: isolated (any Actor)? = #isolation,
        _ body: (HTTPClient) async throws -> Value
    ) async throws -> Value {
        var configuration = Configuration.urlConfig
        // On a slow machine, where all tests begin together, the 10 seconds of the default are too short.
        configuration.timeout.connect = .minutes(5)
        try configure(&configuration)
        let client = HTTPClient(eventLoopGroup: group, configuration: configuration)
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(client))
        } catch {
            result = .failure(error)
        }
        do {
            try await client.shutdown()
        } catch let error as HTTPClientError where error == .alreadyShutdown {
            // By the body.
        }
        return try result.get()
    }

    /// Lends a client that trusts only this certificate.
    @discardableResult
    static func trusting<Value>(
        _ certificate: TestCertificate = .localhost, isolation: isolated (any Actor)? = #isolation,
        _ body: (HTTPClient) async throws -> Value
    ) async throws -> Value {
        try await lending({ $0.tlsConfiguration = try certificate.forClient() }, { try await body($0) })
    }
}

extension TLSServer {
    /// Serves requests, and lends a configuration whose client trusts the server.
    static func trusted(
        protocols: [String] = ["h2", "http/1.1"], dropped: Int = .max,
        _ answer: @escaping @Sendable (Request, _ number: Int) -> Answer = { _, _ in .ok("{}") },
        _ body: (TLSServer, URLSession.Config) async throws -> Void
    ) async throws {
        try await serving(protocols: protocols, dropped: dropped, answer) { server in
            try await HTTPClient.trusting { client in try await body(server, .onServer(client)) }
        }
    }
}

extension RawHTTP2 {
    /// Serves requests, and lends a configuration whose client trusts the server.
    static func trusted(
        _ settings: [UInt8] = settings, _ answer: @escaping @Sendable (UInt32) -> [UInt8],
        _ body: (RawHTTP2, URLSession.Config) async throws -> Void
    ) async throws {
        try await serving(settings, answer) { server in
            try await HTTPClient.trusting { client in try await body(server, .onServer(client)) }
        }
    }
}

extension URLRequest.Config {
    /// A method, with a body unless it is GET: these are sent in different ways.
    mutating func use(_ method: HTTPRequest.Method) {
        self.method = method
        if method != .get { body = .data(Data("body".utf8)) }
    }
}

extension URLSession.Config {
    /// Without a log, and with the server transport.
    static let server = silent.with { $0.transport = .asyncHTTPClient }

    /// Without a log, and with the server transport with a client of one's own.
    static func onServer(_ client: HTTPClient) -> Self {
        .silent.with { $0.transport = .asyncHTTPClient(client) }
    }

    /// Sends this body instead of the request's.
    static func sending(_ body: Transport.Body, by transport: Transport = .asyncHTTPClient) -> Self {
        .silent.with {
            $0.transport = Transport { request in
                var request = request
                request.body = body
                return try await transport.send(request)
            }
        }
    }
}

extension TestServer {
    /// Sends a request once with the server transport, as a transport that uses it does.
    func open(_ request: URLRequest? = nil, in session: URLSession? = nil) async throws -> Transport.Response {
        try await Transport.asyncHTTPClient.send(
            Transport.Request(for: request ?? self.request(), in: session ?? self.session, config: .server))
    }
}

extension URLError {
    /// The client's error.
    var cause: (any Error)? { userInfo[NSUnderlyingErrorKey] as? any Error }
}

#endif
