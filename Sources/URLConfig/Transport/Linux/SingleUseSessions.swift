#if canImport(FoundationNetworking)

extension URLRequest {
    /// Whether libcurl could send it twice without asking, although its method is not idempotent.
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
        let begin: @Sendable (Exchange) -> Void
    }

    private struct Turns {
        var running = 0
        var waiting: ArraySlice<Waiting> = []
        /// How many may wait until those that were given up are looked for.
        var purge = 64

        /// - Returns: Those that are not wanted any more.
        mutating func add(_ new: Waiting) -> [Waiting] {
            waiting.append(new)
            guard waiting.count > purge else { return [] }
            let unwanted = waiting.filter { $0.exchange == nil }
            waiting.removeAll { $0.exchange == nil }
            purge = max(64, 2 * waiting.count)
            return unwanted
        }

        /// - Returns: The first that is still wanted, and those before it that are not.
        mutating func next() -> (next: (Exchange, Waiting)?, unwanted: [Waiting]) {
            var unwanted: [Waiting] = []
            while let waiting = waiting.popFirst() {
                if let exchange = waiting.exchange { return ((exchange, waiting), unwanted) }
                unwanted.append(waiting)
            }
            return (nil, unwanted)
        }
    }

    /// By host and port.
    private let turns = Locked<[String: Turns]>([:])

    /// How many exchanges wait, those included that are not wanted any more and were not looked for since.
    var waiting: Int { turns.withLock { $0.values.reduce(0) { $0 + $1.waiting.count } } }

    /// Begins an exchange when it has its turn.
    ///
    /// - Parameter session: The session whose configuration counts.
    func begin(_ exchange: Exchange, for request: URLRequest, of user: URLSession, like session: URLSession) {
        let host = "\(request.url?.host() ?? ""):\(request.url?.port ?? 0)"
        let begin = { @Sendable [self] (exchange: Exchange) in
            ShadowSession.queue(of: exchange).async {
                let isBegun = exchange.begin { self.task(for: request, exchange, of: user, like: session, host) }
                if !isBegun { self.next(host) }
            }
        }
        let most = max(1, session.configuration.httpMaximumConnectionsPerHost)
        // What is not wanted any more goes when the lock is free: it may hold the last reference to a caller's session.
        let (isTurn, _) = turns.withLock { turns in
            guard turns[host, default: Turns()].running >= most else {
                turns[host, default: Turns()].running += 1
                return (true, [] as [Waiting])
            }
            return (false, turns[host, default: Turns()].add(Waiting(exchange: exchange, begin: begin)))
        }
        if isTurn { begin(exchange) }
    }

    /// Gives the turn of one that has ended to the next that is still wanted.
    private func next(_ host: String) {
        let (next, _) = turns.withLock { turns in
            let result = turns[host, default: Turns()].next()
            if result.next == nil { turns[host]?.running -= 1 }
            if turns[host]?.running == 0 { turns[host] = nil }
            return result
        }
        if let (exchange, waiting) = next { waiting.begin(exchange) }
    }

    private func task(
        for request: URLRequest, _ exchange: Exchange, of user: URLSession, like session: URLSession, _ host: String
    ) -> URLSessionTask {
        let delegate = SessionDelegate { [self] in next(host) }
        let once = URLSession(configuration: session.configuration, delegate: delegate, delegateQueue: .immediate)
        let task = once.dataTask(with: request)
        delegate.connect(task, to: exchange, of: user)
        // The task, which has not begun yet, is finished first.
        once.finishTasksAndInvalidate()
        return task
    }
}

#endif
