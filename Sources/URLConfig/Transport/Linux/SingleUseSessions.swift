#if canImport(FoundationNetworking)

/// Sends each request that must not be sent twice on a new connection.
///
/// libcurl sends a request again if a reused connection is closed before a response. If there is a body, it asks for it
/// again, but only after it has sent the head again, and a server may act on the head.
///
/// Each request has its own session, because only a new session certainly has no open connection. For each host, at
/// most `httpMaximumConnectionsPerHost` requests run at a time. The others wait.
final class SingleUseSessions: Sendable {
    private struct Waiting {
        weak var exchange: Exchange?
        let request: URLRequest
    }

    private struct Host {
        var running = 0
        var waiting: ArraySlice<Waiting> = []
        /// If more requests wait, those that have already ended are removed.
        var purge = 64

        mutating func append(_ new: Waiting) {
            waiting.append(new)
            guard waiting.count > purge else { return }
            waiting.removeAll { $0.exchange == nil }
            purge = max(64, 2 * waiting.count)
        }

        mutating func next(_ most: Int) -> (Exchange, URLRequest)? {
            while running < most, let next = waiting.popFirst() {
                guard let exchange = next.exchange else { continue }
                running += 1
                return (exchange, next.request)
            }
            return nil
        }
    }

    private let configuration: URLSessionConfiguration
    /// By host and port.
    private let hosts = Locked<[String: Host]>([:])

    /// The number of waiting requests, including some that have already ended.
    var waiting: Int { hosts.withLock { $0.values.reduce(0) { $0 + $1.waiting.count } } }

    init(_ configuration: URLSessionConfiguration) {
        self.configuration = configuration
    }

    func begin(_ exchange: Exchange, for request: URLRequest) {
        var request = request
        // Then the server closes the connection. Otherwise each of many requests would keep a local port for a minute.
        if request.value(forHTTPHeaderField: "Connection") == nil {
            request.setValue("close", forHTTPHeaderField: "Connection")
        }
        let host = "\(request.url?.host() ?? ""):\(request.url?.port ?? 0)"
        hosts.withLock { [request] in $0[host, default: Host()].append(Waiting(exchange: exchange, request: request)) }
        beginNext(host)
    }

    /// - Parameter ended: The number of requests that have just ended.
    private func beginNext(_ host: String, ended: Int = 0) {
        let next = hosts.withLock { [most = max(1, configuration.httpMaximumConnectionsPerHost)] hosts in
            hosts[host]?.running -= ended
            let next = hosts[host]?.next(most)
            if hosts[host]?.running == 0 { hosts[host] = nil }
            return next
        }
        guard let (exchange, request) = next else { return }
        ShadowSession.queue(of: exchange).async { [self] in
            let isBegun = exchange.begin {
                let delegate = SessionDelegate { [self] in beginNext(host, ended: 1) }
                let once = URLSession(
                    configuration: configuration, delegate: delegate, delegateQueue: ImmediateQueue.shared)
                let task = once.dataTask(with: request)
                delegate.connect(task, to: exchange)
                // The session is invalidated after the task has ended.
                once.finishTasksAndInvalidate()
                return task
            }
            if !isBegun { beginNext(host, ended: 1) }
        }
    }
}

#endif
