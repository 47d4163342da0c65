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
    ///   `HTTPClient(configuration: .urlConfig)`: a client that follows redirects itself is refused.
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
        guard configuration?.isForURLConfig ?? true else {
            throw RequestError.refused(
                .invalidRequest,
                "the HTTPClient may follow redirects itself; make it with HTTPClient(configuration: .urlConfig)")
        }
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
        do {
            let silence = request.call.silenceLimit(of: urlRequest)
            let redaction = request.call.config.redaction
            let client = try self.client ?? .with(Settings(configuration, urlRequest.url, silence: silence, redaction))
            defer { withExtendedLifetime(client) {} }
            let (body, upload) = try await request.body?.forAsyncHTTPClient(request.call.progress) ?? (nil, nil)
            let response = try await executed(HTTPClientRequest(urlRequest, body), by: client.client)
            return try received(
                response, to: request,
                Pieces(body: response.body, upload: upload, client: client, url: request.urlRequest.url))
        } catch {
            try Task.checkCancellation()
            throw error.asURLError(urlRequest.url)
        }
    }

    /// Executes a request again if nothing was sent, because the connection of the pool was closed meanwhile.
    private func executed(_ request: HTTPClientRequest, by client: HTTPClient) async throws -> HTTPClientResponse {
        // Without a `ConnectionGuard`, the error is the same after a part of the request was sent.
        let hasGuard = self.client == nil || configuration != nil
        for _ in 0..<(hasGuard ? Self.mostClosed : 0) {
            do {
                return try await client.execute(request, deadline: .distantFuture)
            } catch ChannelError.ioOnClosedChannel {
                try Task.checkCancellation()
            }
        }
        return try await client.execute(request, deadline: .distantFuture)
    }

    private func received(
        _ response: HTTPClientResponse, to request: Transport.Request, _ pieces: Pieces
    ) throws -> Transport.Response {
        guard response.history.count < 2 else {
            throw RequestError.refused(.invalidRequest, "the HTTPClient has followed a redirect itself")
        }
        guard 0...999 ~= response.status.code else {
            throw RequestError(.invalidResponse, reason: "the response is not HTTP", request: request.urlRequest)
        }
        let received = Transport.Response(
            status: .init(integerLiteral: Int(response.status.code)),
            headerFields: HTTPFields(received: response.headers), body: ResponseBody(pieces))
        request.storeCookies(of: received)
        return received
    }
}

/// The pieces of a body, with the errors of a transport.
private struct Pieces: AsyncSequence, Sendable {
    let body: HTTPClientResponse.Body
    let upload: StreamPieces?
    /// It must not be shut down before the end of the body.
    let client: SharedClient
    let url: URL?

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self, body: body.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var body: HTTPClientResponse.Body.AsyncIterator

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

extension HTTPClientRequest {
    fileprivate init(_ request: URLRequest, _ body: Body?) {
        // The scheme must be in lower case.
        self.init(url: request.url?.withLowercasedScheme.absoluteString ?? "")
        method = .init(rawValue: request.httpMethod ?? "GET")
        for (name, value) in request.allHTTPHeaderFields ?? [:] { headers.add(name: name, value: value) }
        if !headers.contains(name: "User-Agent") { headers.add(name: "User-Agent", value: Self.userAgent) }
        if !headers.contains(name: "Accept") { headers.add(name: "Accept", value: "*/*") }
        self.body = body
    }

    /// Some servers refuse requests without this field.
    private static let userAgent: String = {
        let name = ProcessInfo.processInfo.processName.filter { HTTPField.Name(String($0)) != nil }
        return name.isEmpty ? "URLConfig" : "\(name) URLConfig"
    }()
}

#endif
