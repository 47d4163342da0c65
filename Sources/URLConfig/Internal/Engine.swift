#if canImport(FoundationNetworking)

/// What a user's session is made of on Linux: one session of ours with the same configuration, which lives as long.
///
/// - A session-level delegate is the only one that is told of data, redirects and challenges alike (of metrics none is), so
///   the user's session, which has a delegate of its own or none, cannot serve.
/// - It has no URL cache: one scans its folder for every request, and crashes when many tasks are cancelled at once.
/// - It is never invalidated under a running task, which crashes.
///
/// What the user's session cannot tell us: that it was invalidated. Calls under way go on, and end with their Swift task.
///
/// **The queues.** Foundation's tasks of all sessions share one serial queue. Making, resuming and cancelling a task wait for it,
/// and a single response can hold it for seconds. So they happen on queues of ours and never on a thread of Swift's pool: while
/// Foundation's queue is held up, deadlines pass and callers return. A call that was given up by the time it is its turn never
/// becomes a task, and as cancelling takes its turn as well, no more tasks are begun than can be ended. There are several, since
/// each of them gets one turn at a time on Foundation's.
final class Engine: Sendable {
    private struct Entry {
        weak var user: URLSession?
        let engine: Engine
    }

    private struct Register {
        var engines: [ObjectIdentifier: Entry] = [:]
        var isSweepDue = false
    }

    private static let register = LockBox(Register())
    private static let queues = (0..<8).map { DispatchQueue(label: "URLConfig.engine.\($0)", qos: .userInitiated) }
    private static let inline = Inline()

    let session: URLSession
    private let resourceLimit: Duration?
    private let silenceLimit: Duration?
    private let cookies: Cookies
    private let fields: AdditionalFields
    private let switchboard = Switchboard()

    /// The engine of a session.
    static func of(_ user: URLSession) -> Engine {
        let key = ObjectIdentifier(user)
        let (known, isSweepDue) = register.withLock { register in
            defer { register.isSweepDue = true }
            let entry = register.engines[key]
            return (entry?.user === user ? entry?.engine : nil, register.isSweepDue)
        }
        if !isSweepDue { queues[0].asyncAfter(deadline: .now() + 1, execute: sweep) }
        if let known { return known }
        let new = Engine(user.configuration)
        let (engine, unused) = register.withLock { register in
            let entry = register.engines[key]
            if let entry, entry.user === user { return (entry.engine, new as Engine?) }
            register.engines[key] = Entry(user: user, engine: new)
            return (new, entry?.engine)
        }
        unused?.session.finishTasksAndInvalidate()
        return engine
    }

    /// Ends the engines of sessions that are gone; their connections are closed with them.
    private static func sweep() {
        let (unused, _) = register.withLock { register in
            register.isSweepDue = false
            // Else the last to hold one might be who looks for it here: it goes when the lock is free, and its delegate with it.
            let alive = register.engines.values.compactMap(\.user)
            let dead = register.engines.filter { $0.value.user == nil }
            for key in dead.keys { register.engines[key] = nil }
            return (dead.values.map(\.engine), alive)
        }
        for engine in unused { engine.session.finishTasksAndInvalidate() }
    }

    /// How many sessions have one.
    static var count: Int { register.withLock { $0.engines.count } }

    private init(_ user: URLSessionConfiguration) {
        // What a session shows here is its own object, no copy as on Apple platforms.
        let configuration = user.copy() as? URLSessionConfiguration ?? .default
        configuration.urlCache = nil
        cookies = Cookies(configuration)
        fields = AdditionalFields(configuration)
        let resource = Duration(timeoutInterval: configuration.timeoutIntervalForResource)
        resourceLimit = resource.flatMap { $0 < .seconds(7 * 24 * 3600) ? $0 : nil }
        let silence = configuration.timeoutIntervalForRequest
        configuration.timeoutIntervalForRequest = silence.forFoundation ?? 60
        // Foundation's own is exact for whole seconds.
        silenceLimit = silence == silence.forFoundation ? nil : Duration(timeoutInterval: silence)
        session = URLSession(configuration: configuration, delegate: switchboard, delegateQueue: Self.inline)
    }

    /// The time for one sending, by our own clock.
    func timeLimit(of request: URLRequest) -> Duration? {
        let limit = request.ownTimeLimit
        guard let resourceLimit else { return limit }
        return min(resourceLimit, limit ?? resourceLimit)
    }

    /// Begins an exchange.
    ///
    /// - Parameter redaction: Which of the configuration's fields stay behind; `nil` for none.
    func begin(
        _ exchange: Exchange, for request: URLRequest, _ credential: URLCredential?, of user: URLSession,
        _ redaction: Redaction?
    ) {
        var request = request
        fields.add(to: &request, without: redaction)
        cookies.add(to: &request)
        if let credential {
            let text = "\(credential.user ?? ""):\(credential.password ?? "")"
            request.setValue("Basic \(Data(text.utf8).base64EncodedString())", forHTTPHeaderField: "Authorization")
        }
        request.prepareBody(for: exchange)
        if let silenceLimit, request.ownTimeLimit == nil {
            exchange.finish(afterSilenceOf: silenceLimit) { [request] in
                URLError(timedOut: request, after: silenceLimit)
            }
        }
        let limit = request.timeoutInterval.forFoundation ?? 60
        if limit != request.timeoutInterval { request.timeoutInterval = limit }
        Self.queue(of: exchange).async { [request] in
            exchange.begin { self.task(for: request, exchange, of: user) }
        }
    }

