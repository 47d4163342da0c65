// The differences between the platforms, except the shadow sessions of Linux.

#if canImport(FoundationNetworking)

extension DispatchQoS {
    /// For queues that read and write files, and encode what an app sends: both may block.
    ///
    /// The queues of one priority share 255 threads. So these have another one than deadlines.
    static var ofFiles: Self { .utility }
}

extension Exchange {
    /// The bytes of a body that are kept in memory for a slow reader.
    ///
    /// More bytes go to a file: a suspended task would send its request again, and a callback that waits for the reader
    /// would hold up the tasks of all sessions.
    static let bufferSize = 1 << 21
    static let excess = ReceivedBody.Excess.spills
    /// Whether an encoded body that was cut looks complete.
    static let hidesCutBodies = true
    /// Whether the session's own cache is used.
    static let usesURLCache = false

    func start() { ShadowSession.of(request.session).begin(self) }

    func cancel(_ task: URLSessionTask) { ShadowSession.queue(of: self).async { task.cancel() } }

    func storeCookies(of head: HTTPURLResponse) {
        guard let field = head.value(forHTTPHeaderField: "Set-Cookie") else { return }
        ShadowSession.of(request.session).fields
            .storeCookies(field.separateCookies, from: head.url, to: request.urlRequest)
    }

    static func check(_ request: URLRequest) throws(RequestError) {
        guard request.url?.host(percentEncoded: true)?.utf8.contains(UInt8(ascii: ":")) == true else { return }
        let reason = "the URL has an IPv6 address, which Foundation on Linux does not request; use a name or an IPv4 "
        throw RequestError(.invalidURL, reason: reason + "address, or Transport.asyncHTTPClient", request: request)
    }
}

extension Transport.Request {
    /// Whether a delegate gives credentials that the request does not show.
    var hidesCredentials: Bool { false }
}

extension URLRequest {
    /// Which kinds of networks it may use.
    var allowedNetworks: [Bool] { [allowsCellularAccess] }
}

extension TimeInterval {
    /// A time limit that is valid for Foundation; `nil` for none.
    ///
    /// Foundation rounds down to whole seconds, so half a second expires immediately. It crashes for invalid limits,
    /// such as infinity. The library's own limits are exact.
    var forFoundation: TimeInterval? {
        Duration(timeoutInterval: self)?.timeoutInterval?.rounded(.up)
    }
}

#else

extension DispatchQoS {
    static var ofFiles: Self { .userInitiated }
}

extension Exchange {
    /// The bytes of a body that may arrive before a slow reader reads them; then the task is suspended.
    static let bufferSize = 1 << 20
    static let excess = ReceivedBody.Excess.pauses
    static let hidesCutBodies = false
    static let usesURLCache = true

    static func check(_ request: URLRequest) throws(RequestError) {}
    func cancel(_ task: URLSessionTask) { task.cancel() }
    func storeCookies(of head: HTTPURLResponse) {}

    func start() {
        watch()
        var urlRequest = request.urlRequest
        // A copy, as the documentation of the property says.
        let configuration = request.session.configuration
        // Setting a task's delegate raises an exception in a background session.
        guard configuration.identifier == nil else {
            let reason = "a background session is not supported; use another session"
            return body.fail(RequestError(.invalidRequest, reason: reason, request: urlRequest))
        }
        // Foundation would turn an infinite time into a date in the past.
        let limit = Duration(timeoutInterval: urlRequest.timeoutInterval)?.timeoutInterval ?? 60
        if limit != urlRequest.timeoutInterval { urlRequest.timeoutInterval = limit }
        request.conditions.redaction.known.add(urlRequest)
        // At another origin, a session without the credentials sends this request and no other.
        guard !request.allowsSessionCredentials, configuration.removeCredentials(request.conditions.redaction) else {
            begin {
                // An invalidated session raises an exception here. Swift cannot catch it, and no property shows it.
                let task = request.session.dataTask(with: urlRequest)
                task.delegate = self
                return task
            }
            return
        }
        let once = URLSession(
            configuration: configuration, delegate: self, delegateQueue: request.session.delegateQueue)
        begin { once.dataTask(with: urlRequest) }
        // The session lives until its task has ended, and keeps its delegate as long.
        once.finishTasksAndInvalidate()
    }

    /// The caller's delegates, the one for the task first.
    var callerDelegates: [any URLSessionDelegate] {
        let delegates: [(any URLSessionDelegate)?] = [request.conditions.taskDelegate, request.session.delegate]
        return delegates.compactMap { $0 }
    }

    /// The session's cache is not used beside the cache of the call.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposed: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        if request.conditions.hasCache { return completionHandler(nil) }
        let isAsked = callerDelegates.contains {
            ($0 as? any URLSessionDataDelegate)?.urlSession?(
                session, dataTask: dataTask, willCacheResponse: proposed, completionHandler: completionHandler) != nil
        }
        if !isAsked { completionHandler(proposed) }
    }

    /// Calls an optional method of the first delegate that implements it; the call returns `nil` if it is missing.
    func isAsked(_ ask: (_ delegate: any URLSessionTaskDelegate, _ task: URLSessionTask) -> Void?) -> Bool {
        guard let task else { return false }
        return callerDelegates.contains { ($0 as? any URLSessionTaskDelegate).flatMap { ask($0, task) } != nil }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        body.touch()
        request.conditions.progress?.sent(totalBytesSent, of: request.urlRequest.bodyLength ?? totalBytesExpectedToSend)
        // Opening the file of an upload again throws if it has another size now.
        if let length = request.urlRequest.declaredLength, totalBytesSent >= length,
            case .stream(_, let open)? = request.replacement
        {
            do { _ = try open() } catch { body.fail(error) }
        }
        _ = isAsked {
            $0.urlSession?(
                session, task: $1, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }
    }
}

extension Transport.Request {
    var hidesCredentials: Bool {
        let challenges = ["URLSession:", "URLSession:task:"].map {
            NSSelectorFromString($0 + "didReceiveChallenge:completionHandler:")
        }
        let delegates: [(any URLSessionDelegate)?] = [conditions.taskDelegate, session.delegate]
        if delegates.contains(where: { delegate in challenges.contains { delegate?.responds(to: $0) ?? false } }) {
            return true
        }
        // Last, because the keychain may be asked.
        let stored = session.configuration.urlCredentialStorage?.allCredentials.keys.map(\.host) ?? []
        return urlRequest.url?.host().map(stored.contains) ?? false
    }
}

extension URLRequest {
    var allowedNetworks: [Bool] {
        [allowsCellularAccess, allowsExpensiveNetworkAccess, allowsConstrainedNetworkAccess]
    }
}

extension CallEvent.Connection {
    init(_ metrics: URLSessionTaskTransactionMetrics) {
        func time(_ start: Date?, _ end: Date?) -> Duration? {
            guard let start, let end else { return nil }
            return .seconds(end.timeIntervalSince(start))
        }
        self.init(
            protocolName: metrics.networkProtocolName, isReused: metrics.isReusedConnection,
            lookup: time(metrics.domainLookupStartDate, metrics.domainLookupEndDate),
            connect: time(metrics.connectStartDate, metrics.connectEndDate),
            handshake: time(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate))
    }
}

extension Error {
    func transportFailure(of request: Transport.Request, hasHead: Bool) -> any Error { self }
}

#endif
