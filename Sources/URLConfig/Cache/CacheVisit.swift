/// One request of a call on its way through the cache.
///
/// ``CachePolicy`` says what is done; here it is done. If the store fails, the response comes from the server, and is
/// not stored.
struct CacheVisit: Sendable {
    let call: Call
    let cache: HTTPCache
    private(set) var sending: Transport.Request
    let isForeign: Bool
    /// Whether an attempt has failed: a stored failure is no response to the next one.
    private let isRetry: Bool
    private let isAuthorized: Bool
    var core: HTTPCache.Core { cache.core }
    var request: URLRequest { sending.urlRequest }

    /// `nil` if the call has no cache.
    ///
    /// - Parameters:
    ///   - isRenewed: Whether the credentials are new: what is stored may be the refusal of the old ones.
    ///   - isRetry: Whether an attempt of the call has failed.
    init?(_ last: Call.LastRequest, of call: Call, isRenewed: Bool = false, isRetry: Bool = false) {
        guard let cache = call.config.cache else { return nil }
        (self.call, self.cache, self.isRetry) = (call, cache, isRetry)
        (sending, isForeign, isAuthorized) = (last.sending, last.isForeign, last.isAuthorized)
        let policy = call.session.configuration.requestCachePolicy
        if request.cachePolicy == .useProtocolCachePolicy, request.cachePolicy != policy {
            sending.urlRequest.cachePolicy = policy
        }
        if isRenewed, !CachePolicy.onlyStored(request),
            request.cachePolicy != .reloadIgnoringLocalAndRemoteCacheData
        {
            sending.urlRequest.cachePolicy = .reloadIgnoringLocalCacheData
        }
    }

    /// Asks the store, which may block or never return if it is the app's.
    func ask<Value: Sendable>(
        _ question: @escaping @Sendable (any CacheStore) async throws -> Value
    ) async throws -> Value {
        let store = core.store
        if core.isOwn { return try await question(store) }
        return try await sending.conditions.deadline.run(leavesAlone: true) { try await question(store) }
    }

    /// The response from the cache, from the transfer of another call, or from the server.
    func response() async throws -> Transport.Response {
        let ownReason = CachePolicy.bypass(request)
        // The session may add a condition or a directive to each request.
        let complete = ownReason == nil ? call.complete(sending) : request
        let bypass = ownReason ?? CachePolicy.bypass(complete)
        let reason = bypass ?? (call.hidesRequester(sending) ? "a delegate gives credentials" : nil)
        let place = reason == nil ? await CachePlace(self, complete) : nil
        guard let place else {
            if CachePolicy.onlyStored(complete) { return try unavailable() }
            var response = try await call.shared(sending) { try await sent($0, complete: call.complete($0)) }
            await invalidate(by: response)
            let isMethod = bypass != nil && bypass == request.httpMethod
            if response.status == .notModified, !isMethod,
                CachePolicy.condition(of: call.complete(sending)) == nil
            {
                throw Self.unaskedNotModified
            }
            var status = CacheStatus(
                forward: isMethod ? .method : .bypass, detail: reason ?? "the store has failed")
            status.isCollapsed = response.cacheStatus?().isCollapsed == true
            response.add(status)
            return response
        }
        let found = await found(at: place)
        if let response = await stored(found) { return response }
        if CachePolicy.onlyStored(complete) { return try unavailable() }
        return try await call.shared(sending) {
            var visit = self
            visit.sending = $0
            guard call.config.coalesces else { return try await visit.fetched(found) }
            // Another call may have stored the response before this one has begun its transfer.
            let found = await visit.found(at: place)
            if let response = await visit.stored(found) { return response }
            return try await visit.fetched(found)
        }
    }

    private func responses(for key: CacheKey) async throws -> [StoredResponse] {
        if core.expected.isBeingRemoved(key) { return [] }
        if core.expected.hasUnremoved(key) {
            // It may take long, and goes on if the call ends before.
            let task = Task.onOwnThreads { [core] in try? await core.repeatRemovals(for: key) }
            try await sending.conditions.deadline.run(leavesAlone: true) { await task.value }
            if core.expected.hasUnremoved(key) { return [] }
        }
        return try await ask { try await $0.responses(for: key) }
    }

