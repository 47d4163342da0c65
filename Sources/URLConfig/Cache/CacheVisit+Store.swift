/// What a response of the server changes in the store.
extension CacheVisit {
    /// A stored response is valid, with a new head.
    func update(_ stored: StoredResponse, _ head: StoredResponse.Head, of found: CachePlace.Found) async {
        guard found.place.expected.replaceEarlier(head.variant) else { return }
        if head.control.contains("no-store") { return await remove(found) }
        try? await ask { try await $0.update(stored, head, key: found.place.key) }
    }

    /// Removes the stored responses to such a request, and no others.
    private func remove(_ found: CachePlace.Found) async {
        let place = found.place
        for stored in found.matching where place.expected.replaceEarlier(stored.head.variant) {
            try? await ask { [core] _ in try await core.remove(stored.head.variant, of: place.key) }
        }
    }

    /// Stores a response of the server while the caller reads it, if it may be stored.
    ///
    /// - Parameters:
    ///   - found: What was stored before the request was sent.
    ///   - status: What the cache has done until now.
    ///   - requested: When the request was sent, in seconds since 1970.
    func storing(
        _ response: Transport.Response, _ found: CachePlace.Found, _ status: CacheStatus, requested: Double
    ) async -> Transport.Response {
        var (response, status, place) = (response, status, found.place)
        if request.httpMethod == "HEAD" {
            await update(found, by: response, requested: requested)
            response.add(status)
            return response
        }
        var head = CachePolicy.head(
            response.status, response.headerFields, to: place.complete, place.digests, requested: requested,
            received: call.now)
        head.check = place.check
        // The clock was ahead, so they would pass for newer ones.
        if found.matching.contains(where: { $0.head.received > head.received }) { await remove(found) }
        var writer = (any CacheWriter)?.none
        var refusal = refusal(head, of: response, found)
        if refusal == nil {
            writer = try? await ask { [place, head] in try await $0.writer(for: head, key: place.key) }
            // From now on, the store itself knows what is removed.
            let isWanted = place.expected.isWanted(head.variant)
            refusal = writer == nil ? "the store has no room" : isWanted ? nil : "removed or replaced meanwhile"
        }
        guard refusal == nil, let writer else {
            if CachePolicy.isAboutResource(response.status) {
                place.expected.replaceEarlier(head.variant)
                await remove(found)
            }
            status.detail = refusal
            response.add(status)
            return response
        }
        removeAtSignOut(place)
        let replaced = CachePolicy.isAboutResource(response.status) ? found.matching.map(\.head.variant) : []
        let entry = CacheEntryWriter(
            writer, of: place.expected, variant: head.variant, replaced: replaced,
            length: response.headerFields.decodedLength
        ) { [core, key = place.key] in try? await core.remove($0, of: key) }
        guard let body = try? entry.storing(response.body) else { return response }
        if !core.isOwn {
            // A store of the app may block.
            body.watch(TimeLimits(), of: sending)
            body.leavesSourceAlone()
        }
        response.body = ResponseBody(body)
        response.cacheStatus = { [status] in
            var status = status
            status.isStored = entry.isStored
            return status
        }
        return response
    }

    /// Why a response is not stored; `nil` if it is.
    private func refusal(
        _ head: StoredResponse.Head, of response: Transport.Response, _ found: CachePlace.Found
    ) -> String? {
        if core.expected.hasUnremoved(found.place.key) { return "earlier responses could not be removed" }
        if response.headerFields.isEncoded {
            // Others do not know an encoding that only this caller has asked for. A session has decoded it.
            let isOwn = found.place.complete.value(forHTTPHeaderField: "Accept-Encoding") != nil
            let isForOthers = !isOwn || call.transport.isURLSession || head.varyNames.contains("accept-encoding")
            if call.transport.mayHideCutBodies || !isForOthers { return "encoded" }
        }
        let keepsStale = cache.staleIfError != nil
        if let refusal = CachePolicy.refusal(head, to: request, keepsStale: keepsStale) { return refusal }
        // It would take the place of what may be used instead of it.
        if !CachePolicy.isAboutResource(response.status), let old = found.response?.head,
            CachePolicy.mayReplaceFailure(old, within: cache.staleIfError, at: call.now)
        {
            return "instead of a failure"
        }
        // The response has signed somebody in or out.
        return call.complete(sending).value(forHTTPHeaderField: "Cookie") == found.place.cookie ? nil : "other cookies"
    }

    /// What is stored for a user is removed when the user signs out.
    func removeAtSignOut(_ place: CachePlace) {
        guard let login = place.login else { return }
        // A store in memory may go before; what is in files stays.
        let kept = core.store is MemoryStore ? nil : core
        // All stores of a folder share this object.
        login.atEnd(of: core.expected, place.key.requester) { [weak core, kept] requesters in
            _ = Task.onOwnThreads { [core = kept ?? core] in
                for requester in requesters { try? await core?.remove(.requester(requester)) }
            }
        }
    }

    /// A response to HEAD tells of a stored response to GET (RFC 9111 §4.3.5).
    private func update(_ found: CachePlace.Found, by response: Transport.Response, requested: Double) async {
        guard let old = found.response, response.status == .ok else { return }
        let head = found.place.updated(old.head, by: response, requested: requested, received: call.now)
        if let head { await update(old, head, of: found) } else { await remove(found) }
    }

    /// An unsafe request has changed what was stored (RFC 9111 §4.4).
    func invalidate(by response: Transport.Response) async {
        let urls = CachePolicy.invalidated(by: request, response.status, response.headerFields)
        guard !urls.isEmpty else { return }
        let removal = { @Sendable [core] in
            guard let digests = try? await core.keyForRemoval() else { return }
            for url in urls { try? await core.remove(.resource(Digest(url.normalized, key: digests).hex)) }
        }
        if core.isOwn { return await removal() }
        // It goes on if the call ends before.
        let task = Task.onOwnThreads(removal)
        try? await sending.conditions.deadline.run(leavesAlone: true) { await task.value }
    }
}
