#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One attempt to send a request, and its response, which the connection writes to the ``ReceivedBody``.
///
/// AsyncHTTPClient gives a connection only the head of a request. So a field of the head contains the number of the
/// delivery; ``ConnectionGuard`` removes it.
final class Delivery: HTTPClientResponseDelegate {
    private struct State {
        /// Whether a connection has begun to write the request, and whether it has written others before.
        var isSent = false
        var isReused = false
        var head: HTTPResponseHead?
        var isPaused = false
        /// Called when more may arrive.
        var resume: (@Sendable () -> Void)?
        /// Ends the transfer.
        var cancel: (@Sendable () -> Void)?
        var isOver = false
    }

    static let field = "urlconfig-delivery"
    /// The deliveries that no connection has.
    ///
    /// No number is used twice: what was given up may still be written.
    private static let waiting = Locked((last: 0, deliveries: [Int: Delivery]()))

    let number: Int
    private let url: URL?
    let body: ReceivedBody
    private let upload: UploadBody?
    private let isWhole: Bool
    let client: SharedClient
    /// The event loop of the request; `nil` if the client chooses it.
    let place: Int?
    private let state = Locked(State())
    private let head = OneShot<HTTPResponseHead>()

    /// - Parameters:
    ///   - upload: The body of the request, if it is read while it is sent.
    ///   - isWhole: Whether the head of the response is not needed before its body.
    ///   - place: What ``SharedClient/enter()`` has returned.
    init(
        of url: URL?, _ upload: UploadBody? = nil, to body: ReceivedBody, isWhole: Bool = false,
        by client: SharedClient, at place: Int? = nil
    ) {
        self.url = url
        self.body = body
        self.upload = upload
        self.isWhole = isWhole
        self.client = client
        self.place = place
        number = Self.waiting.withLock { waiting in
            waiting.last += 1
            return waiting.last
        }
        Self.waiting.withLock { $0.deliveries[number] = self }
    }

    /// The number of requests to a URL that no connection has.
    static func waiting(for url: URL?) -> Int { waiting.withLock { $0.deliveries.values.count { $0.url == url } } }

    /// Forgets the request, unless a connection has it.
    func withdraw() { _ = Self.take(number) }

    private static func take(_ number: Int) -> Delivery? {
        // It must not be released while the lock is held.
        waiting.withLock { $0.deliveries.removeValue(forKey: number) }
    }

    /// The head of the response.
    ///
    /// If the whole response is wanted, its body has also arrived, or as many bytes as may be in memory.
    ///
    /// - Parameter cancel: Ends the transfer.
    func head(cancel: @escaping @Sendable () -> Void) async throws -> HTTPResponseHead {
        state.withLock { if !$0.isOver { $0.cancel = cancel } }
        body.onSignal { [weak self] in self?.follow($0) }
        // It may have ended before somebody listened.
        if body.isOver { follow(.cancel) }
        return try await head.value { self.body.cancel() }
    }

    private func follow(_ signal: ReceivedBody.Signal) {
        switch signal {
        case .pause:
            let head = state.withLock { state in
                state.isPaused = true
                return state.head
            }
            if let head { pass(head) }
        case .resume:
            let resume = state.withLock { state in
                state.isPaused = false
                return state.resume.take()
            }
            resume?()
        case .cancel:
            let cancel = state.withLock { $0.cancel }
            // First, because AsyncHTTPClient would say that the request was cancelled, and not why.
            end()
            cancel?()
        }
    }

    private func pass(_ head: HTTPResponseHead) {
        body.didPassHead()
        self.head.resolve(.success(head))
    }

    /// Ends the attempt, unless it has ended.
    func end(_ result: Result<Void, any Error> = .success(())) {
        let before = state.withLock { state in
            defer { (state.isOver, state.cancel, state.resume) = (true, nil, nil) }
            return state
        }
        guard !before.isOver else { return }
        if let place { client.leave(place) }
        if before.isSent { upload?.end() }
        if let head = before.head {
            body.finish(result.mapError { $0.asURLError(url) })
            self.head.resolve(.success(head))
        } else {
            // The body has not failed, because another connection may be tried.
            self.head.resolve(
                Result {
                    try result.get()
                    try body.checkResult()
                    throw RequestError.refused(
                        "the HTTPClient lacks the debug initializers of .urlConfig; call them in your own ones")
                })
        }
    }

    /// Whether a part of the request's body was not sent yet.
    var isCut: Bool { upload?.isCut == true }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { end(.failure(error)) }

    func didFinishRequest(task: HTTPClient.Task<Void>) { end() }
}

/// The functions that a connection calls.
extension Delivery {
    /// The delivery whose request a connection begins to write; `nil` if it was withdrawn or has ended.
    ///
    /// - Parameters:
    ///   - number: The value of ``field``.
    ///   - isReused: Whether the connection has written other requests before.
    static func begin(_ number: String?, isReused: Bool) -> Delivery? {
        guard let delivery = number.flatMap({ Int($0) }).flatMap(take) else { return nil }
        let isOver = delivery.state.withLock { state in
            (state.isSent, state.isReused) = (true, isReused)
            return state.isOver
        }
        if isOver {
            // Its call has ended, and nothing else ends the upload.
            delivery.upload?.end()
            return nil
        }
        delivery.client.didShowGuard(delivery.url)
        delivery.body.touch()
        delivery.upload?.watch()
        Establishing.succeeded(to: delivery.url)
        return delivery
    }

