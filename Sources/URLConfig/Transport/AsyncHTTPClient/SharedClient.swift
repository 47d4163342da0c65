#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// A client for all sessions with the same settings; or the caller's client.
///
/// It sends in two ways, because neither is good for all requests: with a delegate and a body, AsyncHTTPClient crashes
/// or hangs if the server responds before it reads. Its `async` functions cost about 20 % more for each call, because
/// threads wake each other more often.
final class SharedClient: Sendable {
    /// The settings that a client takes from a session's configuration.
    ///
    /// Time limits are not part of it, because the library watches them. So all calls to a host share its connections.
    struct Settings: Equatable {
        let connections: Int
        /// Whether the connections have no TLS, so that they cannot be HTTP/2.
        let isPlain: Bool
        let proxy: HTTPClient.Configuration.Proxy?

        init(_ configuration: URLSessionConfiguration, _ url: URL?) throws {
            connections = max(1, configuration.httpMaximumConnectionsPerHost)
            isPlain = url?.scheme?.lowercased() == "http"
            proxy = try url.flatMap {
                try HTTPClient.Configuration.Proxy(for: $0, configuration.connectionProxyDictionary)
            }
        }
    }

    /// A service that has a proxy for each of its users would otherwise fill its memory.
    private static let most = 64
    private static let mostGuarded = 1 << 12
    /// The last used one is the last.
    private static let clients = Locked([(settings: Settings, client: SharedClient)]())

    let client: HTTPClient
    /// Whether it is the library's, and shut down after its last request when it is no longer among the last used ones.
    let isOwn: Bool
    /// The event loops of requests with a delegate; none if the owner of the client may shut them down, because then
    /// the delegate would never be told of the end.
    private let eventLoops: [any EventLoop]
    /// How many requests each event loop has.
    private let loads: Locked<[Int]>
    /// The origins whose connections have shown their ``ConnectionGuard``: a caller may have replaced what adds it, for
    /// one of the protocols.
    private let guarded = Locked(Set<Origin>())

    /// - Parameter client: The caller's client, which is never shut down.
    convenience init(_ client: HTTPClient) { self.init(client, isOwn: false) }

    private init(_ client: HTTPClient, isOwn: Bool) {
        self.client = client
        self.isOwn = isOwn
        let isDefault = client.eventLoopGroup === HTTPClient.defaultEventLoopGroup
        // The clients do not all begin with the same one.
        eventLoops = isDefault ? client.eventLoopGroup.makeIterator().shuffled() : []
        loads = Locked(eventLoops.map { _ in 0 })
    }

    deinit {
        if isOwn { client.shutdown { _ in } }
    }

    /// The library's client with these settings.
    static func with(_ settings: Settings) -> SharedClient {
        // The other result is released when the lock is free.
        let (client, _) = clients.withLock { clients in
            let known = clients.firstIndex { $0.settings == settings }.map { clients.remove(at: $0).client }
            let oldest = known == nil && clients.count >= most ? clients.removeFirst().client : nil
            let client = known ?? SharedClient(settings)
            clients.append((settings, client))
            return (client, oldest)
        }
        return client
    }

    private convenience init(_ settings: Settings) {
        var configuration = HTTPClient.Configuration.urlConfig
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = settings.connections
        configuration.proxy = settings.proxy
        // AsyncHTTPClient expects HTTP/2 otherwise, and then opens most connections on one event loop.
        if settings.isPlain { configuration.httpVersion = .http1Only }
        self.init(HTTPClient(configuration: configuration), isOwn: true)
    }

    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the client has a tracer, whose
    ///   spans would contain secrets. All clients have one that were made without `urlConfig`.
    func check() throws(RequestError) {
        guard client.tracer != nil else { return }
        throw .refused(
            client === HTTPClient.shared
                ? "HTTPClient.shared follows redirects itself; use .asyncHTTPClient, without a client"
                : "the HTTPClient has a tracer, or may follow redirects itself; make it with "
                    + "HTTPClient(configuration: .urlConfig)")
    }

    /// The event loop with the fewest requests, which has one more now; `nil` if the client chooses.
    ///
    /// AsyncHTTPClient prefers an idle connection of this event loop. With another one, each part changes threads. So
    /// calls one after the other stay on one event loop.
    func enter() -> Int? {
        loads.withLock { loads in
            let place = loads.indices.min { loads[$0] < loads[$1] }
            if let place { loads[place] += 1 }
            return place
        }
    }

