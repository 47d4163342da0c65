#if canImport(FoundationNetworking)

/// On Linux, a session of ours with the configuration of the caller's, which lives as long.
///
/// - Only a session's delegate is told of data, redirects and challenges alike, and the caller's session has one of its
///   own or none.
/// - It has no URL cache: one scans its folder for every request, and crashes when many tasks are cancelled at once.
/// - It is never invalidated under a running task, which crashes.
/// - It does not learn that the caller's session was invalidated: calls under way go on.
///
/// **The queues.** Foundation's tasks of all sessions share one serial queue. Making, resuming and cancelling a task
/// wait for it, and a single response can hold it for seconds. So they happen on queues of ours and never on a thread
/// of Swift's pool: meanwhile deadlines pass and callers return. A call that is given up before its turn never becomes
/// a task. Cancelling waits for its turn, too, so no more tasks begin than can be ended. There are sixteen queues: with
/// one, 64 calls at once take a quarter longer.
final class ShadowSession: Sendable {
    private struct Entry {
        weak var user: URLSession?
        let shadow: ShadowSession
    }

    private struct Register {
        var shadows: [ObjectIdentifier: Entry] = [:]
        var isSweepDue = false
    }

    private static let register = Locked(Register())
    private static let queues = (0..<16).map { DispatchQueue(label: "URLConfig.session.\($0)", qos: .userInitiated) }

    let session: URLSession
    private let resourceLimit: Duration?
    private let silence: TimeInterval
    private let fields: SessionFields
    private let delegate = SessionDelegate()
    private let singleUseSessions: SingleUseSessions

    static func of(_ user: URLSession) -> ShadowSession {
        let key = ObjectIdentifier(user)
        let (known, isSweepDue) = register.withLock { register in
            defer { register.isSweepDue = true }
            return (register.shadows[key], register.isSweepDue)
        }
        if !isSweepDue { queues[0].asyncAfter(deadline: .now() + 1, execute: sweep) }
        if let known, known.user === user { return known.shadow }
        let new = ShadowSession(user.configuration)
        let (entry, _) = register.withLock { register in
            let old = register.shadows[key]
            let entry = old.flatMap { $0.user === user ? $0 : nil } ?? Entry(user: user, shadow: new)
            register.shadows[key] = entry
            return (entry, old)
        }
        // Many may come and go within a second, and each has three descriptors.
        sweep()
        return entry.shadow
    }

    /// Lets go of the shadows of sessions that are gone.
    private static func sweep() {
        // Returned, so that nothing is released under the lock: a session delegate's `deinit` may come back here.
        _ = register.withLock { register in
            register.isSweepDue = false
            let (shadows, alive) = (register.shadows, register.shadows.values.map(\.user))
            register.shadows = shadows.filter { $0.value.user != nil }
            return (shadows, alive)
        }
    }

    /// Tasks under way keep the shadow; then its connections are closed.
    deinit { session.finishTasksAndInvalidate() }

    var waiting: Int { singleUseSessions.waiting }

    static var count: Int { register.withLock { $0.shadows.count } }

    private init(_ user: URLSessionConfiguration) {
        // What a session shows here is its own object, no copy as on Apple platforms.
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
        // To set a URL costs more than to look at it.
        if let url = request.url, url.scheme?.utf8.contains(where: { $0 < UInt8(ascii: "a") }) == true {
            request.url = url.withLowercasedScheme
        }
        fields.add(to: &request, without: sending.allowsSessionCredentials ? nil : sending.config.redaction)
        // An authenticator or a transport may have led the request elsewhere, or has a token now.
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

    /// Where all happens that may wait for Foundation's queue.
    static func queue(of exchange: Exchange) -> DispatchQueue {
        queues[Int(UInt(bitPattern: ObjectIdentifier(exchange).hashValue) % UInt(queues.count))]
    }

    func received(_ response: HTTPURLResponse, to request: URLRequest) {
        fields.storeCookies(of: response, to: request)
    }
}

extension URLRequest {
    /// Makes the body one of which libcurl has to ask for a second copy, and that has one length.
    fileprivate mutating func prepareBody(for exchange: Exchange) {
        if let body = httpBody, !body.isEmpty {
            httpBodyStream = InputStream(data: body)
            setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
        } else if let stream = httpBodyStream {
            httpBodyStream = BodyStream(stream, length: declaredLength, exchange)
        }
        // Foundation sends a stream in chunks, even if its length is given, and so two framings (RFC 9112 §6.3). A
        // field that is blank is what tells libcurl to leave it out.
        if value(forHTTPHeaderField: "Content-Length") != nil {
            setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        }
    }
}

#endif
