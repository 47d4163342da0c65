#if AsyncHTTPClient

import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

extension Transport {
    /// Sends requests with AsyncHTTPClient, for services; needs the package trait `AsyncHTTPClient`.
    ///
    /// ```swift
    /// URLSession.Config.default.transport = .asyncHTTPClient      // for all calls of the process
    /// ```
    ///
    /// It uses these properties of the session's configuration: `timeoutIntervalForRequest`,
    /// `timeoutIntervalForResource`, `httpMaximumConnectionsPerHost`, `httpAdditionalHeaders`, the cookie settings and
    /// `connectionProxyDictionary`, or the environment's proxies if that is `nil`. It does not use delegates and stored
    /// credentials, and warns about them. It refuses sessions with custom `URLProtocol` classes.
    ///
    /// The clients are the library's, and are never shut down while they are used.
    public static let asyncHTTPClient = Self(identity: Identity(), isBuiltIn: true) { try await $0.response(by: nil) }

    /// Sends requests with this client of AsyncHTTPClient; needs the package trait `AsyncHTTPClient`.
    ///
    /// The client decides about connections, proxy and certificates. Everything else is as with ``asyncHTTPClient``. A
    /// time limit of the client also applies.
    ///
    /// - Parameter client: The client, which its owner shuts down. Make it with
    ///   `HTTPClient(configuration: .urlConfig)`. Calls throw ``RequestError`` with code
    ///   ``RequestError/Code/invalidRequest`` if it has a tracer, as `HTTPClient.shared` has, or if its connections do
    ///   not have the debug initializers of `urlConfig`.
    public static func asyncHTTPClient(_ client: HTTPClient) -> Self {
        let client = SharedClient(client)
        return Self(identity: client, isBuiltIn: true) { try await $0.response(by: client) }
    }
}

extension Transport.Request {
    /// The bytes of a body in memory at which the server must wait.
    private static let memory = 1 << 17

    /// Foundation's own classes.
    ///
    /// On Linux, the shared session has one more than a default configuration.
    private static let standardProtocolClasses = Set(
        [URLSessionConfiguration.default, URLSession.shared.configuration].flatMap { $0.protocolClasses ?? [] }
            .map { ObjectIdentifier($0) })

    /// Sends this request once.
    ///
    /// - Parameter client: The caller's client; `nil` for one with the settings of the session.
    fileprivate func response(by client: SharedClient?) async throws -> Transport.Response {
        try client?.check()
        // On Apple platforms, it is a copy each time.
        let configuration = session.configuration
        try check(configuration)
        let complete = complete(configuration)
        if complete.value(forHTTPHeaderField: HTTPHeaders.proxyAuthorization) != nil {
            conditions.logger?.warning(
                """
                asyncHTTPClient does not send Proxy-Authorization; name the user in the proxy's URL, or set the proxy \
                of a client
                """)
        }
        do {
            let response = try await send(complete, by: client, configuration)
            storeCookies(of: response)
            return response
        } catch {
            try Task.checkCancellation()
            throw error.asURLError(complete.url)
        }
    }

    /// Warns about settings of the session and the call that AsyncHTTPClient does not use.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` for a session whose requests must not
    ///   go to the network; `URLError` for the name of a host that cannot exist.
    private func check(_ configuration: URLSessionConfiguration) throws {
        let standard = Self.standardProtocolClasses
        if let custom = configuration.protocolClasses?.first(where: { !standard.contains(ObjectIdentifier($0)) }) {
            throw RequestError.refused(
                "the session has the URLProtocol class \(custom), which asyncHTTPClient does not use; set another "
                    + "transport, such as .urlSession")
        }
        #if !canImport(FoundationNetworking)
        guard configuration.identifier == nil else {
            throw RequestError.refused("a background session is not supported; use another session")
        }
        #endif
        // RFC 1035 §2.3.4; SOCKS crashes for a longer name.
        if let url = urlRequest.url, url.absoluteString.utf8.count > 255,
            url.host(percentEncoded: false)?.utf8.count ?? 0 > 255
        {
            throw URLError(.cannotFindHost, userInfo: [NSURLErrorFailingURLErrorKey: url])
        }
        func warn(_ what: String) { conditions.logger?.warning("asyncHTTPClient does not use \(what)") }
        if conditions.taskDelegate != nil { warn("a task delegate") }
        if session.delegate != nil { warn("the session's delegate") }
        if configuration.urlCredentialStorage?.allCredentials.isEmpty == false { warn("the stored credentials") }
    }

