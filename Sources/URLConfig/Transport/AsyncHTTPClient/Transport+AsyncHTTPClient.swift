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
        let sender = AsyncHTTPClientSender(client === HTTPClient.shared ? nil : client)
        return .own { try await sender.response(to: $0) }
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
    /// The bytes of a body in memory at which the server must wait.
    static let memory = 1 << 17

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
                return try await send(urlRequest, of: request, configuration)
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
        _ urlRequest: URLRequest, of request: Transport.Request, _ configuration: URLSessionConfiguration
    ) async throws -> Transport.Response {
        let client = try client ?? .with(Settings(configuration, urlRequest.url))
        let url = request.urlRequest.url
        let body = ReceivedBody(memory: Self.memory)
        // It ends the transfer when it is released.
        let arriving = ResponseBody(body)
        let limits = timeLimits(of: request, configuration)
        // As with `URLSession`, the limits of a session are measured by the system's clock.
        let isOwn = urlRequest.customTimeLimit != nil
        let clock: any Clock<Duration> = isOwn ? request.conditions.clock : ContinuousClock()
        body.watch(limits, of: request, on: clock, since: clock.stopwatch())

        let headers = HTTPHeaders(urlRequest, decodes: decodes)
        // Opening a stream may block.
        let (content, upload) = try await request.conditions.deadline.run {
            try await request.body?.forAsyncHTTPClient(request.conditions.progress) ?? (nil, nil)
        }
        let makeDelivery: @Sendable () -> Delivery = {
            // Weak, because an idle connection keeps the last delivery.
            Delivery(to: url) { [weak body, weak upload] written in
                body?.touch()
                upload?.didWrite(written)
            }
        }
        let limit = [connectLimit(limits), request.conditions.deadline.remaining].compactMap { $0 }.min()
        let head = try await repeating(by: client, within: limit, makeDelivery) { delivery in
            try body.checkResult()
            var headers = headers
            if let delivery { headers.replaceOrAdd(name: Delivery.field, value: delivery.announce()) }
            // `HTTPClient.Request` with a body crashes or hangs if the server responds before it reads.
            if content == nil {
                let short = request.conditions.responseLimit ?? .max < Self.memory
                let complete = try HTTPClient.Request(urlRequest, headers)
                let head = try await client.receive(body, complete, delivery, isWhole: request.isWhole && !short)
                if let head { return head }
            }
            let complete = HTTPClientRequest(urlRequest, headers, content)
            return try await client.receive(body, complete, delivery, upload)
        }
        guard 0...999 ~= head.status.code else {
            throw RequestError(.invalidResponse, reason: "the response is not HTTP", request: request.urlRequest)
        }
        let codings = decodes ? head.headers.codings(for: headers, Int(head.status.code)) : []
        let decoded = codings.isEmpty ? arriving : try arriving.decoding(codings, of: url)
        decoded.received.limit(to: request.conditions.responseLimit)
        return Transport.Response(
            status: .init(code: Int(head.status.code)), headerFields: HTTPFields(received: head.headers), body: decoded)
    }

    /// The time limits of an attempt; those for silence of a caller's client are its own.
    private func timeLimits(of request: Transport.Request, _ configuration: URLSessionConfiguration) -> TimeLimits {
        var limits = request.timeLimits
        limits.whole = [limits.whole, configuration.resourceLimit].compactMap { $0 }.min()
        if client == nil, request.urlRequest.customTimeLimit == nil {
            limits.silence = Duration(timeoutInterval: configuration.timeoutIntervalForRequest)
        }
        return limits
    }

    /// The maximum time to wait for a connection; the default of AsyncHTTPClient is 10 seconds.
    private func connectLimit(_ limits: TimeLimits) -> Duration? {
        if client == nil { return [limits.silence, limits.whole].compactMap { $0 }.min() }
        return .nanoseconds((configuration?.timeout.connect ?? .seconds(10)).nanoseconds)
    }

    /// Sends a request again if nothing was sent, because there was no connection.
    ///
    /// - Parameter limit: The maximum time to wait for a connection; `nil` for no limit.
    private func repeating(
        by shared: SharedClient, within limit: Duration?, _ makeDelivery: @Sendable () -> Delivery,
        _ send: (Delivery?) async throws -> HTTPResponseHead
    ) async throws -> HTTPResponseHead {
        // Without a `ConnectionGuard`, it is not known whether something was sent.
        guard client == nil || configuration != nil else { return try await send(nil) }
        let start = ContinuousClock.now
        var establishing: Establishing?
        var closed = 0
        while true {
            let delivery = makeDelivery()
            defer { if !delivery.isSent { delivery.withdraw() } }
            do {
                let head = try await send(delivery)
                try shared.check(delivery)
                return head
            } catch ChannelError.ioOnClosedChannel
                where closed < Self.mostClosed && shared.isGuarded && !delivery.isSent
            {
                // The connection of the pool was closed meanwhile.
                closed += 1
            } catch {
                if establishing == nil { establishing = Establishing(to: delivery.url, within: limit, since: start) }
                guard shared.isGuarded || error is NIOConnectionError, !delivery.isSent,
                    let pause = establishing?.pause(after: error)
                else { throw error }
                try await Task.sleep(for: pause)
            }
            try Task.checkCancellation()
        }
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

    /// Some servers refuse requests without this field.
    private static let userAgent: String = {
        let name = ProcessInfo.processInfo.processName.filter { HTTPField.Name(String($0)) != nil }
        return name.isEmpty ? "URLConfig" : "\(name) URLConfig"
    }()
}

#endif
