#if canImport(FoundationNetworking)

extension URLRequest {
    /// Whether libcurl would send it again unseen if a connection that it kept is closed before a response, and must not.
    ///
    /// It asks for a body that it has begun to send; where there is none, it asks nobody.
    var mustHaveOwnConnection: Bool { !hasIdempotentMethod && (bodyLength ?? 0) == 0 }
}

/// Sends requests over connections that had no request before: each in a session of its own, for only a new one surely has no
/// connection.
///
/// A session would open no more than a few connections to a host; so as many exchanges have their turn, and the others wait.
final class OwnConnections: Sendable {
    private struct Waiting {
        weak var exchange: Exchange?
        let begin: @Sendable (Exchange) -> Void
    }

    private struct Turns {
        var running = 0
        var waiting: ArraySlice<Waiting> = []
    }

    /// By host and port.
    private let turns = LockBox<[String: Turns]>([:])

    /// Begins an exchange when it has its turn.
    ///
    /// - Parameters:
    ///   - user: The caller's session.
    ///   - session: The session whose configuration counts.
    func begin(_ exchange: Exchange, for request: URLRequest, of user: URLSession, like session: URLSession) {
        let host = "\(request.url?.host() ?? ""):\(request.url?.port ?? 0)"
        let begin = { @Sendable [self] (exchange: Exchange) in
            Engine.queue(of: exchange).async {
                let isBegun = exchange.begin { self.task(for: request, exchange, of: user, like: session, host) }
                if !isBegun { self.next(host) }
            }
        }
        let most = max(1, session.configuration.httpMaximumConnectionsPerHost)
        let isTurn = turns.withLock { turns in
            let isTurn = turns[host, default: Turns()].running < most
            if isTurn {
                turns[host, default: Turns()].running += 1
            } else {
                turns[host]?.waiting.append(Waiting(exchange: exchange, begin: begin))
            }
            return isTurn
        }
        if isTurn { begin(exchange) }
    }

    /// Gives the turn of one that has ended to the next that is still wanted.
    private func next(_ host: String) {
        // What is dropped goes when the lock is free: it may hold the last reference to a caller's session.
        let (next, _) = turns.withLock { turns in
            var dropped: [Waiting] = []
            while let waiting = turns[host]?.waiting.popFirst() {
                if let exchange = waiting.exchange { return ((exchange, waiting) as (Exchange, Waiting)?, dropped) }
                dropped.append(waiting)
            }
            turns[host]?.running -= 1
            if turns[host]?.running == 0 { turns[host] = nil }
            return (nil, dropped)
        }
        if let (exchange, waiting) = next { waiting.begin(exchange) }
    }

    private func task(
        for request: URLRequest, _ exchange: Exchange, of user: URLSession, like session: URLSession, _ host: String
    ) -> URLSessionTask {
        let switchboard = Switchboard { [self] in next(host) }
        let once = URLSession(configuration: session.configuration, delegate: switchboard, delegateQueue: .inline)
        let task = once.dataTask(with: request)
        switchboard.connect(task, to: exchange, of: user)
        // The task, which has not begun yet, is finished first.
        once.finishTasksAndInvalidate()
        return task
    }
}

#endif
