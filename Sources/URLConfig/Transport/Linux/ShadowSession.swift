#if canImport(FoundationNetworking)

/// On Linux, an internal session with the configuration of the caller's session, which lives as long as that session.
///
/// - It exists because only a session's delegate receives data, redirects and challenges, and the caller's session has
///   another delegate or none.
/// - It has no URL cache: a cache scans its folder for every request, and crashes if many tasks are cancelled together.
/// - It is not invalidated while a task runs, because that crashes.
/// - It continues after the caller's session was invalidated.
///
/// **The queues.** The tasks of all sessions share one serial queue of Foundation, and a single response can block it
/// for seconds. To create, resume or cancel a task blocks until that queue is free. So this happens on the queues below
/// and never on Swift's thread pool. Meanwhile deadlines expire and callers return. A call that ends before its turn
/// never creates a task. Cancelling uses the same queues, so that no more tasks begin than can be cancelled. With one
/// queue instead of sixteen, 64 concurrent calls take 25% longer.
final class ShadowSession: Sendable {
    private struct Entry {
        weak var user: URLSession?
        let shadow: ShadowSession
    }

    private struct Register {
        var shadows: [ObjectIdentifier: Entry] = [:]
        var isSweepDue = false

        /// Removes the shadows of released sessions, because each has three file descriptors.
        ///
        /// - Returns: What must be released after the lock: the `deinit` of a session's delegate may call this type.
        mutating func sweep() -> [Any] {
            let (before, alive) = (shadows, shadows.values.map(\.user))
            shadows = before.filter { $0.value.user != nil }
            return [before, alive]
        }
    }

    private static let register = Locked(Register())
    private static let queues = (0..<16).map { DispatchQueue(label: "URLConfig.session.\($0)", qos: .userInitiated) }

    let session: URLSession
    let fields: SessionFields
    private let resourceLimit: Duration?
    private let silence: TimeInterval
    private let silenceLimit: Duration?
    private let delegate = SessionDelegate()
    private let singleUseSessions: SingleUseSessions

    /// The shadow of a session.
    static func of(_ user: URLSession) -> ShadowSession {
        let key = ObjectIdentifier(user)
        if let known = register.withLock({ $0.shadows[key] }), known.user === user { return known.shadow }
        let new = Entry(user: user, shadow: ShadowSession(user.configuration))
        let (entry, isSweepDue, _) = register.withLock { register in
            let (released, wasDue) = (register.sweep(), register.isSweepDue)
            // Another thread may have added a shadow.
            let entry = register.shadows[key] ?? new
            (register.shadows[key], register.isSweepDue) = (entry, true)
            return (entry, wasDue, released)
        }
        if !isSweepDue { sweep(after: 1) }
        return entry.shadow
    }

    /// Sweeps later, and then less and less often, as long as there are sessions that may be released.
    private static func sweep(after delay: TimeInterval) {
        queues[0].asyncAfter(deadline: .now() + delay) {
            let shared = URLSession.shared
            let (isSweepDue, _) = register.withLock { register in
                let released = register.sweep()
                register.isSweepDue = register.shadows.values.contains { $0.user !== shared }
                return (register.isSweepDue, released)
            }
            if isSweepDue { sweep(after: min(2 * delay, 60)) }
        }
    }

    // Running tasks keep the shadow alive. Its connections are closed after the last task.
    deinit { session.finishTasksAndInvalidate() }

    var waiting: Int { singleUseSessions.waiting }

    static var count: Int { register.withLock { $0.shadows.count } }

    private init(_ user: URLSessionConfiguration) {
        // On Linux, `URLSession.configuration` is not a copy.
        let configuration = user.copy() as? URLSessionConfiguration ?? .default
        configuration.urlCache = nil
        fields = SessionFields(configuration)
        SessionFields.remove(from: configuration)
        // libcurl would also ask for `br` and `zstd`, and does not notice every damaged body of these. To set the field
        // in each request would copy the request.
        configuration.httpAdditionalHeaders = ["Accept-Encoding": "gzip, deflate"]
        resourceLimit = configuration.resourceLimit
        silence = configuration.timeoutIntervalForRequest
        silenceLimit = Duration(timeoutInterval: silence)
        configuration.timeoutIntervalForRequest = silence.forFoundation ?? 60
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: ImmediateQueue.shared)
        singleUseSessions = SingleUseSessions(configuration)
    }

    func begin(_ exchange: Exchange) {
        let sending = exchange.request
        var request = sending.urlRequest
        // Setting the URL is slow, so this is done only if necessary.
        if let url = request.url, url.scheme?.utf8.contains(where: { $0 < UInt8(ascii: "a") }) == true {
            request.url = url.withLowercasedScheme
        }
        fields.add(to: &request, without: sending.allowsSessionCredentials ? nil : sending.conditions.redaction)
        sending.conditions.redaction.known.add(request)
        request.prepareBody(for: exchange)
        // Foundation's limit is exact only for whole seconds, and its time begins with the task.
        let isSingleUse = !request.isRepeatable || sending.needsNewConnection
        let isExact = silence == silence.forFoundation && !isSingleUse
        exchange.watch(
            whole: resourceLimit,
            silence: isExact || request.customTimeLimit != nil ? nil : silenceLimit)
        let limit = request.timeoutInterval.forFoundation ?? 60
        if limit != request.timeoutInterval { request.timeoutInterval = limit }
        if isSingleUse { return singleUseSessions.begin(exchange, for: request) }
        Self.queue(of: exchange).async { [request] in
            exchange.begin {
                let task = self.session.dataTask(with: request)
                self.delegate.connect(task, to: exchange)
                return task
            }
        }
    }

    /// The queue for everything that may block on Foundation's queue.
    static func queue(of exchange: Exchange) -> DispatchQueue {
        queues[Int(UInt(bitPattern: ObjectIdentifier(exchange).hashValue) % UInt(queues.count))]
    }
}

extension URLRequest {
    /// Turns the body into a stream with one framing, so that libcurl must ask before it sends the body again.
    fileprivate mutating func prepareBody(for exchange: Exchange) {
        if let body = httpBody, !body.isEmpty {
            httpBodyStream = InputStream(data: body)
            setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
        } else if let stream = httpBodyStream {
            // Weak, because the exchange keeps its task, and the task keeps this stream.
            httpBodyStream = BodyStream(stream, length: declaredLength) { [weak exchange] error in
                exchange?.body.fail(error)
            }
        }
        // Foundation sends a stream in chunks even with a Content-Length, which is invalid (RFC 9112 §6.3). A blank
        // field tells libcurl to leave out the field.
        if value(forHTTPHeaderField: "Content-Length") != nil {
            setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        }
    }
}

#endif
