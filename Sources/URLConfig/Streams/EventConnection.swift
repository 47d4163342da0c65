/// One connection of ``ServerSentEvents``: a request, and the events of its response.
struct EventConnection {
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
    private var chunks: StreamResponse.Elements<Data>.AsyncIterator?
    /// The time since the head arrived.
    private var open: @Sendable () -> Duration = { .zero }
    private var hasEvents = false
    private(set) var parser: EventParser
    /// Measures the delay before the next connection.
    var clock: any Clock<Duration> { call.config.clock }
    private var head: DataResponse? { parser.head }
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
            if chunks == nil, let end = try await connect() { return end }
            while true {
                if let event = try parser.next() {
                    hasEvents = true
                    return .event(event)
                }
                guard let chunk = try await chunks?.next() else { return .lost(loss()) }
                parser.append(chunk)
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
        let stream = StreamResponse(received, of: call)
        (parser.head, chunks) = (stream.body.head, stream.chunks.makeAsyncIterator())
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
        error.response = head
        error.request = head.request
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
