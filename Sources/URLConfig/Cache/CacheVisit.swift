/// One request of a call on its way through the cache.
///
/// ``CachePolicy`` says what is done; here it is done. If the store fails, the response comes from the server, and is
/// not stored.
struct CacheVisit: Sendable {
    private let call: Call
    /// The request as the caller made it and the authenticator authorized it.
    private var sending: Transport.Request
    private let isForeign: Bool
    /// Whether an attempt has failed: a stored failure is no response to the next one.
    private let isRetry: Bool
    private var cache: HTTPCache? { call.config.cache }
    var request: URLRequest { sending.urlRequest }

    /// Where responses to the request are stored.
    private struct Place: Sendable {
        let key: CacheKey
        /// Another digest of the same.
        let check: Digest
        let digests: Digest.Key
        let login: TokenAuthenticator.Login?
        /// The request with what the session adds to it.
        let complete: URLRequest
        var cookie: String? { complete.value(forHTTPHeaderField: "Cookie") }
    }

    /// What is stored for the request.
    private struct Found: Sendable {
        /// The response whose selecting fields match.
        var response: StoredResponse?
        var use = CachePolicy.Use.ignore
        /// Why the request is sent to the server.
        var forward = CacheStatus.Forward.uriMiss
    }

    /// - Parameters:
    ///   - isForeign: Whether a redirect has left the origin, so that the authenticator was not asked.
    ///   - isRenewed: Whether the credentials are new: what is stored may be the refusal of the old ones.
    ///   - isRetry: Whether an attempt of the call has failed.
    init(
        _ sending: Transport.Request, of call: Call, isForeign: Bool, isRenewed: Bool = false, isRetry: Bool = false
    ) {
        (self.sending, self.call, self.isForeign, self.isRetry) = (sending, call, isForeign, isRetry)
        if isRenewed, cache != nil, !CachePolicy.onlyStored(request) {
            self.sending.urlRequest.cachePolicy = .reloadIgnoringLocalCacheData
        }
    }

    /// The same request without its caller: its transfer does not end with the call.
    ///
    /// - Parameter limit: The time for the transfer; `nil` for no limit, because those who wait have theirs.
    private func detached(_ limit: Duration?) -> Self {
        var (config, visit) = (call.config, self)
        config.progress = nil
        let url = request.url
        let deadline = Deadline(limit, config.clock) { limit, _ in URLError(timedOut: url, after: limit) }
        visit.sending = Transport.Request(
            request, call.session, allowsSessionCredentials: sending.allowsSessionCredentials,
            Transport.Conditions(config, deadline), buffersBody: true)
        return visit
    }

    /// Whether it is unknown who asks.
    private var hidesRequester: Bool { cache?.requester == nil && sending.hidesCredentials }

    /// The date in seconds since 1970.
    private var now: Double {
        ((call.config.clock as? any AlarmClock)?.date ?? Date()).timeIntervalSince1970
    }

    // MARK: The way of a request

    /// The response from the cache, from the transfer of another call, or from the server.
    func response() async throws -> Transport.Response {
        let bypass = CachePolicy.bypass(request)
        guard cache != nil, bypass == nil, !hidesRequester, let place = await place() else {
            // What was requested before is no response for those who ask after this, even if this fails.
            defer { if !CachePolicy.isSafe(request.httpMethod) { SharedTransfer.closeTransfers(of: request.url) } }
            var response = try await bypass == nil ? shared(nil) { try await sent($0.sending) } : sent(sending)
            guard cache != nil else { return response }
            await invalidate(by: response)
            let isMethod = bypass != nil && bypass == request.httpMethod
            let reason = bypass ?? (hidesRequester ? "a delegate gives credentials" : "the store has failed")
            response.add(CacheStatus(forward: isMethod ? .method : .bypass, detail: reason))
            return response
        }
        let found = await found(at: place)
        if let response = try await stored(found, at: place) { return response }
        if CachePolicy.onlyStored(request) { return try unavailable() }
        return try await shared(place) { visit in
            // Another call may have stored the response before this one has begun its transfer.
            let found = coalesces ? await visit.found(at: place) : found
            if coalesces, let response = try await visit.stored(found, at: place) { return response }
            return try await visit.fetched(found, at: place)
        }
    }

    private var coalesces: Bool { call.config.coalesces }