    /// Looks for a stored response.
    private func found(at place: CachePlace) async -> CachePlace.Found {
        let all = (try? await responses(for: place.key)) ?? []
        let own = all.filter { $0.head.check == place.check && $0.head.isValid }
        let matching = own.filter { CachePolicy.matches($0.head, place.complete, place.digests) }
        // RFC 9111 §4: the most recent one by its date.
        let newest = matching.max { ($0.head.date, $0.head.received) < ($1.head.date, $1.head.received) }
        guard let newest else {
            return .init(place: place, forward: own.isEmpty ? .uriMiss : .varyMiss)
        }
        // An earlier run of the app may have stored it.
        removeAtSignOut(place)
        let (head, now) = (newest.head, call.now)
        let isFailure = isRetry && call.config.retry.statuses.contains(.init(code: head.status))
        var asked = place.complete
        if asked.cachePolicy != request.cachePolicy { asked.cachePolicy = request.cachePolicy }
        let use = isFailure ? .ignore : CachePolicy.use(head, for: asked, at: now)
        let isFresh = head.lifetime > CachePolicy.age(of: head, at: now)
        return .init(place: place, matching: matching, response: newest, use: use, forward: isFresh ? .request : .stale)
    }

    /// The stored response, if it can be used without the server.
    private func stored(_ found: CachePlace.Found) async -> Transport.Response? {
        let revalidates =
            found.use == .staleWhileRevalidate && isAuthorized
            && !CachePolicy.onlyStored(found.place.complete)
        // Only the call itself renews credentials that the server has refused.
        if revalidates, core.isRefused(found.place.key) { return nil }
        guard let response = found.response, [.fresh, .stale, .staleWhileRevalidate].contains(found.use),
            let served = await served(response, CacheStatus(isHit: true))
        else { return nil }
        if revalidates { revalidate(at: found.place) }
        return served
    }

    private static var unaskedNotModified: RequestError {
        RequestError(.invalidResponse, reason: "the server sent 304 to a request without conditions")
    }

    /// What a call receives that wants only a stored response.
    private func unavailable() throws -> Transport.Response {
        guard request.cachePolicy == .returnCacheDataDontLoad else {
            // RFC 9111 §5.2.1.7.
            var response = Transport.Response(status: .gatewayTimeout)
            response.add(CacheStatus(detail: "only-if-cached"))
            return response
        }
        throw URLError(notStored: request.url)
    }

    /// Sends the request, and uses and changes what is stored.
    private func fetched(_ found: CachePlace.Found) async throws -> Transport.Response {
        var (sending, status, conditional) = (sending, CacheStatus(forward: found.forward), StoredResponse?.none)
        if found.use == .validate, let response = found.response, response.head.hasValidator,
            request.httpMethod != "HEAD"
        {
            CachePolicy.addConditions(response.head, to: &sending.urlRequest)
            conditional = response
        }
        var requested = 0.0
        func exchange(_ sending: Transport.Request) async throws -> Transport.Response {
            found.place.expected.willSend()
            requested = call.now
            let response = try await sent(sending, complete: found.place.complete)
            core.note(found.place.key, isRefused: response.status == .unauthorized)
            return response
        }
        var response = try await exchange(sending)
        if response.status == .notModified {
            response.body.received.cancel()
            if let conditional {
                let head = found.place.updated(conditional.head, by: response, requested: requested, received: call.now)
                status.forwardStatus = .notModified
                if let head, let valid = await served(conditional, status, with: head) {
                    await update(conditional, head, of: found)
                    return valid
                }
                // It is about another response, or the stored one is gone.
                response = try await exchange(self.sending)
            }
            if response.status == .notModified { throw Self.unaskedNotModified }
            status.forwardStatus = nil
        }
        return await storing(response, found, status, requested: requested)
    }

    /// A stale response in place of a failure, if the server or the caller allows it.
    ///
    /// If the authorization has failed, the cache was not asked before, so a fresh response is used as well.
    func stale() async -> Transport.Response? {
        guard CachePolicy.bypass(call.complete(sending)) == nil, !call.hidesRequester(sending),
            let visit = await identified(), let place = await CachePlace(visit, call.complete(visit.sending))
        else { return nil }
        let found = await visit.found(at: place)
        if !isAuthorized, let response = await stored(found) { return response }
        guard let response = found.response,
            CachePolicy.mayReplaceFailure(response.head, for: place.complete, within: cache.staleIfError, at: call.now)
        else { return nil }
        return await served(response, CacheStatus(isHit: true, detail: "stale-if-error"))
    }

