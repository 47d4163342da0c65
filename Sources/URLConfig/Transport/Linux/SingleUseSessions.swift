#if canImport(FoundationNetworking)

extension URLRequest {
    /// Whether libcurl could send it twice although its method is not idempotent.
    ///
    /// libcurl does so when a kept connection is closed before a response. It asks only for a body.
    var needsNewConnection: Bool { !hasIdempotentMethod && (bodyLength ?? 0) == 0 }
}

/// Sends each request over a connection that had no request before.
///
/// Each has a session of its own, because only a new session surely has no connection. As many requests are under way
/// as the configuration allows connections to one host; the others wait for their turn.
final class SingleUseSessions: Sendable {
    private struct Waiting {
        weak var exchange: Exchange?
        let request: URLRequest
    }

    private struct Turns {
        var running = 0
        var waiting: ArraySlice<Waiting> = []
        /// How many may wait until those that were given up are looked for.
        var purge = 64
    }

    private let configuration: URLSessionConfiguration
    /// By host and port.
    private let turns = Locked<[String: Turns]>([:])

    /// How many wait, some of which may have been given up.
    var waiting: Int { turns.withLock { $0.values.reduce(0) { $0 + $1.waiting.count } } }

    init(_ configuration: URLSessionConfiguration) {
        self.configuration = configuration
    }

    func begin(_ exchange: Exchange, for request: URLRequest) {
        let host = "\(request.url?.host() ?? ""):\(request.url?.port ?? 0)"
        let isTurn = turns.withLock { [most = max(1, configuration.httpMaximumConnectionsPerHost)] all in
            var turns = all[host, default: Turns()]
            defer { all[host] = turns }
            guard turns.running >= most else {
                turns.running += 1
                return true
            }
            turns.waiting.append(Waiting(exchange: exchange, request: request))
            if turns.waiting.count > turns.purge {
                turns.waiting.removeAll { $0.exchange == nil }
                turns.purge = max(64, 2 * turns.waiting.count)
            }
            return false
        }
        if isTurn { begin(exchange, request, host) }
    }

    private func begin(_ exchange: Exchange, _ request: URLRequest, _ host: String) {
        ShadowSession.queue(of: exchange).async { [self] in
            let isBegun = exchange.begin {
                let delegate = SessionDelegate { [self] in next(host) }
                let once = URLSession(
                    configuration: configuration, delegate: delegate, delegateQueue: ImmediateQueue.shared)
                let task = once.dataTask(with: request)
                delegate.connect(task, to: exchange)
                // The task, which has not begun yet, is finished first.
                once.finishTasksAndInvalidate()
                return task
            }
            if !isBegun { next(host) }
        }
    }

    private func next(_ host: String) {
        let next: (Exchange, URLRequest)? = turns.withLock { turns in
            while let waiting = turns[host]?.waiting.popFirst() {
                if let exchange = waiting.exchange { return (exchange, waiting.request) }
            }
            turns[host]?.running -= 1
            if turns[host]?.running == 0 { turns[host] = nil }
            return nil
        }
        if let (exchange, request) = next { begin(exchange, request, host) }
    }
}

#endif