    /// Ends a request on an event loop.
    func leave(_ place: Int) { loads.withLock { $0[place] -= 1 } }

    func didShowGuard(_ url: URL?) {
        if isOwn { return }
        let origin = Origin(url)
        guarded.withLock { guarded in
            if guarded.count >= Self.mostGuarded { guarded = [] }
            guarded.insert(origin)
        }
    }

    /// Whether its connections to an origin have a guard, so that it is known whether a request was sent.
    func isGuarded(_ url: URL?) -> Bool { isOwn || guarded.withLock { $0.contains(Origin(url)) } }

    /// Sends a request once.
    ///
    /// - Parameter content: The body of the request.
    /// - Returns: The head of the response.
    func send(
        _ request: URLRequest, _ headers: HTTPHeaders, _ content: HTTPClientRequest.Body?, _ delivery: Delivery
    ) async throws -> HTTPResponseHead {
        guard let url = request.url?.withLowercasedScheme else { throw HTTPClientError.invalidURL }
        // It sends the path `/` instead.
        if url.absoluteString.utf8.contains(UInt8(ascii: "%")), url.path.isEmpty, url.path().utf8.count > 1 {
            let reason = "the path has percent-encoded bytes that are not UTF-8, which AsyncHTTPClient cannot send"
            throw RequestError(.invalidURL, reason: reason, request: request)
        }
        let method = HTTPMethod(rawValue: request.httpMethod ?? "GET")
        let cancel =
            if let place = delivery.place {
                try begin(url, method, headers, delivery, at: place)
            } else {
                begin(url, method, headers, content, delivery)
            }
        return try await delivery.head(cancel: cancel)
    }

    /// Begins to send a request without a body on an event loop; returns what cancels it.
    @inline(never)
    private func begin(
        _ url: URL, _ method: HTTPMethod, _ headers: HTTPHeaders, _ delivery: Delivery, at place: Int
    ) throws -> @Sendable () -> Void {
        let request = try HTTPClient.Request(url: url, method: method, headers: headers)
        let eventLoop = HTTPClient.EventLoopPreference.delegate(on: eventLoops[place])
        let task = client.execute(request: request, delegate: delivery, eventLoop: eventLoop)
        // If the client's owner has shut it down, only the task fails. Observing it may wake a thread.
        if !isOwn { task.futureResult.whenFailure { delivery.end(.failure($0)) } }
        return { task.cancel() }
    }

    /// Begins to send any other request; returns what cancels it.
    @inline(never)
    private func begin(
        _ url: URL, _ method: HTTPMethod, _ headers: HTTPHeaders, _ content: HTTPClientRequest.Body?,
        _ delivery: Delivery
    ) -> @Sendable () -> Void {
        var request = HTTPClientRequest(url: url.absoluteString)
        (request.method, request.headers, request.body) = (method, headers, content)
        // The delivery keeps this object, which would shut the client down.
        let work = Task { [client, request] in
            do {
                for try await _ in try await client.execute(request, deadline: .distantFuture).body {}
                delivery.end(.success(()))
            } catch {
                delivery.end(.failure(error))
            }
        }
        // Cancelling calls the handlers of a caller's body.
        return { DispatchQueue.global().async { work.cancel() } }
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
    /// Its debug initializers let the transport receive the responses, and tell whether a request was sent: keep them.
    /// It has no tracer, because its spans would contain secrets. It does not try to connect again, because the
    /// transport does. It waits for a connection for 60 seconds, and has no other time limits, because the limits of
    /// the session and of the request apply. Redirects and decompression are the transport's, whatever the
    /// configuration says about them.
    public static var urlConfig: Self {
        var configuration = Self(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(60)), decompression: .disabled)
        // Otherwise a host that cannot be reached is tried until the time limit.
        configuration.connectionPool.retryConnectionEstablishment = false
        // As above, on Apple platforms.
        configuration.networkFrameworkWaitForConnectivity = false
        configuration.tracing.tracer = nil
        // SwiftNIO crashes when the numbers of the streams of a connection are used up, after 1 << 30 of them.
        configuration.maximumUsesPerConnection = 1 << 29
        configuration.http1_1ConnectionDebugInitializer = ConnectionGuard.add(toConnection:)
        configuration.http2StreamChannelDebugInitializer = ConnectionGuard.add(toStream:)
        configuration.http2ConnectionDebugInitializer = GoAwayGuard.add(to:)
        return configuration
    }
}

#endif