    /// The visit of a request that shows who asks; `nil` if this is unknown, because its authorization has failed.
    ///
    /// It has the token that could not be refreshed, which belongs to the same user.
    private func identified() async -> Self? {
        guard !isAuthorized, cache.requester == nil else { return self }
        guard let tokens = call.config.tokens,
            // It asks a function of the app.
            let request = try? await sending.conditions.deadline.run({ [request] in
                try await tokens.withLastToken(request)
            })
        else { return nil }
        var visit = self
        visit.sending.urlRequest = request
        return visit
    }

    /// Validates a response in the background, with a deadline of its own.
    private func revalidate(at place: CachePlace) {
        var visit = self
        visit.sending = call.detached(sending, call.config.deadline ?? .seconds(60))
        // It is stale, but it would be used.
        visit.sending.urlRequest.cachePolicy = .reloadRevalidatingCacheData
        core.revalidate(place.key) { [visit] in
            do {
                let found = await visit.found(at: place)
                let response = try await visit.fetched(found)
                if response.cacheStatus?().isFromCache == true { return }
                // It may be too long for the memory.
                for try await _ in response.body {}
                // After a 401, the next call renews the credentials. A status that is stored is known.
                let (status, fields) = (response.status, response.headerFields)
                if status.code >= 400, status != .unauthorized, status.code != found.response?.head.status {
                    let head = DataResponse(request: visit.request, status: status, headerFields: fields)
                    throw RequestError(unacceptable: head)
                }
            } catch {
                visit.call.history.log.failed(visit.request, error, after: visit.call.elapsed())
            }
        }
    }

    /// Sends a request to the server, without the session's own cache.
    ///
    /// - Parameter complete: The request with what the session adds to it, which a field here would replace.
    private func sent(_ sending: Transport.Request, complete: URLRequest) async throws -> Transport.Response {
        var sending = sending
        func add(_ name: String, _ value: String) {
            guard complete.value(forHTTPHeaderField: name) == nil else { return }
            // It takes a sixth of the time of `setValue`.
            sending.urlRequest.allHTTPHeaderFields = (sending.urlRequest.allHTTPHeaderFields ?? [:])
                .merging([name: value]) { own, _ in own }
        }
        if request.cachePolicy == .reloadIgnoringLocalAndRemoteCacheData { add("Cache-Control", "no-cache") }
        // An encoded body could not be stored.
        if call.transport.mayHideCutBodies, CachePolicy.bypass(request) == nil { add("Accept-Encoding", "identity") }
        // To change a request copies it. So it stays where no session has a cache.
        if call.transport.mayUseURLCache {
            sending.urlRequest.cachePolicy = .reloadIgnoringLocalCacheData
        }
        return try await call.exchanged(sending)
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
            guard let opened = try? await ask({ _ in try await stored.body() }) else { return nil }
            body = opened.forOneCall
        }
        var response = Transport.Response(
            status: .init(code: head.status), headerFields: head.fields, url: request.url, body: body)
        let age = CachePolicy.age(of: head, at: call.now)
        var status = status
        if status.isHit {
            // RFC 9111 §5.1: seconds, rounded down.
            let shown = min(max(age, 0), Double(CacheControl.longest))
            response.headerFields[.age] = "\(Int(shown))"
            status.age = .seconds(shown)
            status.timeToLive = .seconds(head.lifetime - shown)
        }
        response.add(status)
        body.received.limit(to: sending.conditions.responseLimit)
        body.received.watch(TimeLimits(), of: sending)
        body.received.didPassHead()
        sending.conditions.progress?.endSending()
        return response
    }
}

extension URLError {
    /// Nothing is to be loaded, and no stored response can be used.
    package init(notStored url: URL?) {
        self.init(
            .resourceUnavailable,
            userInfo: [
                NSLocalizedDescriptionKey: "The cache has no response that can be used, and nothing is to be loaded.",
                NSURLErrorFailingURLErrorKey: url as Any,
            ])
    }
}