    /// - Parameter complete: The request with the fields of the session's configuration.
    private func send(
        _ complete: URLRequest, by client: SharedClient?, _ configuration: URLSessionConfiguration
    ) async throws -> Transport.Response {
        let client = try client ?? .with(SharedClient.Settings(configuration, complete.url))
        let received = ReceivedBody(memory: Self.memory)
        // It ends the transfer when it is released.
        let body = ResponseBody(received)
        let (limits, elapsed) = watch(received, configuration)
        // Opening a stream may block.
        let (content, stream) = try await conditions.deadline.run {
            try await self.body?.forAsyncHTTPClient(conditions.progress) ?? (nil, nil)
        }
        let limit = [limits.silence, limits.whole, conditions.deadline.remaining].compactMap { $0 }.min()
        if content == nil, let stream { try await readEmpty(stream, within: limit) }
        let upload = content == nil ? nil : stream

        var headers = HTTPHeaders(complete)
        // The whole body would not arrive if the limit is shorter than what may be in memory.
        let isWhole = isWhole && content == nil && conditions.responseLimit ?? .max >= Self.memory
        var establishing: Establishing?
        while true {
            try received.checkResult()
            try Task.checkCancellation()
            let place = content == nil ? client.enter() : nil
            let delivery = Delivery(of: complete.url, upload, to: received, isWhole: isWhole, by: client, at: place)
            headers.replaceOrAdd(name: Delivery.field, value: "\(delivery.number)")
            let head: HTTPResponseHead
            do {
                head = try await client.send(complete, headers, content, delivery)
            } catch {
                delivery.withdraw()
                delivery.end(.failure(error))
                if delivery.wasLost(error) { throw Transport.LostConnection(underlyingError: error) }
                let isKnown = error is NIOConnectionError || client.isGuarded(complete.url)
                let isUnsent = isKnown && !delivery.isSent && upload?.isAsked != true
                guard isUnsent, client.isOwn || !error.isClientTimeout else { throw error }
                if establishing == nil { establishing = Establishing(to: complete.url, within: limit) }
                guard let pause = establishing?.pause(after: error, elapsed()) else { throw error }
                try await Task.sleep(for: pause)
                continue
            }
            return try response(head, body, to: headers, isReused: delivery.isReused)
        }
    }

    /// Reads a stream that should be empty, which throws if it is not.
    private func readEmpty(_ stream: UploadBody, within limit: Duration?) async throws {
        let timer = Deadline(limit, conditions.clock) { [url = urlRequest.url] limit, _ in
            URLError(timedOut: url, after: limit)
        }
        try await conditions.deadline.run(leavesAlone: true) {
            try await timer.run { for try await _ in stream {} }
        }
    }

    /// Watches the time limits of an attempt that begins now; returns them, and what measures the time since now.
    @inline(never)
    private func watch(
        _ body: ReceivedBody, _ configuration: URLSessionConfiguration
    ) -> (TimeLimits, @Sendable () -> Duration) {
        var (limits, clock) = timeLimits(configuration)
        limits.whole = [limits.whole, configuration.resourceLimit].compactMap { $0 }.min()
        let elapsed = clock.stopwatch()
        body.watch(limits, of: self, on: clock, since: elapsed)
        return (limits, elapsed)
    }

    /// The response with its body decoded.
    ///
    /// - Parameter headers: The header fields that were sent.
    @inline(never)
    private func response(
        _ head: HTTPResponseHead, _ body: ResponseBody, to headers: HTTPHeaders, isReused: Bool
    ) throws -> Transport.Response {
        let codings = head.headers.codings(for: headers, Int(head.status.code))
        let decoded = codings.isEmpty ? body : try body.decoding(codings, of: urlRequest.url)
        decoded.received.limit(to: conditions.responseLimit)
        var response = Transport.Response(
            status: .init(code: Int(head.status.code)), headerFields: HTTPFields(received: head.headers), body: decoded)
        response.connection = { [version = head.version] in
            guard version.major > 1 else { return .init(protocolName: "\(version)".lowercased(), isReused: isReused) }
            // The handler of a stream does not know the streams before it.
            return .init(protocolName: "h\(version.major)")
        }
        return response
    }
}

extension HTTPHeaders {
    fileprivate init(_ request: URLRequest) {
        self.init()
        for (name, value) in request.allHTTPHeaderFields ?? [:] { add(name: name, value: value) }
        // AsyncHTTPClient sends the fields of a request to the origin only, even through a proxy (RFC 9110 §11.7.2).
        remove(name: Self.proxyAuthorization)
        if !contains(name: "User-Agent") { add(name: "User-Agent", value: Self.userAgent) }
        if !contains(name: "Accept") { add(name: "Accept", value: "*/*") }
        if !contains(name: "Accept-Encoding") { add(name: "Accept-Encoding", value: "gzip, deflate") }
    }

    fileprivate static let proxyAuthorization = "Proxy-Authorization"

    /// Some servers refuse requests without this field.
    private static let userAgent: String = {
        let name = ProcessInfo.processInfo.processName.filter { HTTPField.Name(String($0)) != nil }
        return name.isEmpty ? "URLConfig" : "\(name) URLConfig"
    }()
}

#endif
