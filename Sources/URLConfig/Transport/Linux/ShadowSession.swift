#if canImport(FoundationNetworking)

/// On Linux, a session of the library's own with the configuration of the caller's session, which lives as long as it.
///
/// - Only a session's delegate receives data, redirects and challenges, and the caller's session has another delegate
///   or none.
/// - It has no URL cache: that scans its folder for every request, and crashes when many tasks are cancelled at once.
/// - It is never invalidated while a task runs, which crashes.
/// - It ignores that the caller's session was invalidated: its calls continue.
///
/// **The queues.** Foundation's tasks of all sessions share one serial queue, and a single response can block it for
/// seconds. Making, resuming and cancelling a task wait for that queue. So they happen on queues of ours and never on a
/// thread of Swift's pool: meanwhile deadlines pass and callers return. A call that is given up before its turn never
/// becomes a task. Cancelling waits for its turn, too, so that no more tasks begin than can be ended. With one queue
/// instead of sixteen, 64 calls at once take a quarter longer.
final class ShadowSession: Sendable {
    private struct Entry {
        weak var user: URLSession?
        let shadow: ShadowSession
    }

    private struct Register {
        var shadows: [ObjectIdentifier: Entry] = [:]
        var nextSweep = DispatchTime.now()
    }

    private static let register = Locked(Register())
    private static let queues = (0..<16).map { DispatchQueue(label: "URLConfig.session.\($0)", qos: .userInitiated) }

    let session: URLSession
    private let resourceLimit: Duration?
    private let silence: TimeInterval
    private let fields: SessionFields
    private let delegate = SessionDelegate()
    private let singleUseSessions: SingleUseSessions

    /// The shadow of a session.
    ///
    /// Calls for a new session, and one call a second, remove the shadows of sessions that are gone: each has three
    /// descriptors.
    static func of(_ user: URLSession) -> ShadowSession {
        let (key, now) = (ObjectIdentifier(user), DispatchTime.now())
        let (known, nextSweep) = register.withLock { ($0.shadows[key], $0.nextSweep) }
        let found = known.flatMap { $0.user === user ? $0 : nil }
        if let found, now < nextSweep { return found.shadow }
        let new = found ?? Entry(user: user, shadow: ShadowSession(user.configuration))
        // Returned, so that nothing is released under the lock: a session delegate's `deinit` may come back here.
        return register.withLock { register in
            let (before, alive) = (register.shadows, register.shadows.values.map(\.user))
            register.shadows = before.filter { $0.value.user != nil }
            register.nextSweep = now + 1
            // Another thread may have been first.
            let entry = register.shadows[key] ?? new
            register.shadows[key] = entry
            return (entry.shadow, before, alive)
        }.0
    }

    // Running tasks keep the shadow. Its connections are closed after them.
    deinit { session.finishTasksAndInvalidate() }

    var waiting: Int { singleUseSessions.waiting }

    static var count: Int { register.withLock { $0.shadows.count } }

    private init(_ user: URLSessionConfiguration) {
        // On Linux this is the session's own object and not a copy.
        let configuration = user.copy() as? URLSessionConfiguration ?? .default
        configuration.urlCache = nil
        fields = SessionFields(configuration)
        let resource = Duration(timeoutInterval: configuration.timeoutIntervalForResource)
        resourceLimit = resource.flatMap { $0 < .seconds(7 * 24 * 3600) ? $0 : nil }
        silence = configuration.timeoutIntervalForRequest
        configuration.timeoutIntervalForRequest = silence.forFoundation ?? 60
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: ImmediateQueue.shared)
        singleUseSessions = SingleUseSessions(configuration)
    }

    func timeLimit(of request: URLRequest) -> Duration? {
        let limit = request.customTimeLimit
        guard let resourceLimit else { return limit }
        return min(resourceLimit, limit ?? resourceLimit)
    }

    func begin(_ exchange: Exchange) {
        let sending = exchange.request
        var request = sending.urlRequest
        // Setting a URL is slower than looking at it.
        if let url = request.url, url.scheme?.utf8.contains(where: { $0 < UInt8(ascii: "a") }) == true {
            request.url = url.withLowercasedScheme
        }
        fields.add(to: &request, without: sending.allowsSessionCredentials ? nil : sending.config.redaction)
        // An authenticator or a transport may have changed the URL, or set a token.
        if let (credential, origin) = sending.credential, origin == Origin(request.url),
            sending.urlRequest.value(forHTTPHeaderField: "Authorization") == nil
        {
            let text = "\(credential.user ?? ""):\(credential.password ?? "")"
            request.setValue("Basic \(Data(text.utf8).base64EncodedString())", forHTTPHeaderField: "Authorization")
        }
        sending.config.redaction.known.add(request)
        request.prepareBody(for: exchange)
        // Foundation's own limit is exact for whole seconds, and begins with the task.
        let isExact = silence == silence.forFoundation && !request.needsNewConnection
        if !isExact, request.customTimeLimit == nil, let limit = Duration(timeoutInterval: silence) {
            exchange.finish(afterSilenceOf: limit)
        }
        let limit = request.timeoutInterval.forFoundation ?? 60
        if limit != request.timeoutInterval { request.timeoutInterval = limit }
        if request.needsNewConnection { return singleUseSessions.begin(exchange, for: request) }
        Self.queue(of: exchange).async { [request] in
            exchange.begin {
                let task = self.session.dataTask(with: request)
                self.delegate.connect(task, to: exchange)
                return task
            }
        }
    }

    static func cancel(_ task: URLSessionTask, of exchange: Exchange) {
        queue(of: exchange).async { task.cancel() }
    }

    /// Everything that may wait for Foundation's queue happens here.
    static func queue(of exchange: Exchange) -> DispatchQueue {
        queues[Int(UInt(bitPattern: ObjectIdentifier(exchange).hashValue) % UInt(queues.count))]
    }

    func received(_ response: HTTPURLResponse, to request: URLRequest) {
        fields.storeCookies(of: response, to: request)
    }
}

extension URLRequest {
    /// Makes the body a stream, so that libcurl must ask before it sends it again, with one framing.
    fileprivate mutating func prepareBody(for exchange: Exchange) {
        if let body = httpBody, !body.isEmpty {
            httpBodyStream = InputStream(data: body)
            setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
        } else if let stream = httpBodyStream {
            httpBodyStream = BodyStream(stream, length: declaredLength, exchange)
        }
        // Foundation sends a stream in chunks, even with a length: two framings (RFC 9112 §6.3). A blank field tells
        // libcurl to leave the field out.
        if value(forHTTPHeaderField: "Content-Length") != nil {
            setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        }
    }
}

#endif
