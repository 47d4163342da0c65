#if AsyncHTTPClient

import AsyncHTTPClient
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

extension Transport {
    /// Sends requests with AsyncHTTPClient, for services; needs the package trait `AsyncHTTPClient`.
    ///
    /// ```swift
    /// URLSession.Config.default.transport = .asyncHTTPClient()      // for all calls of the process
    /// ```
    ///
    /// It uses these properties of the session's configuration: `timeoutIntervalForRequest`,
    /// `timeoutIntervalForResource`, `httpMaximumConnectionsPerHost`, `httpAdditionalHeaders`, the cookie settings and
    /// `connectionProxyDictionary`, or the environment's proxies if that is `nil`. It does not use delegates and stored
    /// credentials, and warns about them. It refuses sessions with custom `URLProtocol` classes.
    ///
    /// - Parameter client: By default a client that is never shut down. Of another client, whose owner shuts it down,
    ///   its own configuration applies: time limits, connections, proxy, decompression and certificates. Only
    ///   `timeoutIntervalForResource`, which a client does not have, is still the session's. Make it with
    ///   `HTTPClient(configuration: .urlConfig)`: a client that follows redirects itself, or has a tracer, is refused.
    public static func asyncHTTPClient(_ client: HTTPClient = .shared) -> Self {
        let isShared = client === HTTPClient.shared
        let sender = AsyncHTTPClientSender(isShared ? nil : client)
        return .stoppingAtOnce(watchesSilence: isShared) {
            try await sender.response(to: $0)
        } within: {
            $0.session.configuration.resourceLimit
        }
    }
}

/// Sends a request once with AsyncHTTPClient.
struct AsyncHTTPClientSender {
    /// The caller's client; `nil` for one with the settings of the session.
    private let client: SharedClient?
    /// The configuration of the caller's client; `nil` if it cannot be found out.
    private let configuration: HTTPClient.Configuration?

    /// The number of closed connections after which a request fails.
    private static let mostClosed = 8

    init(_ client: HTTPClient?) {
        self.client = client.map { SharedClient($0) }
        configuration = client?.configuration
    }

    func response(to request: Transport.Request) async throws -> Transport.Response {
        try client?.client.checkIsForURLConfig(configuration)
        // On Apple platforms, it is a copy each time.
        let configuration = request.session.configuration
        try request.checkIsForAsyncHTTPClient(configuration)
        let urlRequest = request.complete(configuration)
        // There is no such name (RFC 1035 §2.3.4), and SOCKS crashes for it.
        if let url = urlRequest.url, url.absoluteString.utf8.count > 255,
            url.host(percentEncoded: false)?.utf8.count ?? 0 > 255
        {
            throw URLError(.cannotFindHost, userInfo: [NSURLErrorFailingURLErrorKey: url])
        }
        let response = try await request.traced(urlRequest) { urlRequest in
            do {
                let silence = request.call.silenceLimit(of: urlRequest)
                let client = try self.client ?? .with(Settings(configuration, urlRequest.url, silence: silence))
                defer { withExtendedLifetime(client) {} }
                return try await send(urlRequest, of: request, by: client)
            } catch {
                try Task.checkCancellation()
                throw error.asURLError(urlRequest.url)
            }
        }
        request.storeCookies(of: response)
        return response
    }

    /// - Parameter urlRequest: The request with the fields of the session's configuration.
    private func send(
        _ urlRequest: URLRequest, of request: Transport.Request, by client: SharedClient
    ) async throws -> Transport.Response {
        let (url, progress) = (request.urlRequest.url, request.call.progress)
        let (body, upload) = try await request.body?.forAsyncHTTPClient(progress) ?? (nil, nil)
        // `HTTPClient.Request` with a body crashes or hangs if the server responds before it reads.
        if body == nil {
            let complete = try HTTPClient.Request(urlRequest)
            let isShort = request.call.config.responseLimit ?? .max < ResponseReceiver.mostUnread
            let isWhole = request.isWhole && progress == nil && !isShort
            if let (head, body) = try await repeating({ try await client.response(to: complete, isWhole: isWhole) }) {
                return try received(
                    head.status, head.headers, to: request, Pieces(body: body, client: client, url: url))
            }
        }
        let complete = HTTPClientRequest(urlRequest, body)
        let response = try await repeating { try await client.client.execute(complete, deadline: .distantFuture) }
        guard response.history.count < 2 else { throw RequestError.hasFollowedRedirect }
        return try received(
            response.status, response.headers, to: request,
            Pieces(body: response.body, upload: upload, client: client, url: url))
    }