    /// The stored response, if it can be used without the server.
    private func stored(_ found: Found, at place: Place) async throws -> Transport.Response? {
        guard let response = found.response, [.fresh, .stale, .staleWhileRevalidate].contains(found.use),
            let served = await served(response, CacheStatus(isHit: true))
        else { return nil }
        if found.use == .staleWhileRevalidate, !CachePolicy.onlyStored(request) { revalidate(at: place) }
        return served
    }

    /// What a call receives that wants only a stored response.
    private func unavailable() throws -> Transport.Response {
        guard request.cachePolicy == .returnCacheDataDontLoad else {
            // RFC 9111 §5.2.1.7.
            var response = Transport.Response(status: .gatewayTimeout)
            response.add(CacheStatus(detail: "only-if-cached"))
            return response
        }
        throw URLError(
            .resourceUnavailable,
            userInfo: [
                NSLocalizedDescriptionKey: "The cache has no response that can be used, and nothing is to be loaded.",
                NSURLErrorFailingURLErrorKey: request.url as Any,
            ])
    }

    /// Sends the request, and uses and changes what is stored.
    private func fetched(_ found: Found, at place: Place) async throws -> Transport.Response {
        var (sending, status, conditional) = (sending, CacheStatus(forward: found.forward), StoredResponse?.none)
        if found.use == .validate, let response = found.response, response.head.hasValidator,
            request.httpMethod != "HEAD"
        {
            CachePolicy.addConditions(response.head, to: &sending.urlRequest)
            conditional = response
        }
        let requested = now
        var response = try await sent(sending)
        if response.status == .notModified {
            response.body.received.cancel()
            let received = now
            if let conditional {
                let head = CachePolicy.updated(
                    conditional.head, by: response.status, response.headerFields, to: place.complete, place.digests,
                    requested: requested, received: received)
                status.forwardStatus = .notModified
                if let head, let valid = await served(conditional, status, with: head) {
                    await update(conditional, head, at: place)
                    return valid
                }
                // It is about another response, or the stored one is gone.
                response = try await sent(self.sending)
            }
            if response.status == .notModified {
                throw RequestError(.invalidResponse, reason: "the server sent 304 to a request without conditions")
            }
            status.forwardStatus = nil
        }
        return await storing(response, status, at: place, instead: found.response, requested: requested)
    }

    /// A stale response in place of a failure, if the server or the caller allows it.
    ///
    /// - Parameter isLate: Whether the deadline has passed.
    func stale(isLate: Bool = false) async -> Transport.Response? {
        guard cache != nil, CachePolicy.bypass(request) == nil, !hidesRequester, let place = await place(),
            let response = await found(at: place).response,
            CachePolicy.mayReplaceFailure(response.head, for: request, within: cache?.staleIfError, at: now)
        else { return nil }
        return await served(response, CacheStatus(isHit: true, detail: "stale-if-error"), isLate: isLate)
    }

    /// Validates a response in the background, with a deadline of its own.
    private func revalidate(at place: Place) {
        var visit = detached(call.config.deadline ?? .seconds(60))
        // It is stale, but it would be used.
        visit.sending.urlRequest.cachePolicy = .reloadRevalidatingCacheData
        cache?.core.revalidate(place.key) { [visit] in
            do {
                let response = try await visit.fetched(visit.found(at: place), at: place)
                if response.cacheStatus?().isFromCache == true { return }
                // It may be too long for the memory.
                for try await _ in response.body {}
            } catch {
                visit.call.history.log.failed(visit.request, error, after: visit.call.elapsed())
            }
        }
    }

    // MARK: The server

