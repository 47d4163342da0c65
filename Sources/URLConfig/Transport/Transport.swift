/// Sends one request to a server and returns the response: first the head, then the body as it arrives.
///
/// ```swift
/// let stub = Transport { request in
///     request.urlRequest.url?.path() == "/users/1" ? .init(body: .init(user)) : .init(status: .notFound)
/// }
/// let response = try await URLSession.shared.response(for: request) { $0.transport = stub }
/// ```
///
/// A transport sends one request once. `response(for:)` handles redirects, retries, credentials, time limits and
/// validators, on every transport.
///
/// One transport may use another:
///
/// ```swift
/// let slow = Transport { request in
///     try await Task.sleep(for: .seconds(1))
///     return try await Transport.urlSession.send(request)
/// }
/// ```
///
/// A transport that is in use must not call `response(for:)` without another transport: the call would come back to it.
public struct Transport: Sendable {
    /// `nil` for ``urlSession``.
    private var custom: (@Sendable (_ request: Request) async throws -> Response)?
    /// Whether it is one of the library's: it never blocks, stops at once when the task is cancelled, and watches the
    /// time limits itself.
    package private(set) var isBuiltIn = true
    /// Two transports with the same one send a request in the same way; `nil` for ``urlSession``.
    private var identity: (any AnyObject & Sendable)?

    /// Uses the session of the call, on Linux an internal session with the same configuration.
    public static let urlSession = Self()

    /// A custom transport.
    ///
    /// - Parameter send: Sends a request once and returns the head of the response. It must not follow redirects or
    ///   change the method, which decides about retries. It should stop when the task is cancelled, and so should its
    ///   body: a loop over a stream without a time limit waits for it. The call rethrows its errors. Throw `URLError`
    ///   for network failures, because ``RetryPolicy`` recognizes it. The time limits are the request's `timeout` and
    ///   the call's `deadline`; the session's own limits are ignored. Only this function knows how far a body was sent.
    ///   So for uploads, and for streams and downloads that send more than 1 MB, `timeout` limits only the body of the
    ///   response.
    public init(_ send: @escaping @Sendable (_ request: Request) async throws -> Response) {
        self.init(identity: Identity(), send)
    }

    final class Identity: Sendable {}

    /// A transport that sends as others with the same identity do.
    ///
    /// - Parameter isBuiltIn: Whether it is one of the library's.
    package init(
        identity: any AnyObject & Sendable, isBuiltIn: Bool = false,
        _ send: @escaping @Sendable (_ request: Request) async throws -> Response
    ) {
        (custom, self.isBuiltIn, self.identity) = (send, isBuiltIn, identity)
    }

    private init() {}

    /// What two transports that send in the same way have in common.
    var key: ObjectIdentifier? { identity.map { ObjectIdentifier($0) } }

    /// Sends a request once, for another transport.
    ///
    /// - Parameter request: The request that the other transport received. It may be changed.
    /// - Returns: The head of the response, and the body, which may still arrive. If the body is read slowly,
    ///   ``urlSession`` pauses the transfer; on Linux it keeps 2 MB in memory and the rest in a temporary file.
    /// - Throws: ``RequestError`` if the request cannot be sent, and the errors of the transport. ``urlSession`` throws
    ///   `URLError` for network failures and expired time limits, and `CancellationError` if the task is cancelled.
    public func send(_ request: Request) async throws -> Response {
        // The other transport may have changed the request.
        try check(request.urlRequest)
        request.conditions.redaction.known.add(request.urlRequest)
        // The other transport may read the body in pieces.
        var request = request
        request.buffersBody = false
        request.arrival = nil
        return try await response(to: request)
    }

    var isURLSession: Bool { custom == nil }
    /// Whether it is the session, or one of the app or a stub, which may pass requests on to the session.
    var mayUseSession: Bool { isURLSession || !isBuiltIn }
    /// Whether a session may have the response in a cache of its own.
    var mayUseURLCache: Bool { Exchange.usesURLCache || !isBuiltIn }
    /// Whether a body that is encoded and was cut may look complete, also if an app's transport has remade it.
    var mayHideCutBodies: Bool { Exchange.hidesCutBodies && (isURLSession || !isBuiltIn && identity is Identity) }

    /// Refuses requests that no transport should send, and those that Foundation cannot send.
    func check(_ request: URLRequest) throws(RequestError) {
        try request.checkSendable()
        if custom == nil { try Exchange.check(request) }
    }

    /// Sends a request that was checked.
    private func response(to request: Request) async throws -> Response {
        if isBuiltIn {
            if let standIn = CallScope.standIn { return try await standIn.response(to: request) }
            // Only a session's cache could have the response, and this transport uses none.
            let hasCache = isURLSession && Exchange.usesURLCache
            if request.urlRequest.cachePolicy == .returnCacheDataDontLoad, !hasCache {
                throw URLError(notStored: request.urlRequest.url)
            }
        }
        guard let custom else { return try await Exchange.response(to: request) }
        do {
            return try await custom(request)
        } catch let lost as LostConnection {
            throw URLError(lost, of: request.urlRequest)
        }
    }