    private func task(for request: URLRequest, _ exchange: Exchange, of user: URLSession) -> URLSessionTask {
        guard request.mustHaveNewConnection else {
            let task = session.dataTask(with: request)
            switchboard.connect(task, to: exchange, of: user)
            return task
        }
        // Only a session that has had no request yet surely has no connection.
        let switchboard = Switchboard()
        let once = URLSession(configuration: session.configuration, delegate: switchboard, delegateQueue: Self.inline)
        let task = once.dataTask(with: request)
        switchboard.connect(task, to: exchange, of: user)
        // The task, which has not begun yet, is finished first.
        once.finishTasksAndInvalidate()
        return task
    }

    static func cancel(_ task: URLSessionTask, of exchange: Exchange) {
        queue(of: exchange).async { task.cancel() }
    }

    private static func queue(of exchange: Exchange) -> DispatchQueue {
        queues[Int(UInt(bitPattern: ObjectIdentifier(exchange).hashValue) % UInt(queues.count))]
    }

    /// A response has come.
    func received(_ response: HTTPURLResponse, to request: URLRequest) {
        cookies.store(response, to: request)
    }
}

extension URLRequest {
    /// Whether libcurl would send it again without a word, if a connection that it kept is closed before a response.
    ///
    /// It asks for a body that it has begun to send; where there is none, it asks nobody.
    fileprivate var mustHaveNewConnection: Bool { !hasIdempotentMethod && (bodyLength ?? 0) == 0 }

    /// Makes the body one of which libcurl has to ask for a second copy, and that has one length.
    fileprivate mutating func prepareBody(for exchange: Exchange) {
        if let body = httpBody, !body.isEmpty {
            httpBodyStream = InputStream(data: body)
            setValue("\(body.count)", forHTTPHeaderField: "Content-Length")
        } else if let stream = httpBodyStream {
            let length = exchange.bodyLength.flatMap { $0 < 0 ? nil : $0 }
            httpBodyStream = BodyStream(stream, length: length, exchange)
        }
        // Foundation sends a stream in chunks, even if its length is given, and so two framings (RFC 9112 §6.3). A field that is
        // blank is what tells libcurl to leave it out.
        if value(forHTTPHeaderField: "Content-Length") != nil {
            setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        }
    }
}

/// Runs callbacks where they arise, on the session's own queue, which is serial.
///
/// A queue of their own costs a switch of threads for each, and has no bound: a fast server fills it with a gigabyte of data
/// before a transfer that was cancelled stops. So no callback may wait for anything.
///
/// `@unchecked` only restates what `OperationQueue` is already: there is nothing here that could be shared.
private final class Inline: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        block()
    }
}

/// The delegate of an engine's session: hands each callback to the exchange whose task it is.
private final class Switchboard: NSObject, URLSessionDataDelegate {
    private struct Line {
        let exchange: Exchange
        /// Held so that a session lives as long as the tasks that were begun on it.
        let user: URLSession
    }

    private let lines = LockBox<[Int: Line]>([:])

    func connect(_ task: URLSessionTask, to exchange: Exchange, of user: URLSession) {
        lines.withLock { $0[task.taskIdentifier] = Line(exchange: exchange, user: user) }
    }

    private func line(of task: URLSessionTask) -> Line? {
        lines.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        line(of: dataTask)?.exchange
            .urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        line(of: dataTask)?.exchange.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        line(of: task)?.exchange.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }

    /// libcurl is about to send a request once more, because a connection that it kept turned out to be closed, and needs the
    /// body again. The server may have read all of the first one, so whether it is sent again is for the send loop to say.
    ///
    /// Without any stream libcurl would send the head alone, and wait for a response until the time is up: it gets one that
    /// fails.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // Foundation asks for every task that has no body, too.
        guard let exchange = line(of: task)?.exchange, exchange.bodyLength != nil else { return completionHandler(nil) }
        exchange.finish(throwing: LostConnection(task: task))
        completionHandler(BodyStream(InputStream(data: Data()), length: 1, exchange))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let line = lines.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        line?.exchange.urlSession(session, task: task, didCompleteWithError: error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let line = line(of: task) else { return }
        line.exchange.move()
        guard let caller = line.exchange.caller else { return }
        line.user.delegateQueue.addOperation {
            caller.urlSession(
                line.user, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                // Foundation knows of no length of a stream.
                totalBytesExpectedToSend: line.exchange.bodyLength ?? totalBytesExpectedToSend)
        }
    }

    /// The refusal and its body have arrived by now, and are the response: Foundation would wait for credentials, for ever, and
    /// crashes for those that it cannot use.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        line(of: task)?.exchange.finish(challenge)
    }
}

#endif