    /// Sends a request to the server, without the session's own cache.
    private func sent(_ sending: Transport.Request) async throws -> Transport.Response {
        guard cache != nil else { return try await call.exchanged(sending) }
        var sending = sending
        if request.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData,
            request.value(forHTTPHeaderField: "Cache-Control") == nil
        {
            sending.urlRequest.setValue("no-cache", forHTTPHeaderField: "Cache-Control")
        }
        sending.urlRequest.cachePolicy = .reloadIgnoringLocalCacheData
        // An encoded body could not be stored.
        if Exchange.hidesCutBodies, call.transport.isURLSession, CachePolicy.bypass(request) == nil,
            request.value(forHTTPHeaderField: "Accept-Encoding") == nil
        {
            sending.urlRequest.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        return try await call.exchanged(sending)
    }

    /// The same transfer for all calls with equal requests, if the caller wants that.
    private func shared(
        _ place: Place?, _ work: @escaping @Sendable (Self) async throws -> Transport.Response
    ) async throws -> Transport.Response {
        let conditions = sending.conditions
        guard coalesces, sending.isWhole, conditions.taskDelegate == nil,
            ["GET", "HEAD"].contains(request.httpMethod ?? "GET"), request.bodyLength == nil
        else { return try await work(self) }
        let key = SharedTransfer.Key(
            session: ObjectIdentifier(call.session), transport: call.transport.key,
            cache: cache.map { ObjectIdentifier($0.core) }, requester: place?.key.requester, request: complete,
            responseLimit: conditions.responseLimit)
        let visit = detached(nil)
        return try await conditions.deadline.run {
            try await SharedTransfer.response(for: key) { try await .init(work(visit)) }
        }
    }

    // MARK: The store

    /// Asks the store, which may block or never return if it is the app's.
    private func ask<Value: Sendable>(
        _ question: @escaping @Sendable (any CacheStore) async throws -> Value
    ) async throws -> Value {
        guard let core = cache?.core else { throw CancellationError() }
        if core.isOwn { return try await question(core.store) }
        return try await sending.conditions.deadline.run(leavesAlone: true) { try await question(core.store) }
    }

    private func digests(of core: HTTPCache.Core) async throws -> Digest.Key {
        try await core.isOwn ? core.key() : ask { _ in try await core.key() }
    }

    /// The request with the fields and cookies that the session adds.
    private var complete: URLRequest {
        // The app's own transport may pass requests on to the session.
        let usesSharedCookies = call.transport.isURLSession || !call.transport.isBuiltIn
        return sending.complete(call.session.configuration, usesSharedCookies: usesSharedCookies)
    }

    /// Where responses are stored; `nil` if the store cannot be used.
    private func place() async -> Place? {
        guard let core = cache?.core, let url = request.url,
            let digests = try? await digests(of: core)
        else { return nil }
        let complete = complete
        var (requester, login) = (Requester(named: cache?.requester ?? ""), TokenAuthenticator.Login?.none)
        if cache?.requester == nil {
            var sender = complete
            if !isForeign, call.config.authorize, let authenticator = call.config.authenticator as? TokenAuthenticator,
                // It asks a function of the app.
                let found = try? await sending.conditions.deadline.run({ await authenticator.login(of: complete) })
            {
                login = found.login
                for field in found.fields { sender.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
            }
            requester = Requester(sender, sending.conditions.redaction, usesQuery: false)
        }
        let resource = url.normalized
        let (asked, other) = (requester.digest(digests), requester.digest(digests.other))
        return Place(
            key: CacheKey(resource: Digest(resource, key: digests).hex, requester: asked.hex),
            check: Digest("\(other.hex) \(resource)", key: digests.other), digests: digests, login: login,
            complete: complete)
    }

    /// Looks for a stored response.
    private func found(at place: Place) async -> Found {
        let all = (try? await ask { try await $0.responses(for: place.key) }) ?? []
        let own = all.filter { $0.head.check == place.check && $0.head.isValid }
        let matching = own.filter { CachePolicy.matches($0.head, place.complete, place.digests) }
        guard let newest = matching.max(by: { $0.head.received < $1.head.received }) else {
            return Found(forward: own.isEmpty ? .uriMiss : .varyMiss)
        }
        let isFailure = isRetry && call.config.retry.statuses.contains(.init(code: newest.head.status))
        let use = isFailure ? .ignore : CachePolicy.use(newest.head, for: request, at: now)
        let isFresh = newest.head.lifetime > CachePolicy.age(of: newest.head, at: now)
        return Found(response: newest, use: use, forward: isFresh ? .request : .stale)
    }

    /// A stored response for the call; `nil` if its body cannot be opened.
    ///
    /// - Parameters:
    ///   - new: The head after a validation.
    ///   - isLate: Whether the deadline may have passed.
    private func served(
        _ stored: StoredResponse, _ status: CacheStatus, with new: StoredResponse.Head? = nil, isLate: Bool = false
    ) async -> Transport.Response? {
        let head = new ?? stored.head
        var body = ResponseBody()
        if request.httpMethod != "HEAD" {
            guard let opened = try? await ask({ _ in try await stored.body() }) else { return nil }
            body = opened.forOneCall
        }
        var response = Transport.Response(
            status: .init(code: head.status), headerFields: head.fields, url: request.url, body: body)
        let age = CachePolicy.age(of: head, at: now)
        var status = status
        if status.isHit {
            // RFC 9111 §5.1: seconds, rounded down.
            response.headerFields[.age] = "\(Int(min(max(age, 0), Double(CacheControl.longest))))"
            status.age = .seconds(age.isFinite ? age : 0)
            status.timeToLive = .seconds(head.lifetime - (age.isFinite ? age : 0))
        }
        response.add(status)
        body.received.limit(to: sending.conditions.responseLimit)
        if !isLate { body.received.watch(TimeLimits(), of: sending) }
        body.received.didPassHead()
        sending.conditions.progress?.endSending()
        return response
    }

    private func update(_ stored: StoredResponse, _ head: StoredResponse.Head, at place: Place) async {
        if head.control.contains("no-store") { return await remove(place) }
        try? await ask { try await $0.update(stored, head, key: place.key) }
    }

    private func remove(_ place: Place) async {
        try? await ask { try await $0.remove(.resource(place.key.resource)) }
    }

    /// An unsafe request has changed what was stored (RFC 9111 §4.4).
    private func invalidate(by response: Transport.Response) async {
        let urls = CachePolicy.invalidated(by: request, response.status, response.headerFields)
        guard let core = cache?.core, !urls.isEmpty, let digests = try? await digests(of: core) else { return }
        for url in urls {
            try? await ask { try await $0.remove(.resource(Digest(url.normalized, key: digests).hex)) }
        }
    }

    /// Stores a response of the server while the caller reads it, if it may be stored.
    ///
    /// - Parameter old: The response that was stored.
    private func storing(
        _ response: Transport.Response, _ status: CacheStatus, at place: Place, instead old: StoredResponse?,
        requested: Double
    ) async -> Transport.Response {
        var (response, status) = (response, status)
        var head = CachePolicy.head(
            response.status, response.headerFields, to: place.complete, place.digests, requested: requested,
            received: now)
        head.check = place.check
        if request.httpMethod == "HEAD" {
            await update(old, by: response, at: place, requested: requested)
            response.add(status)
            return response
        }
        var refusal = CachePolicy.refusal(head, to: request, keepsStale: cache?.staleIfError != nil)
        if response.body.received.hidesCut, response.headerFields.isEncoded { refusal = "encoded" }
        // The response has signed somebody in or out.
        if refusal == nil, complete.value(forHTTPHeaderField: "Cookie") != place.cookie { refusal = "other cookies" }
        let writer = refusal == nil ? try? await ask { [head] in try await $0.writer(for: head, key: place.key) } : nil
        guard let writer else {
            // The server does not mean the old one any more, unless it has a problem.
            if old != nil, response.status.kind != .serverError { await remove(place) }
            status.detail = refusal ?? "the store has no room"
            response.add(status)
            return response
        }
        if let login = place.login, let core = cache?.core {
            login.atEnd(of: core, place.key.requester) { requester in
                Task { try? await core.store.remove(.requester(requester)) }
            }
        }
        let entry = CacheEntryWriter(writer, length: response.headerFields.decodedLength)
        do {
            if sending.isWhole {
                // The call waits for the body, so it need not be passed on in pieces.
                let outcome = try await SharedTransfer.Outcome(response)
                _ = try? await ask { _ in await entry.store(outcome) }
                response = outcome.copy
            } else {
                response.body = try entry.storing(response.body, for: sending, isOwn: cache?.core.isOwn ?? true)
            }
        } catch {
            return response
        }
        response.cacheStatus = { [status] in
            var status = status
            status.isStored = entry.isStored
            return status
        }
        return response
    }

    /// A response to HEAD tells of a stored response to GET (RFC 9111 §4.3.5).
    private func update(
        _ old: StoredResponse?, by response: Transport.Response, at place: Place, requested: Double
    ) async {
        guard let old, response.status == .ok else { return }
        let head = CachePolicy.updated(
            old.head, by: response.status, response.headerFields, to: place.complete, place.digests,
            requested: requested, received: now)
        if let head { await update(old, head, at: place) } else { await remove(place) }
    }
}

extension Transport.Response {
    fileprivate mutating func add(_ status: CacheStatus) { cacheStatus = { status } }
}

extension URL {
    /// The URL by which a response is found (RFC 3986 §6.2): without credentials and fragment.
    fileprivate var normalized: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return absoluteString }
        (components.user, components.password, components.fragment) = (nil, nil, nil)
        components.scheme = components.scheme?.lowercased()
        components.percentEncodedHost = components.percentEncodedHost?.lowercased()
        if components.port == (components.scheme == "http" ? 80 : 443) { components.port = nil }
        if components.percentEncodedPath.isEmpty { components.percentEncodedPath = "/" }
        return components.string ?? absoluteString
    }
}