    /// Sends a request again if nothing was sent, because the connection of the pool was closed meanwhile.
    private func repeating<Response>(_ send: () async throws -> Response) async throws -> Response {
        // Without a `ConnectionGuard`, the error is the same after a part of the request was sent.
        let hasGuard = client == nil || configuration != nil
        for _ in 0..<(hasGuard ? Self.mostClosed : 0) {
            do {
                return try await send()
            } catch ChannelError.ioOnClosedChannel {
                try Task.checkCancellation()
            }
        }
        return try await send()
    }

    private func received<Body>(
        _ status: HTTPResponseStatus, _ headers: HTTPHeaders, to request: Transport.Request, _ pieces: Pieces<Body>
    ) throws -> Transport.Response {
        guard 0...999 ~= status.code else {
            throw RequestError(.invalidResponse, reason: "the response is not HTTP", request: request.urlRequest)
        }
        return Transport.Response(
            status: .init(code: Int(status.code)), headerFields: HTTPFields(received: headers),
            body: ResponseBody(pieces))
    }
}

extension RequestError {
    static var hasFollowedRedirect: Self {
        .refused(.invalidRequest, "the HTTPClient has followed a redirect itself")
    }
}

/// The pieces of a body, with the errors of a transport.
private struct Pieces<Body: AsyncSequence & Sendable>: AsyncSequence, Sendable where Body.Element == ByteBuffer {
    let body: Body
    /// What is sent meanwhile; `nil` if the request was sent as a whole.
    var upload: StreamPieces?
    /// It must not be shut down before the end of the body.
    let client: SharedClient
    let url: URL?

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self, body: body.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var body: Body.AsyncIterator

        mutating func next() async throws -> Data? {
            do {
                let piece = try await body.next()
                if piece == nil {
                    // A cancelled body looks like a complete one.
                    try Task.checkCancellation()
                    pieces.upload?.end()
                }
                return piece.map { Data(buffer: $0) }
            } catch {
                try Task.checkCancellation()
                throw error.asURLError(pieces.url)
            }
        }
    }
}

extension HTTPClient.Request {
    fileprivate init(_ request: URLRequest) throws {
        guard let url = request.url else { throw HTTPClientError.invalidURL }
        // The scheme must be in lower case.
        try self.init(
            url: url.withLowercasedScheme, method: .init(rawValue: request.httpMethod ?? "GET"),
            headers: HTTPHeaders(request))
    }
}

extension HTTPClientRequest {
    fileprivate init(_ request: URLRequest, _ body: Body?) {
        self.init(url: request.url?.withLowercasedScheme.absoluteString ?? "")
        method = .init(rawValue: request.httpMethod ?? "GET")
        headers = HTTPHeaders(request)
        self.body = body
    }
}

extension HTTPHeaders {
    fileprivate init(_ request: URLRequest) {
        self.init()
        for (name, value) in request.allHTTPHeaderFields ?? [:] { add(name: name, value: value) }
        if !contains(name: "User-Agent") { add(name: "User-Agent", value: Self.userAgent) }
        if !contains(name: "Accept") { add(name: "Accept", value: "*/*") }
    }

    /// Some servers refuse requests without this field.
    private static let userAgent: String = {
        let name = ProcessInfo.processInfo.processName.filter { HTTPField.Name(String($0)) != nil }
        return name.isEmpty ? "URLConfig" : "\(name) URLConfig"
    }()
}

#endif
