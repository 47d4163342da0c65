#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A client for all sessions with the same settings; or the caller's client.
///
/// The library's client is shut down when it is not among the last used ones any more, and its last request has ended.
final class SharedClient: Sendable {
    private struct Clients {
        var clients: [Settings: (client: SharedClient, lastUse: Int)] = [:]
        var uses = 0
    }

    private struct Weak {
        weak var client: HTTPClient?
    }

    /// A service that has a proxy or a time limit for each of its users would otherwise fill its memory.
    private static let most = 64
    private static let clients = Locked(Clients())
    /// The callers' clients that have shown their guards.
    private static let guarded = Locked<[ObjectIdentifier: Weak]>([:])

    let client: HTTPClient
    /// `nil` if the owner of the client may shut them down: then its delegate would never be told of the end.
    let eventLoops: EventLoops?
    private let isOwn: Bool
    /// - Parameter client: The caller's client, which is never shut down.
    init(_ client: HTTPClient) {
        self.client = client
        let isDefault = client.eventLoopGroup === HTTPClient.defaultEventLoopGroup
        eventLoops = isDefault ? EventLoops(client.eventLoopGroup) : nil
        isOwn = false
    }

    private init(_ settings: Settings) {
        client = HTTPClient(configuration: settings.clientConfiguration)
        eventLoops = EventLoops(client.eventLoopGroup)
        isOwn = true
    }

    deinit {
        if isOwn { client.shutdown { _ in } }
    }

    /// Whether its connections certainly have a ``ConnectionGuard``.
    ///
    /// The caller may have replaced the initializers that add it, so a client of the caller shows it first.
    var isGuarded: Bool {
        isOwn || Self.guarded.withLock { $0[ObjectIdentifier(client)]?.client != nil }
    }

    /// - Parameter delivery: The delivery of a request whose response has arrived.
    /// - Throws: ``RequestError`` if the connection has no guard.
    func check(_ delivery: Delivery?) throws(RequestError) {
        guard let delivery, !isGuarded else { return }
        guard delivery.isSent else {
            throw .refused(
                .invalidRequest,
                "the debug initializers of the HTTPClient were replaced; call those of .urlConfig in yours")
        }
        Self.guarded.withLock { [client] guarded in
            guarded = guarded.filter { $0.value.client != nil }
            guarded[ObjectIdentifier(client)] = Weak(client: client)
        }
    }

    /// Sends a request without a body, and receives the body of its response.
    ///
    /// - Parameter isWhole: Whether the head is not needed before the body.
    /// - Returns: The head of the response; `nil` if nothing was sent, because the client does not use the event loops
    ///   of the library.
    func receive(
        _ body: ReceivedBody, _ request: HTTPClient.Request, _ delivery: Delivery?, isWhole: Bool
    ) async throws -> HTTPResponseHead? {
        try Task.checkCancellation()
        guard let (eventLoop, end) = eventLoops?.next() else { return nil }
        // The client must not be shut down before the end.
        let receiver = ResponseReceiver(body, on: eventLoop, delivery, isWhole: isWhole) { [self] in
            withExtendedLifetime(self) { end() }
        }
        let task = client.execute(request: request, delegate: receiver, eventLoop: .delegate(on: eventLoop))
        // If the client's owner has shut it down, only the task fails. Observing it may wake a thread.
        if !isOwn { task.futureResult.whenFailure { receiver.end(.failure($0)) } }
        return try await receiver.head(of: task)
    }

    /// Sends a request with a body, and receives the body of its response in a task.
    ///
    /// - Parameter upload: The body, if it is read while it is sent.
    /// - Returns: The head of the response.
    func receive(
        _ body: ReceivedBody, _ request: HTTPClientRequest, _ delivery: Delivery?, _ upload: StreamPieces?
    ) async throws -> HTTPResponseHead {
        let head = OneShot<HTTPResponseHead>()
        let pause = Locked<OneShot<Void>?>(nil)
        let work = Task { [self] in
            do {
                let response = try await client.execute(request, deadline: .distantFuture)
                guard response.history.count < 2 else { throw RequestError.hasFollowedRedirect }
                body.didPassHead()
                head.resolve(
                    .success(.init(version: response.version, status: response.status, headers: response.headers)))
                do {
                    for try await part in response.body {
                        if part.readableBytes > 0 { body.receive(Data(buffer: part)) }
                        try await pause.withLock { $0 }?.value()
                    }
                    // A cancelled body looks like a complete one.
                    try Task.checkCancellation()
                    upload?.end()
                    if let failure = delivery?.failure { throw failure }
                    body.finish()
                } catch {
                    body.finish(.failure(error.asURLError(delivery?.url)))
                }
            } catch {
                head.resolve(.failure(error))
            }
        }
        let follow: @Sendable (ReceivedBody.Signal) -> Void = { [weak body] signal in
            switch signal {
            case .pause: pause.set(\.self, OneShot())
            case .resume: pause.withLock { $0.take() }?.resolve(.success(()))
            case .cancel:
                pause.withLock { $0.take() }?.resolve(.success(()))
                head.resolve(Result { try body?.checkResult() }.flatMap { _ in .failure(CancellationError()) })
                // Cancelling calls the handlers of a caller's body.
                DispatchQueue.global().async { work.cancel() }
            }
        }
        body.onSignal(follow)
        // It may have ended before somebody listened.
        if body.isOver { follow(.cancel) }
        return try await head.value { body.cancel() }
    }

    /// The library's client with these settings.
    static func with(_ settings: Settings) -> SharedClient {
        // The other result is released when the lock is free.
        let (client, _) = clients.withLock { all in
            all.uses += 1
            if let client = all.clients[settings]?.client {
                all.clients[settings]?.lastUse = all.uses
                return (client, nil as SharedClient?)
            }
            let oldest = all.clients.count < most ? nil : all.clients.min { $0.value.lastUse < $1.value.lastUse }
            if let oldest { all.clients[oldest.key] = nil }
            let client = SharedClient(settings)
            all.clients[settings] = (client, all.uses)
            return (client, oldest?.value.client)
        }
        return client
    }
}

#endif
