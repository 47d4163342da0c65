#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// Decides whether a call waits for another connection after one could not be established.
///
/// If one connection fails, AsyncHTTPClient fails all requests that wait for one to its host. Nothing of them was sent.
/// (Its option `retryConnectionEstablishment` tries a host that cannot be reached until the time limit.)
final class Establishing {
    /// The most failures without a success of any call to the host.
    private static let mostFailures = 3
    /// The most failures at all: other calls may have success on connections that are kept.
    private static let mostOfAll = 20
    /// The hosts of calls that wait again: how many calls, and how many requests were sent meanwhile.
    private static let hosts = Locked<[Origin: (calls: Int, sent: Int)]>([:])

    private let url: URL?
    private lazy var origin = Origin(url)
    private let limit: Duration?
    private let start: ContinuousClock.Instant
    private var failures = 0
    private var allFailures = 0
    /// The number of requests to the host that were sent before the last failure; `nil` before the first failure.
    private var sent: Int?

    /// - Parameter limit: The maximum time to wait for a connection; `nil` for no limit.
    init(to url: URL?, within limit: Duration?, since start: ContinuousClock.Instant = .now) {
        self.url = url
        self.limit = limit
        self.start = start
    }

    deinit {
        guard sent != nil else { return }
        let origin = origin
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
    func pause(after error: any Error) -> Duration? {
        // The client may wait for a shorter time than the call.
        if error.isClientTimeout { return limit.map { start.duration(to: .now) < $0 } ?? true ? .zero : nil }
        guard error.isFromEstablishing else { return nil }
        let origin = origin
        let sent = Self.hosts.withLock { hosts in
            if self.sent == nil { hosts[origin, default: (0, 0)].calls += 1 }
            return hosts[origin]?.sent ?? 0
        }
        failures = sent == self.sent ?? sent ? failures + 1 : 1
        self.sent = sent
        allFailures += 1
        guard failures <= Self.mostFailures, allFailures <= Self.mostOfAll else { return nil }
        let pause = Duration.milliseconds(Int.random(in: 25...50) << min(allFailures, 5))
        return limit.map { start.duration(to: .now) + pause < $0 } ?? true ? pause : nil
    }
}

extension Error {
    /// Whether the client has waited for a connection for as long as it may.
    fileprivate var isClientTimeout: Bool {
        [.connectTimeout, .getConnectionFromPoolTimeout].contains(self as? HTTPClientError)
    }

    /// Whether this may be the error of a connection that could not be established, but another one could.
    fileprivate var isFromEstablishing: Bool {
        switch self as any Error {
        case let error as NIOConnectionError:
            !error.connectionErrors.isEmpty && error.connectionErrors.allSatisfy(\.error.isFromEstablishing)
        case let error as IOError: [ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN].contains(error.errnoCode)
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case NIOSSLError.handshakeFailed(let failure): "\(failure)".contains("EOF during handshake")
        case NIOSSLError.uncleanShutdown, ChannelError.eof: true
        #if canImport(Network)
        case let error as HTTPClient.NWPOSIXError:
            [ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN].contains(error.errorCode.rawValue)
        #endif
        default: false
        }
    }
}

#endif