    /// Sends a request of a call once, within the time limits of an attempt.
    ///
    /// - Throws: The errors of ``send(_:)``. If a time limit passes later, reading the body throws.
    func attempt(_ request: Request) async throws -> Response {
        isBuiltIn ? try await response(to: request) : try await limited(request)
    }

    /// The same for an app's own transport, whose limits are watched here.
    private func limited(_ request: Request) async throws -> Response {
        let conditions = request.conditions
        let elapsed = conditions.clock.stopwatch()
        let limits = request.timeLimits
        // While an upload is sent, only the transport knows whether there is silence. The body of a stream's request is
        // in memory, and most are short.
        let isShort = !request.buffersBody && request.urlRequest.httpBody.map { $0.count <= 1 << 20 } == true
        let limit = limits.whole ?? (request.body == nil || isShort ? limits.silence : nil)
        let timer = Deadline(limit, conditions.clock, elapsed) { limit, _ in
            URLError(timedOut: request.urlRequest.url, after: limit)
        }
        var response = try await conditions.deadline.run(leavesAlone: limit == nil) {
            try await timer.run { try await self.response(to: request) }
        }
        conditions.progress?.endSending(request.urlRequest.httpBody?.count)
        response.body = response.body.forOneCall
        request.arrival?.note(\.head)
        let body = response.body.received
        body.limit(to: conditions.responseLimit)
        // First, because the time before the head is no silence of the body.
        body.didPassHead()
        body.watch(limits, of: request, since: elapsed)
        return response
    }

    /// A connection was closed before a response: a reused one, or while the body was sent.
    ///
    /// The server may have processed the request. So the call sends it again only if its method is idempotent
    /// (RFC 9110 §9.2.2). Otherwise the call throws `URLError` with code `.networkConnectionLost`.
    struct LostConnection: Error {
        var underlyingError: (any Error)?
        /// Whether it broke off while the body was sent, so that it may have been a new one.
        var brokeOff = false
    }

    /// The head of a response, and a body that may still arrive.
    public struct Response: Sendable {
        /// The status (RFC 9110 §15).
        public var status: HTTPResponse.Status
        /// The header fields.
        public var headerFields: HTTPFields
        /// The URL of the response; `nil` for the URL of the request.
        public var url: URL?
        /// The body.
        public var body: ResponseBody
        /// Whether it came from the session's cache; this is known when the body has ended.
        var isFromCache: @Sendable () -> Bool = { false }
        /// The connection, as far as it is known when the body has ended.
        var connection: @Sendable () -> CallEvent.Connection? = { nil }
        /// What the cache of the call did; this is known when the body has ended.
        var cacheStatus: (@Sendable () -> CacheStatus)?
        /// Hides the secrets of the call; by default, those that the defaults name.
        var redaction: Redaction?

        /// A response.
        ///
        /// - Parameters:
        ///   - status: The status.
        ///   - headerFields: The header fields.
        ///   - url: The URL of the response, by default the request's.
        ///   - body: The body, by default empty.
        public init(
            status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], url: URL? = nil,
            body: ResponseBody = .init()
        ) {
            self.status = status
            self.headerFields = headerFields
            self.url = url
            self.body = body
        }
    }
}

extension Transport.Response: RedactedReflectable {
    var shownChildren: [(String, Any?)] {
        let redaction = redaction ?? URLSession.Config.default.redaction
        return [("status", status.code), ("headerFields", redaction.masked(headerFields))]
    }
}

extension URLError {
    private static let (lostConnectionKey, damageKey) = ("URLConfigLostConnection", "URLConfigDamagedResponse")

    /// Whether a reused connection was closed before a response to a request that may be sent again.
    ///
    /// It is part of the error, because a transport may send several requests and throw the error of any of them.
    var isLostConnection: Bool { errorUserInfo[Self.lostConnectionKey] != nil }
    /// Whether it was lost while the body was sent; redaction does not change this.
    var brokeOff: Bool { errorUserInfo[Self.lostConnectionKey] as? Bool == true }

    /// Whether a stored response was found to be damaged while it was read.
    var isDamagedResponse: Bool { errorUserInfo[Self.damageKey] != nil }
    var withDamageMark: URLError { URLError(code, userInfo: errorUserInfo.merging([Self.damageKey: true]) { $1 }) }

    /// The error as the caller receives it.
    var withoutMark: URLError {
        URLError(code, userInfo: errorUserInfo.filter { ![Self.lostConnectionKey, Self.damageKey].contains($0.key) })
    }

    init(_ lost: Transport.LostConnection, of request: URLRequest) {
        let reason = "The connection was lost before a response. The server may have processed the request."
        // This checks the sent method, because a transport may have changed it.
        let mark = request.hasIdempotentMethod ? [Self.lostConnectionKey: lost.brokeOff] : [:]
        self.init(.networkConnectionLost, reason, url: request.url, cause: lost.underlyingError, others: mark)
    }

    init(timedOut url: URL?, after limit: Duration) {
        let reason = "The request timed out: there was no complete response within \(limit.shown)."
        self.init(.timedOut, reason, url: url)
    }
}
