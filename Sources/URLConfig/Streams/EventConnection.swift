/// One connection of ``ServerSentEvents``: a request, and the events of its response.
struct EventConnection: Sendable {
    enum Step {
        case event(ServerSentEvent)
        /// Another connection is made.
        case lost(Loss)
        /// The server wants no other connection.
        case over
    }

    /// Why a connection ended, and what is known for the next one.
    struct Loss {
        var status: HTTPResponse.Status?
        var error: (any Error)?
        /// Whether an event has arrived.
        var hasEvents = false
        /// How long the body was open; zero without one.
        var open = Duration.zero
        var retryAfter: Duration?
    }

    private let request: URLRequest
    private let call: Call
    private var reader: StreamBody.Reader?
    private var head: DataResponse?
    /// The time since the head arrived.
    private var open: @Sendable () -> Duration = { .zero }
    private var hasEvents = false
    private(set) var parser: EventParser
    /// The origin of the events.
    var origin: Origin { Origin(head?.url ?? request.url) }

    /// - Parameter call: Sends only this request.
    init(_ request: URLRequest, lastEventID: String, of call: Call) {
        self.request = request
        self.call = call
        parser = EventParser(lastEventID: lastEventID)
    }

    /// The next event or the end; after the end, it is not called again.
    ///
    /// - Throws: Errors that another connection would not change.
    mutating func next() async throws -> Step {
        do {
            if reader == nil, let end = try await connect() { return end }
            while true {
                if let event = try parser.next() {
                    hasEvents = true
                    return .event(event)
                }
                guard let piece = try await reader?.next() else { return .lost(loss()) }
                parser.append(piece)
            }
        } catch {
            let error = explained(error)
            if !Task.isCancelled, isTransient(error) { return .lost(loss(error)) }
            call.log.failed(request, error, after: call.elapsed())
            throw error
        }
    }

    /// Sends the request; returns the end of the connection if there are no events.
    private mutating func connect() async throws -> Step? {
        if request.refusal == nil, !request.isRepeatable || request.httpBodyStream != nil {
            let reason = "the request is sent again for each connection, which its method or body does not allow"
            throw RequestError(
                .invalidRequest, reason: reason + "; set idempotencyKey, or use stream(for:)", request: request)
        }
        let received = try await call.received(for: request)
        let response = received.response
        if response.status == .noContent { return .over }
        if call.isTransient(.success(response.status)) {
            return .lost(Loss(status: response.status, retryAfter: response.retryAfter))
        }
        try response.validated(status: [.ok]).validated(contentType: .eventStream)
        reader = try StreamBody(received, of: call).read()
        (head, parser.head) = (response, response)
        open = call.config.clock.stopwatch()
        return nil
    }

    /// Logs that another connection follows.
    func logs(_ loss: Loss, _ delay: Duration) {
        var attempt = Attempt(status: loss.status, error: loss.error, redaction: call.config.redaction)
        attempt.duration = call.elapsed()
        attempt.note = .init(text: "connecting again after \(delay.shown)")
        call.log.again(request, attempt)
    }

    private func loss(_ error: (any Error)? = nil) -> Loss {
        Loss(status: head?.status, error: error, hasEvents: hasEvents, open: open())
    }

    /// The parser does not know the response.
    private func explained(_ error: any Error) -> any Error {
        guard var error = error as? RequestError, error.response == nil, let head else { return call.final(error) }
        (error.response, error.request) = (head, head.request)
        return call.final(error)
    }

    private func isTransient(_ error: any Error) -> Bool {
        if (error as? RequestError)?.code == .deadlineExceeded {
            // Zero or less would pass each time. Without one, it is that of a call that an authenticator made.
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
