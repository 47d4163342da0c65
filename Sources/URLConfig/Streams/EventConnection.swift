/// One connection of ``ServerSentEvents``: a request, and the events of its response.
struct EventConnection: Sendable {
    /// How a connection has ended, for the next one.
    struct Loss: Sendable {
        var error: (any Error)?
        /// Whether an event has arrived.
        var hasEvents = false
        /// How long the body was open; zero without one.
        var open = Duration.zero
        var retryAfter: Duration?
        /// Why there was no body to read; `nil` if there was one.
        var failure: (any Error)?
    }

    private let request: URLRequest
    private let call: Call
    private var reader: StreamBody.Reader?
    /// The time since the head arrived.
    private var open: @Sendable () -> Duration = { .zero }
    private(set) var parser: EventParser
    /// Measures the delay before the next connection.
    var clock: any Clock<Duration> { call.config.clock }
    /// Why it has ended; `nil` if the server wants no other connection.
    private(set) var loss: Loss? = Loss()
    /// The origin of the events.
    var origin: Origin { Origin(parser.head?.url ?? request.url) }

    /// - Parameter call: Sends only this request.
    init(_ request: URLRequest, lastEventID: String, of call: Call) {
        self.request = request
        self.call = call
        parser = EventParser(lastEventID: lastEventID)
    }

    /// The next event; `nil` at the end, after which it is not called again.
    ///
    /// - Throws: Errors that another connection would not change.
    mutating func next() async throws -> ServerSentEvent? {
        do {
            if reader == nil { try await connect() }
            while reader != nil {
                if let event = try parser.next() {
                    loss?.hasEvents = true
                    return event
                }
                guard let piece = try await reader?.next() else { break }
                parser.append(piece)
            }
        } catch {
            let error = explained(error)
            guard !Task.isCancelled, isTransient(error) else {
                call.history.add(.failed(error), request)
                throw error
            }
            loss?.error = error
            if reader == nil { loss?.failure = error }
        }
        // The deadline is for the head. After a failure it is still on, and would pass during the pause.
        call.deadline.end()
        loss?.open = open()
        return nil
    }

    /// Sends the request; without events, there is no reader.
    private mutating func connect() async throws {
        let received = try await call.received(for: request)
        let response = received.response
        loss = response.status == .noContent ? nil : Loss()
        if loss == nil { return }
        if call.isTransient(.success(response.status)) {
            loss?.retryAfter = response.retryAfter
            loss?.failure = RequestError(unacceptable: response)
            return
        }
        try response.validated(status: [.ok]).validated(contentType: .eventStream)
        reader = try StreamBody(received, of: call).read()
        parser.head = response
        open = call.config.clock.stopwatch()
    }

    /// Logs why there was no body to read.
    func log(_ failure: any Error) { call.history.log.failed(request, failure, after: call.elapsed()) }

    /// Another connection follows.
    func willReconnect(after delay: Duration) {
        // The attempt has no error if the deadline has passed before its end.
        let cause = (loss?.error as? RequestError).map { ": \($0.reason)" } ?? ""
        call.decide(.retried(after: delay), request, "connecting again after \(delay.shown)" + cause)
    }

    /// The parser does not know the response.
    private func explained(_ error: any Error) -> any Error { call.final(parser.head.map { error.with($0) } ?? error) }

    private func isTransient(_ error: any Error) -> Bool {
        if (error as? RequestError)?.code == .deadlineExceeded {
            // Zero or less would pass each time. Without one, it belongs to a call that an authenticator made.
            return call.config.deadline.map { $0 > .zero } ?? true
        }
        return call.isTransient(.failure(error))
    }
}

/// The delays between the connections of ``ServerSentEvents``.
struct Reconnection: Sendable {
    /// The shortest delay after a connection that ended early without an event.
    static let shortest = Duration.seconds(1)
    /// The shortest delay of all, so that a server cannot make a client connect without a pause.
    static let pause = Duration.milliseconds(100)
    /// The bound for delays that double.
    static let longest = Duration.seconds(30)

    /// The server's reconnection time (WHATWG HTML §9.2.2).
    var time = Duration.seconds(3)
    /// The delay after the last connections, if they ended early without an event; otherwise zero.
    private var backOff = Duration.zero

    /// The delay before the next connection.
    ///
    /// A connection was good if it brought an event, or if it was open for at least as long as the delay before it. So
    /// a quiet stream that a proxy ends each minute is connected again soon; a server that closes at once is not.
    ///
    /// - Parameter jitter: A random number from zero to one.
    mutating func delay(after loss: EventConnection.Loss, jitter: Double) -> Duration {
        let shortest = max(time, Self.shortest)
        let isGood = loss.hasEvents || loss.open >= max(backOff, shortest)
        backOff = isGood ? .zero : min(max(backOff * 2, shortest), max(Self.longest, time))
        let delay = (isGood ? max(time, Self.pause) : backOff) * (1 + jitter / 2)
        return max(delay, loss.retryAfter ?? .zero).clamped
    }
}
