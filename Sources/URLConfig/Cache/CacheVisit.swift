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
    private let isAuthorized: Bool
    private var cache: HTTPCache? { call.config.cache }
    var request: URLRequest { sending.urlRequest }

    /// - Parameters:
    ///   - isForeign: Whether a redirect has left the origin, so that the authenticator was not asked.
    ///   - isRenewed: Whether the credentials are new: what is stored may be the refusal of the old ones.
    ///   - isRetry: Whether an attempt of the call has failed.
    ///   - isAuthorized: Whether the authenticator has not failed. If it has, the request must not be sent.
    init(
        _ sending: Transport.Request, of call: Call, isForeign: Bool, isRenewed: Bool = false, isRetry: Bool = false,
        isAuthorized: Bool = true
    ) {
        (self.sending, self.call, self.isForeign, self.isRetry) = (sending, call, isForeign, isRetry)
        self.isAuthorized = isAuthorized
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

    // MARK: The way of a request

    /// The response from the cache, from the transfer of another call, or from the server.
    func response() async throws -> Transport.Response {
        let bypass = CachePolicy.bypass(request)
        guard cache != nil, bypass == nil, !hidesRequester, let place = await place() else {
            if cache != nil, CachePolicy.onlyStored(request) { return try unavailable() }
            var response = try await bypass == nil ? shared { try await sent($0.sending) } : sent(sending)
            guard cache != nil else { return response }
            await access?.invalidate(by: response)
            let isMethod = bypass != nil && bypass == request.httpMethod
            let reason = bypass ?? (hidesRequester ? "a delegate gives credentials" : "the store has failed")
            response.add(CacheStatus(forward: isMethod ? .method : .bypass, detail: reason))
            return response
        }
        let found = await found(at: place)
        if let response = try await stored(found, at: place) { return response }
        if CachePolicy.onlyStored(request) { return try unavailable() }
        return try await shared { visit in
            // Another call may have stored the response before this one has begun its transfer.
            let found = coalesces ? await visit.found(at: place) : found
            if coalesces, let response = try await visit.stored(found, at: place) { return response }
            return try await visit.fetched(found, at: place)
        }
    }

    private var coalesces: Bool { call.config.coalesces }

    /// The stored response, if it can be used without the server.
    private func stored(_ found: CachePlace.Found, at place: CachePlace) async throws -> Transport.Response? {
        guard let response = found.response, [.fresh, .stale, .staleWhileRevalidate].contains(found.use),
            let served = await served(response, CacheStatus(isHit: true))
        else { return nil }
        if found.use == .staleWhileRevalidate, isAuthorized, !CachePolicy.onlyStored(request) { revalidate(at: place) }
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
    private func fetched(_ found: CachePlace.Found, at place: CachePlace) async throws -> Transport.Response {
        var (sending, status, conditional) = (sending, CacheStatus(forward: found.forward), StoredResponse?.none)
        if found.use == .validate, let response = found.response, response.head.hasValidator,
            request.httpMethod != "HEAD"
        {
            CachePolicy.addConditions(response.head, to: &sending.urlRequest)
            conditional = response
        }
        let change = access.map { CacheChange(access: $0, place: place, found: found) }
        let requested = call.now
        place.expected.willSend()
        var response = try await sent(sending)
        if response.status == .notModified {
            response.body.received.cancel()
            let received = call.now
            if let conditional {
                let head = CachePolicy.updated(
                    conditional.head, by: response.status, response.headerFields, to: place.complete, place.digests,
                    requested: requested, received: received)
                status.forwardStatus = .notModified
                if let head, let valid = await served(conditional, status, with: head) {
                    await change?.update(conditional, head)
                    return valid
                }
                // It is about another response, or the stored one is gone.
                place.expected.willSend()
                response = try await sent(self.sending)
            }
            if response.status == .notModified {
                throw RequestError(.invalidResponse, reason: "the server sent 304 to a request without conditions")
            }
            status.forwardStatus = nil
        }
        return await change?.storing(response, status, requested: requested) ?? response
    }

    /// A stale response in place of a failure, if the server or the caller allows it.
    ///
    /// If the authorization has failed, the cache was not asked before, so a fresh response is used as well.
    func stale() async -> Transport.Response? {
        guard cache != nil, CachePolicy.bypass(request) == nil, !hidesRequester, let visit = await identified(),
            let place = await visit.place()
        else { return nil }
        let found = await visit.found(at: place)
        if !isAuthorized, let response = try? await stored(found, at: place) { return response }
        guard let response = found.response,
            CachePolicy.mayReplaceFailure(response.head, for: request, within: cache?.staleIfError, at: call.now)
        else { return nil }
        return await served(response, CacheStatus(isHit: true, detail: "stale-if-error"))
    }

    /// The visit of a request that shows who asks; `nil` if this is unknown, because its authorization has failed.
    ///
    /// It has the token that could not be refreshed, which belongs to the same user.
    private func identified() async -> Self? {
        guard !isAuthorized, cache?.requester == nil else { return self }
        guard let authenticator = call.config.authenticator as? TokenAuthenticator,
            // It asks a function of the app.
            let request = try? await sending.conditions.deadline.run({ [request] in
                try await authenticator.withLastToken(request)
            })
        else { return nil }
        var visit = self
        visit.sending.urlRequest = request
        return visit
    }

    /// Validates a response in the background, with a deadline of its own.
    private func revalidate(at place: CachePlace) {
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
        _ work: @escaping @Sendable (Self) async throws -> Transport.Response
    ) async throws -> Transport.Response {
        let conditions = sending.conditions
        guard coalesces, sending.isWhole, conditions.taskDelegate == nil, !hidesRequester,
            ["GET", "HEAD"].contains(request.httpMethod ?? "GET"), request.bodyLength == nil
        else { return try await work(self) }
        let key = SharedTransfer.Key(
            session: ObjectIdentifier(call.session), transport: call.transport.key,
            cache: cache.map { ObjectIdentifier($0.core) }, requester: cache?.requester,
            request: call.complete(sending), responseLimit: conditions.responseLimit)
        let visit = detached(nil)
        return try await conditions.deadline.run {
            try await SharedTransfer.response(for: key) { retry in
                call.lastRequest?.withLock { $0?.retry = retry }
            } _: {
                try await .init(work(visit))
            }
        }
    }

    // MARK: The store

    private var access: CacheAccess? { CacheAccess(call, sending) }

    /// Where responses are stored; `nil` if the store cannot be used.
    private func place() async -> CachePlace? {
        guard let access else { return nil }
        return await CachePlace(access, isForeign: isForeign)
    }

    private func found(at place: CachePlace) async -> CachePlace.Found {
        guard let access else { return CachePlace.Found() }
        return await place.found(access, isRetry: isRetry)
    }

    /// A stored response for the call; `nil` if its body cannot be opened.
    ///
    /// - Parameter new: The head after a validation.
    private func served(
        _ stored: StoredResponse, _ status: CacheStatus, with new: StoredResponse.Head? = nil
    ) async -> Transport.Response? {
        let head = new ?? stored.head
        var body = ResponseBody()
        if request.httpMethod != "HEAD" {
            guard let opened = try? await access?.ask({ _ in try await stored.body() }) else { return nil }
            body = opened.forOneCall
        }
        var response = Transport.Response(
            status: .init(code: head.status), headerFields: head.fields, url: request.url, body: body)
        let age = CachePolicy.age(of: head, at: call.now)
        var status = status
        if status.isHit {
            // RFC 9111 §5.1: seconds, rounded down.
            response.headerFields[.age] = "\(Int(min(max(age, 0), Double(CacheControl.longest))))"
            status.age = .seconds(age.isFinite ? age : 0)
            status.timeToLive = .seconds(head.lifetime - (age.isFinite ? age : 0))
        }
        response.add(status)
        body.received.limit(to: sending.conditions.responseLimit)
        body.received.watch(TimeLimits(), of: sending)
        body.received.didPassHead()
        sending.conditions.progress?.endSending()
        return response
    }
}
