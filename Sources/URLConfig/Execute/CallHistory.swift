/// Something that has happened in a call.
///
/// The large values are kept elsewhere, because thousands of events may wait for the app.
enum Happening: Sendable {
    case began
    case sent
    case head(HTTPResponse.Status)
    case firstByte
    case body(count: Int64)
    case bodyFailed(any Error)
    indirect case attempted(Result<HTTPResponse.Status, any Error>, CacheStatus? = nil)
    /// The call has ended before its last attempt; the attempt itself stays unfinished.
    case unfinished(any Error)
    indirect case decided(CallEvent.Decision, Attempt.Note)
    case accepted(HTTPResponse.Status)
    case failed(any Error)
    case ended(Result<HTTPResponse.Status, any Error>)
}

/// What happens in a call: its attempts, its log and the events for the app are made of it.
final class CallHistory: Sendable {
    fileprivate struct State {
        var attempts: [Attempt] = []
        /// When the last attempt began, as the time of the call.
        var start = Duration.zero
        var isRunning = false
        /// The request of the caller.
        var request: URLRequest?
        /// What the events of the last attempt show; `nil` if nobody wants events.
        var observed: ObservedAttempt?
    }

    let log: RequestLog
    private let sink: EventSink?
    private let routes: RouteTable
    /// The time since the call began.
    private let elapsed: @Sendable () -> Duration
    private let state = Locked(State())

    init(_ log: RequestLog, _ config: borrowing URLSession.Config, _ elapsed: @escaping @Sendable () -> Duration) {
        (self.log, self.elapsed) = (log, elapsed)
        (sink, routes) = (config.eventSink, config.routeTable)
    }

    /// Whether somebody wants to know when the parts of a response arrive.
    var isObserved: Bool { sink != nil }

    /// - Parameters:
    ///   - request: The request of the caller, or the one of the attempt.
    ///   - arrival: What the transport notes about an attempt that begins.
    ///   - time: When it has happened; `nil` for now.
    @inline(never)
    func add(_ happening: Happening, _ request: URLRequest, _ arrival: Arrival? = nil, at time: Duration? = nil) {
        if case .ended = happening, sink == nil { return }
        // First, so that a slow logger does not count.
        if case .sent = happening { log.sent(request) }
        let time = time ?? elapsed()
        let observed = state.withLock { state in
            state.note(happening, request, log, at: time)
            return sink.map { _ in state.observe(request, arrival, log, routes) }
        }
        write(happening, request, time)
        if let observed { sink?.pass(CallEvent(time: time, happening: happening, of: observed)) }
    }

    /// The first byte of a body has arrived, which somebody may want to know.
    func addFirstByte(_ request: URLRequest) {
        guard isObserved else { return }
        let arrival = state.withLock { $0.observed?.arrival }
        add(.firstByte, request, at: arrival?.values.firstByte)
    }

    /// A whole body has arrived.
    func addBody(_ count: Int, _ request: URLRequest, _ arrival: Arrival.Values) {
        // The body of another transport may have begun before it was watched.
        if count > 0 { add(.firstByte, request, at: arrival.firstByte ?? arrival.end) }
        add(.body(count: Int64(count)), request, at: arrival.end)
    }

    private func write(_ happening: Happening, _ request: URLRequest, _ time: Duration) {
        switch happening {
        case .decided: if let last { log.again(request, last) }
        case .failed(let error): log.failed(request, error, status: last?.status, after: time)
        default: break
        }
    }

    private var last: Attempt? { state.withLock { $0.attempts.last } }

    /// The request of the caller; `nil` before it was checked.
    var request: URLRequest? { state.withLock { $0.request } }

    /// All attempts until now; the last one may be running.
    var attempts: [Attempt] {
        let (state, now) = (state.withLock(\.self), elapsed())
        var attempts = state.attempts
        if state.isRunning { attempts[attempts.count - 1].duration = now - state.start }
        return attempts
    }

    /// The error when the deadline of the call has passed, which says how far the call came.
    ///
    /// - Parameters:
    ///   - arrived: The number of bytes that have arrived of a response that has begun.
    ///   - cause: The error before a fallback that was too late.
    func error(after limit: Duration, arrived: Int? = nil, cause: (any Error)? = nil) -> RequestError {
        let (all, isRunning) = (attempts, state.withLock { $0.isRunning })
        let place =
            switch (all.last, arrived) {
            case (nil, _): "before anything was sent"
            case (_, let count?): "in attempt \(all.count), after the head and \(count.shownAsBytes) of the body"
            case _ where isRunning: "in attempt \(all.count), before a response"
            case (let last?, _):
                "after attempt \(all.count), "
                    + (last.status.map { "which had a response, \($0.code)" } ?? "which failed")
            }
        let isLate = cause == nil ? "" : "; the fallback did not return in time either"
        var error = RequestError(
            .deadlineExceeded, reason: "the deadline, \(limit.shown), passed \(place)\(isLate)", request: request,
            underlyingError: cause)
        error.attempts = all
        return error
    }
}

extension CallHistory.State {
    /// Changes the attempts.
    fileprivate mutating func note(
        _ happening: Happening, _ request: URLRequest, _ log: RequestLog, at now: Duration
    ) {
        if case .began = happening { self.request = request }
        if case .sent = happening {
            attempts.append(Attempt(redaction: log.redaction))
            (start, isRunning) = (now, true)
        }
        guard let last = attempts.indices.last else { return }
        switch happening {
        case .attempted(let result, let cache):
            isRunning = false
            (attempts[last].duration, attempts[last].cacheStatus) = (now - start, cache)
            switch result {
            case .success(let status): attempts[last].status = status
            case .failure(let error): attempts[last].error = (error as? URLError)?.withoutMark ?? error
            }
        case .decided(_, let note): attempts[last].note = note
        case .body where !isRunning: attempts[last].duration = now - start
        case .bodyFailed(let error): (attempts[last].duration, attempts[last].error) = (now - start, error)
        default: break
        }
    }

    /// What an event shows that happens now.
    fileprivate mutating func observe(
        _ request: URLRequest, _ arrival: Arrival?, _ log: RequestLog, _ routes: RouteTable
    ) -> ObservedAttempt {
        if let observed, observed.number == attempts.count { return observed }
        let call = observed?.call ?? ObservedCall(log, routes, request)
        let attempt = ObservedAttempt(call: call, number: attempts.count, request: request, arrival: arrival)
        observed = attempt
        return attempt
    }
}

/// When the parts of a response have arrived, as its transport notes it; times are since the call began.
struct Arrival: Sendable {
    struct Values: Sendable {
        var head: Duration?
        var firstByte: Duration?
        var end: Duration?
        var connection: @Sendable () -> CallEvent.Connection? = { nil }
    }

    private let elapsed: @Sendable () -> Duration
    private let state = Locked(Values())

    init(_ elapsed: @escaping @Sendable () -> Duration) { self.elapsed = elapsed }

    var values: Values { state.withLock(\.self) }

    /// A part arrives now.
    func note(_ part: WritableKeyPath<Values, Duration?>) { state.set(part, elapsed()) }

    func note(_ connection: @escaping @Sendable () -> CallEvent.Connection?) { state.set(\.connection, connection) }
}
