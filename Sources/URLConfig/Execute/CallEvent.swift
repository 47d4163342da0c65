/// Something that has happened in a call, for ``Foundation/URLSession/Config/events``.
///
/// ```swift
/// URLSession.Config.default.events = { event in
///     if case .attemptEnded(let outcome, _) = event.kind { record(outcome, event.method, event.time) }
/// }
/// ```
///
/// Each call begins once and ends once. Secrets are hidden in everything that an event shows.
public struct CallEvent: Sendable {
    /// What has happened.
    public enum Kind: Sendable {
        /// The call has begun.
        case began
        /// A request is sent, or asked of the cache.
        case attemptBegan
        /// The head of a response has arrived.
        case headReceived(HTTPResponse.Status)
        /// The first byte of its body has arrived.
        case firstByteReceived
        /// The whole body has arrived.
        ///
        /// - Parameter byteCount: The number of bytes after decompression.
        case bodyReceived(byteCount: Int64)
        /// The body of a stream or a download has broken off.
        case bodyFailed(Failure)
        /// An attempt has ended: with its body, or with the head for streams and downloads.
        ///
        /// - Parameter cache: What the cache did; `nil` if the call has none, or there was no response.
        case attemptEnded(Outcome, cache: CacheStatus?)
        /// The call has decided what follows.
        ///
        /// - Parameter reason: Why, such as `waiting 3.0 s: Retry-After`.
        case decided(Decision, reason: String)
        /// The validators have accepted a response.
        case accepted(HTTPResponse.Status)
        /// The call or the body of its stream has failed; a fallback may follow.
        case failed(Failure)
        /// The call has returned a response or thrown an error.
        ///
        /// The body of a stream may arrive after it, or never, if it is not read.
        case ended(Outcome)
    }

    /// What follows an attempt.
    public enum Decision: Hashable, Sendable {
        /// The redirect of the server is followed.
        case redirected
        /// The request is sent with other credentials.
        case renewed
        /// The request is sent again after a delay, because of a transient failure.
        case retried(after: Duration)
        /// The request is sent again at once: a connection that was kept had been closed, or a stored response was
        /// damaged.
        case repeated
        /// A download begins from the start again.
        case startedOver
        /// The request is not sent again.
        case notRetried
    }

    /// How an attempt or a call has ended.
    public enum Outcome: Sendable {
        /// With a response, whatever its status.
        case response(HTTPResponse.Status)
        /// With an error.
        case failure(Failure)
        /// The task was cancelled.
        case cancelled
    }

    /// An error, without what it contains.
    public struct Failure: Sendable, RedactedDescribable {
        /// The kind of the error, of which there are few.
        ///
        /// It is the code of a ``RequestError``, such as `deadlineExceeded`, the code of a `URLError`, such as
        /// `timedOut`, or else the name of the error's type.
        public var name: String { error.name }
        let error: any Error
        let redaction: Redaction
        var shownText: String { redaction.masked(error).onOneLine }
    }

    /// The connection of an attempt, as far as its transport knows it.
    public struct Connection: Hashable, Sendable {
        /// The protocol, such as `http/1.1` or `h2` (RFC 7301 §6).
        public internal(set) var protocolName: String?
        /// Whether other requests were sent on it before; ``Transport/asyncHTTPClient`` does not know it for HTTP/2.
        public internal(set) var isReused: Bool?
        /// The time to look up the host's name.
        public internal(set) var lookup: Duration?
        /// The time to connect, with the handshake of TLS.
        public internal(set) var connect: Duration?
        /// The time of the handshake of TLS.
        public internal(set) var handshake: Duration?
    }

    /// The time since the call began, on ``Foundation/URLSession/Config/clock``.
    public let time: Duration
    let happening: Happening
    private let attempted: ObservedAttempt

    init(time: Duration, happening: Happening, of attempt: ObservedAttempt) {
        (self.time, self.happening, attempted) = (time, happening, attempt)
    }
}

/// What all events of an attempt show, or those before the first attempt.
final class ObservedAttempt: Sendable {
    let call: ObservedCall
    let number: Int
    let request: URLRequest
    let arrival: Arrival?

    init(call: ObservedCall, number: Int, request: URLRequest, arrival: Arrival?) {
        (self.call, self.number, self.request, self.arrival) = (call, number, request, arrival)
    }
}

/// What all events of a call show.
///
/// It keeps neither the closure that receives the events nor any other one of the call: if an object collects the
/// events, it may be in these closures, and would keep itself in memory.
final class ObservedCall: Sendable {
    private static let lastID = Locked(0)

