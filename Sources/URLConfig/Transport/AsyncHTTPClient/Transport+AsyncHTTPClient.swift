#if AsyncHTTPClient

import AsyncHTTPClient
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix

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
    /// Whether bodies are decoded here, and not by the caller's client.
    private let decodes: Bool

    /// The number of closed connections after which a request fails.
    private static let mostClosed = 8

    init(_ client: HTTPClient?) {
        self.client = client.map { SharedClient($0) }
        configuration = client?.configuration
        if client == nil {
            decodes = true
        } else if case .disabled = configuration?.decompression {
            decodes = true
        } else {
            decodes = false
        }
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
                let (client, limit) = try client(for: request, urlRequest, configuration)
                defer { withExtendedLifetime(client) {} }
                return try await send(urlRequest, of: request, by: client, within: limit)
            } catch {
                try Task.checkCancellation()
                throw error.asURLError(urlRequest.url)
            }
        }
        request.storeCookies(of: response)
        return response
    }

    /// The client for a request, and its time limit for a connection.
    private func client(
        for request: Transport.Request, _ urlRequest: URLRequest, _ configuration: URLSessionConfiguration
    ) throws -> (SharedClient, Duration) {
        if let client {
            // The default of AsyncHTTPClient.
            let limit = self.configuration?.timeout.connect ?? .seconds(10)
            return (client, .nanoseconds(limit.nanoseconds))
        }
        let silence = request.conditions.silenceLimit(of: urlRequest)
        let settings = try Settings(configuration, urlRequest.url, silence: silence)
        return (.with(settings), settings.connectLimit)
    }

    /// - Parameters:
    ///   - urlRequest: The request with the fields of the session's configuration.
    ///   - limit: The maximum time to wait for a connection.
    private func send(
        _ urlRequest: URLRequest, of request: Transport.Request, by client: SharedClient, within limit: Duration
    ) async throws -> Transport.Response {
        let (url, progress) = (request.urlRequest.url, request.conditions.progress)
        let (body, upload) = try await request.body?.forAsyncHTTPClient(progress) ?? (nil, nil)
        let headers = HTTPHeaders(urlRequest, decodes: decodes)
        // `HTTPClient.Request` with a body crashes or hangs if the server responds before it reads.
        if body == nil {
            let complete = try HTTPClient.Request(urlRequest, headers)
            let isShort = request.conditions.responseLimit ?? .max < ResponseReceiver.mostUnread
            let isWhole = request.isWhole && progress == nil && !isShort
            let (response, delivery) = try await repeating(url, by: client, within: limit) { delivery in
                var complete = complete
                complete.headers.add(delivery)
                return try await client.response(to: complete, isWhole: isWhole)
            }
            if let (head, body) = response {
                try client.check(delivery)
                let pieces = Pieces(
                    body: body, client: client, delivery: delivery, url: url,
                    codings: decodes ? head.headers.codings(for: headers, Int(head.status.code)) : [])
                return try received(head.status, head.headers, to: request, pieces)
            }
        }
        let complete = HTTPClientRequest(urlRequest, headers, body)
        let (response, delivery) = try await repeating(url, by: client, within: limit) { delivery in
            var complete = complete
            complete.headers.add(delivery)
            return try await client.client.execute(complete, deadline: .distantFuture)
        }
        try client.check(delivery)
        guard response.history.count < 2 else { throw RequestError.hasFollowedRedirect }
        let pieces = Pieces(
            body: response.body, upload: upload, client: client, delivery: delivery, url: url,
            codings: decodes ? response.headers.codings(for: headers, Int(response.status.code)) : [])
        return try received(response.status, response.headers, to: request, pieces)
    }

    /// Sends a request again if nothing was sent, because there was no connection.
    ///
    /// - Parameter limit: The maximum time to wait for a connection.
    private func repeating<Response: Sendable>(
        _ url: URL?, by shared: SharedClient, within limit: Duration,
        _ send: @escaping @Sendable (Delivery?) async throws -> Response
    ) async throws -> (Response, Delivery?) {
        // Without a `ConnectionGuard`, it is not known whether something was sent.
        guard client == nil || configuration != nil else { return (try await send(nil), nil) }
        let establishing = Establishing(to: url, within: limit)
        var closed = 0
        while true {
            let delivery = Delivery(to: url)
            defer { if !delivery.isSent { delivery.withdraw() } }
            do {
                return (try await establishing.send(delivery) { try await send(delivery) }, delivery)
            } catch ChannelError.ioOnClosedChannel
                where closed < Self.mostClosed && shared.isGuarded && !delivery.isSent
            {
                // The connection of the pool was closed meanwhile.
                closed += 1
            } catch {
                guard shared.isGuarded || error is NIOConnectionError, !delivery.isSent,
                    let pause = establishing.pause(after: error)
                else { throw error }
                try await Task.sleep(for: pause)
            }
            try Task.checkCancellation()
        }
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

extension HTTPClient.Request {
    fileprivate init(_ request: URLRequest, _ headers: HTTPHeaders) throws {
        guard let url = request.url else { throw HTTPClientError.invalidURL }
        // The scheme must be in lower case.
        try self.init(
            url: url.withLowercasedScheme, method: .init(rawValue: request.httpMethod ?? "GET"),
            headers: headers)
    }
}

extension HTTPClientRequest {
    fileprivate init(_ request: URLRequest, _ headers: HTTPHeaders, _ body: Body?) {
        self.init(url: request.url?.withLowercasedScheme.absoluteString ?? "")
        method = .init(rawValue: request.httpMethod ?? "GET")
        self.headers = headers
        self.body = body
    }
}

extension HTTPHeaders {
    /// - Parameter decodes: Whether bodies are decoded here.
    fileprivate init(_ request: URLRequest, decodes: Bool) {
        self.init()
        for (name, value) in request.allHTTPHeaderFields ?? [:] { add(name: name, value: value) }
        if !contains(name: "User-Agent") { add(name: "User-Agent", value: Self.userAgent) }
        if !contains(name: "Accept") { add(name: "Accept", value: "*/*") }
        if decodes, !contains(name: "Accept-Encoding") { add(name: "Accept-Encoding", value: "gzip, deflate") }
    }

    fileprivate mutating func add(_ delivery: Delivery?) {
        if let delivery { replaceOrAdd(name: Delivery.field, value: delivery.announce()) }
    }

    /// Some servers refuse requests without this field.
    private static let userAgent: String = {
        let name = ProcessInfo.processInfo.processName.filter { HTTPField.Name(String($0)) != nil }
        return name.isEmpty ? "URLConfig" : "\(name) URLConfig"
    }()
}

#endif