    /// Bytes of the request's body were written.
    func didWrite(_ count: Int) {
        body.touch()
        upload?.didWrite(count)
    }

    func receive(_ head: HTTPResponseHead) {
        state.withLock { $0.head = head }
        body.restart()
        if !isWhole { pass(head) }
    }

    /// Whether nothing more must be read, because enough bytes are in memory.
    ///
    /// - Parameter resume: Called when more may be read.
    func waits(_ resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.isPaused { state.resume = resume }
            return state.isPaused
        }
    }

    /// Whether its connection has written other requests before.
    var isReused: Bool { state.withLock { $0.isReused } }

    /// Whether a connection has begun to write the request.
    var isSent: Bool { state.withLock { $0.isSent } }

    /// Whether an error before the response is the loss of a connection that was kept.
    func wasLost(_ error: any Error) -> Bool {
        var isLoss = error is IOError || error is ChannelError || error as? HTTPClientError == .remoteConnectionClosed
        #if canImport(Network)
        isLoss = isLoss || error is HTTPClient.NWPOSIXError
        #endif
        return isLoss && state.withLock { $0.isReused && $0.head == nil }
    }
}

/// Decides whether a call waits for another connection after one could not be established.
///
/// If one connection fails, AsyncHTTPClient fails all requests that wait for one to its host. Nothing of them was sent.
/// (Its option `retryConnectionEstablishment` tries a host that cannot be reached until the time limit.)
final class Establishing {
    /// The most failures without a success of any call to the host.
    private static let mostFailures = 3
    /// The most failures at all: other calls may have success on connections that are kept.
    private static let mostOfAll = 20
    /// The hosts of calls that wait again: how many calls, and how many requests were sent since.
    private static let hosts = Locked<[Origin: (calls: Int, sent: Int)]>([:])

    private let origin: Origin
    private let limit: Duration?
    private var failures = 0
    private var allFailures = 0
    /// The number of requests to the host that were sent before the last failure.
    private var sent: Int

    /// - Parameter limit: The maximum time to wait for a connection; `nil` for no limit.
    init(to url: URL?, within limit: Duration?) {
        let origin = Origin(url)
        (self.origin, self.limit) = (origin, limit)
        sent = Self.hosts.withLock { hosts in
            hosts[origin, default: (0, 0)].calls += 1
            return hosts[origin]?.sent ?? 0
        }
    }

    deinit {
        Self.hosts.withLock { hosts in
            hosts[origin]?.calls -= 1
            if hosts[origin]?.calls == 0 { hosts[origin] = nil }
        }
    }

    /// Notes that there is a connection to a host.
    static func succeeded(to url: URL?) {
        // Almost always, no call waits again.
        guard hosts.withLock({ !$0.isEmpty }) else { return }
        let origin = Origin(url)
        hosts.withLock { $0[origin]?.sent += 1 }
    }

    /// How long to wait after an error, before which nothing was sent; `nil` if it is final.
    ///
    /// - Parameter elapsed: The time since the attempt began.
    func pause(after error: any Error, _ elapsed: Duration) -> Duration? {
        func inTime(_ pause: Duration) -> Duration? { limit.map { elapsed + pause < $0 } ?? true ? pause : nil }
        // The client may wait for a shorter time than the call.
        if error.isClientTimeout { return inTime(.zero) }
        guard error.isFromEstablishing else { return nil }
        let now = Self.hosts.withLock { $0[origin]?.sent ?? 0 }
        failures = now == sent ? failures + 1 : 1
        sent = now
        allFailures += 1
        guard failures <= Self.mostFailures, allFailures <= Self.mostOfAll else { return nil }
        return inTime(.milliseconds(Int.random(in: 25...50) << min(allFailures, 5)))
    }
}

extension Error {
    /// Whether the client has waited for a connection for as long as it may.
    var isClientTimeout: Bool {
        [.connectTimeout, .getConnectionFromPoolTimeout].contains(self as? HTTPClientError)
    }

    /// Whether this may be the error of a connection that could not be established, but another one could.
    fileprivate var isFromEstablishing: Bool {
        let codes = [ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN]
        return switch self as any Error {
        case let error as NIOConnectionError:
            !error.connectionErrors.isEmpty && error.connectionErrors.allSatisfy(\.error.isFromEstablishing)
        case let error as IOError: codes.contains(error.errnoCode)
        // The connection was given up by its server when the request reached it.
        case let error as HTTPClientError: [.remoteConnectionClosed, .cancelled].contains(error)
        case NIOSSLError.handshakeFailed(let failure): "\(failure)".contains("EOF during handshake")
        // The connection was closed in the pool, or while it was established.
        case NIOSSLError.uncleanShutdown, ChannelError.ioOnClosedChannel, ChannelError.eof: true
        #if canImport(Network)
        case let error as HTTPClient.NWPOSIXError: codes.contains(error.errorCode.rawValue)
        #endif
        default: false
        }
    }
}

#endif