    let id: Int
    let fileID: String
    let line: UInt
    let redaction: Redaction
    let routes: RouteTable
    /// The request of the caller.
    let request: URLRequest
    /// Whether errors quote the content of a response, as in the log.
    let quotesContent: Bool

    init(_ log: RequestLog, _ routes: RouteTable, _ request: URLRequest) {
        id = Self.lastID.withLock { last in
            last += 1
            return last
        }
        (fileID, line, redaction) = (log.fileID, log.line, log.redaction)
        (self.routes, self.request) = (routes, request)
        quotesContent = log.bodyLimit > 0
    }
}

extension CallEvent {
    private var call: ObservedCall { attempted.call }
    var request: URLRequest { attempted.request }
    /// The bodies that the redaction of the call keeps, such as the text of an upload.
    var knownBodies: [Data] { call.redaction.known.bodies }

    /// The number of the attempt, from 1; 0 before the first one.
    public var attempt: Int { attempted.number }
    /// A number that all events of the call have, and no other call of the process.
    public var callID: Int { call.id }
    /// The source file and line of the call, such as `App/Users.swift:12`.
    public var source: String { "\(call.fileID):\(call.line)" }
    /// The method of the request.
    public var method: String { (request.httpMethod ?? "GET").onOneLine }
    /// The URL of the request; `nil` if it could not be built.
    public var url: String? { request.shownURL(redaction) }
    /// The template of the request's path, such as `/users/{id}`; `nil` if none is known.
    ///
    /// See ``Foundation/URLSession/Config/route``.
    public var route: String? { call.routes.route(of: request, after: call.request) }
    /// The connection of the attempt, for events of a response; `nil` if nothing is known.
    ///
    /// On Apple platforms, it is known when the body has ended. With ``Transport/asyncHTTPClient``, it is known with
    /// the head. With ``Transport/urlSession`` on Linux, it is never known.
    public var connection: Connection? {
        switch happening {
        case .head, .firstByte, .body, .bodyFailed, .attempted, .unfinished: attempted.arrival?.values.connection()
        default: nil
        }
    }

    /// What has happened.
    public var kind: Kind {
        switch happening {
        case .began: .began
        case .sent: .attemptBegan
        case .head(let status): .headReceived(status)
        case .firstByte: .firstByteReceived
        case .body(let count): .bodyReceived(byteCount: count)
        case .bodyFailed(let error): .bodyFailed(failure(error))
        case .attempted(let result, let cache): .attemptEnded(outcome(result), cache: cache)
        case .unfinished(let error): .attemptEnded(.failure(failure(error)), cache: nil)
        case .decided(let decision, let note): .decided(decision, reason: note.shown(redaction))
        case .accepted(let status): .accepted(status)
        case .failed(let error): .failed(failure(error))
        case .ended(let result): .ended(outcome(result))
        }
    }

    private var redaction: Redaction { call.redaction }

    private func failure(_ error: any Error) -> Failure {
        Failure(error: call.quotesContent ? error : error.withoutContent, redaction: redaction)
    }

    private func outcome(_ result: Result<HTTPResponse.Status, any Error>) -> Outcome {
        switch result {
        case .success(let status): .response(status)
        case .failure(is CancellationError): .cancelled
        case .failure(let error): .failure(failure(error))
        }
    }
}

extension CallEvent: RedactedDescribable {
    /// One line, such as `12 ms, attempt 1: waiting 3.0 s: Retry-After`.
    var shownText: String {
        let text =
            switch kind {
            case .began: "began: \(method) \(url ?? URLRequest.unsendable)"
            case .attemptBegan: "sent: \(method) \(url ?? URLRequest.unsendable)"
            case .headReceived(let status): "head: \(status.code)"
            case .firstByteReceived: "first byte"
            case .bodyReceived(let count): "body: \(Int(clamping: count).shownAsBytes)"
            case .bodyFailed(let failure): "body: \(failure)"
            case .attemptEnded(let outcome, let cache): "\(outcome.shown)" + (cache.map { " (\($0))" } ?? "")
            case .decided(_, let reason): reason
            case .accepted(let status): "accepted: \(status.code)"
            case .failed(let failure): "failed: \(failure)"
            case .ended(let outcome): "ended: \(outcome.shown)"
            }
        return "\(time.shown)" + (attempt > 0 ? ", attempt \(attempt)" : "") + ": " + text.onOneLine
    }
}

extension CallEvent.Outcome {
    fileprivate var shown: String {
        switch self {
        case .response(let status): "\(status.code)"
        case .failure(let failure): "\(failure)"
        case .cancelled: "cancelled"
        }
    }
}
