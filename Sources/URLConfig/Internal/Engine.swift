#if canImport(FoundationNetworking)

/// What a user's session is made of on Linux: one session of ours with the same configuration, which lives as long.
///
/// - A session-level delegate is the only one that hears of data, redirects and challenges alike (of metrics none does), so
///   the user's session, which has a delegate of its own or none, cannot serve.
/// - It has no URL cache: one scans its folder for every request, and cancelling many tasks at once ends the process.
/// - It is never invalidated under a running task, and not made for each request: both end the process.
///
/// What the user's session cannot tell us: that it was invalidated. Calls under way go on, and end with their Swift task.
final class Engine: Sendable {
    private struct Entry {
        weak var user: URLSession?
        let engine: Engine
    }

    private static let engines = LockBox<[ObjectIdentifier: Entry]>([:])

    let session: URLSession
    /// The configuration's time for a whole answer, which Foundation ignores here; `nil` for the usual seven days.
    let resourceLimit: Duration?
    let cookies: Cookies
    private let switchboard = Switchboard()

    /// The engine of a session.
    static func of(_ user: URLSession) -> Engine {
        let key = ObjectIdentifier(user)
        if let engine = known(key, user) { return engine }
        let new = Engine(user.configuration)
        let (engine, unused, _) = engines.withLock { engines in
            // Else the last to hold one might be who looks for it here: it goes when the lock is free, and its delegate with it.
            let alive = engines.values.compactMap(\.user)
            let dead = engines.filter { $0.value.user == nil }
            for key in dead.keys { engines[key] = nil }
            var unused = dead.values.map(\.engine)
            if let entry = engines[key] {
                unused.append(new)
                return (entry.engine, unused, alive)
            }
            engines[key] = Entry(user: user, engine: new)
            return (new, unused, alive)
        }
        for engine in unused { engine.session.finishTasksAndInvalidate() }
        return engine
    }

    private static func known(_ key: ObjectIdentifier, _ user: URLSession) -> Engine? {
        engines.withLock { engines in
            guard let entry = engines[key], entry.user === user else { return nil }
            return entry.engine
        }
    }

    /// How many sessions have one.
    static var count: Int { engines.withLock { $0.count } }

    private init(_ user: URLSessionConfiguration) {
        // What a session shows here is its own object, no copy as on Apple platforms.
        let configuration = user.copy() as? URLSessionConfiguration ?? .default
        configuration.urlCache = nil
        cookies = Cookies(configuration)
        let resource = Duration(timeoutInterval: configuration.timeoutIntervalForResource)
        resourceLimit = resource.flatMap { $0 < .seconds(7 * 24 * 3600) ? $0 : nil }
        configuration.timeoutIntervalForRequest = configuration.timeoutIntervalForRequest.forFoundation ?? 60
        session = URLSession(configuration: configuration, delegate: switchboard, delegateQueue: Inline())
    }

    /// A task, not begun yet, whose callbacks arrive at an exchange.
    func task(for request: URLRequest, of user: URLSession, _ exchange: Exchange) -> URLSessionTask {
        let task = session.dataTask(with: request)
        switchboard.connect(task, to: exchange, of: user)
        return task
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

/// A stream that fails when it is read: of none at all Foundation would send the head, and an empty body.
private final class BrokenStream: InputStream {
    override var hasBytesAvailable: Bool { true }

    init() {
        super.init(data: Data())
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { -1 }
}

/// The delegate of an engine's session: hands each callback to the exchange whose task it is.
private final class Switchboard: NSObject, URLSessionDataDelegate {
    private struct Line {
        let exchange: Exchange
        /// Held so that a session lives as long as the tasks that were begun on it.
        let user: URLSession

        /// Gives the caller's other stream; without one the exchange is over, and nothing that looks whole is sent.
        func newStream(for task: URLSessionTask, _ give: @escaping @Sendable (InputStream?) -> Void) {
            let isGiven = LockBox(false)
            let giveOrEnd: @Sendable (InputStream?) -> Void = { [exchange] stream in
                // A second one would end the process.
                let isFirst = isGiven.withLock { isGiven in
                    defer { isGiven = true }
                    return !isGiven
                }
                guard isFirst else { return }
                if stream == nil { exchange.finish(throwing: URLError(.requestBodyStreamExhausted)) }
                give(stream ?? BrokenStream())
            }
            guard let caller = exchange.caller else { return giveOrEnd(nil) }
            user.delegateQueue.addOperation { [user] in
                caller.urlSession(user, task: task, needNewBodyStream: giveOrEnd)
            }
            // The whole session stands still until then; after seven seconds Foundation goes on with nothing.
            DispatchQueue.global().asyncAfter(deadline: .now() + 5) { giveOrEnd(nil) }
        }
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

    /// libcurl sends a request once more if a connection that it kept turns out to be closed, and needs the body anew: without,
    /// it sends the head alone, and waits for an answer until the time is up.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let line = line(of: task) else { return completionHandler(nil) }
        if let body = line.exchange.body {
            completionHandler(InputStream(data: body))
        } else if task.originalRequest?.httpBodyStream != nil {
            line.newStream(for: task, completionHandler)
        } else {
            // Foundation asks for every task that has no body, too.
            completionHandler(nil)
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let line = lines.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        line?.exchange.urlSession(session, task: task, didCompleteWithError: error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let line = line(of: task), let caller = line.exchange.caller else { return }
        line.user.delegateQueue.addOperation {
            caller.urlSession(
                line.user, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }
    }

    /// The refusal and its body have arrived by now, and are the answer: Foundation would wait for credentials, for ever, and
    /// end the process for those that it cannot use.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        line(of: task)?.exchange.finish(challenge)
    }
}

#endif
