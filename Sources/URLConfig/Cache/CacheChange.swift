/// What a response of the server changes in the store.
struct CacheChange: Sendable {
    let access: CacheAccess
    let place: CachePlace
    /// What was stored before the request was sent.
    let found: CachePlace.Found
    private var request: URLRequest { access.request }

    /// A stored response is valid, with a new head.
    func update(_ stored: StoredResponse, _ head: StoredResponse.Head) async {
        guard place.expected.replaceEarlier(head.variant) else { return }
        if head.control.contains("no-store") { return await remove() }
        try? await access.ask { [place] in try await $0.update(stored, head, key: place.key) }
    }

    /// Removes the stored responses to such a request, and no others.
    private func remove() async {
        for stored in found.matching where place.expected.replaceEarlier(stored.head.variant) {
            try? await access.ask { [core = access.core, key = place.key] store in
                // A store has no function for this, so something that is never found takes the place of the response.
                let writer = try await store.writer(for: .never(stored.head.variant), key: key)
                guard let writer else { return try await core.remove(.resource(key.resource)) }
                try await writer.finish()
            }
        }
    }

    /// Stores a response of the server while the caller reads it, if it may be stored.
    ///
    /// - Parameters:
    ///   - status: What the cache has done until now.
    ///   - requested: When the request was sent, in seconds since 1970.
    func storing(
        _ response: Transport.Response, _ status: CacheStatus, requested: Double
    ) async -> Transport.Response {
        var (response, status) = (response, status)
        var head = CachePolicy.head(
            response.status, response.headerFields, to: place.complete, place.digests, requested: requested,
            received: access.call.now)
        head.check = place.check
        if request.httpMethod == "HEAD" {
            await update(by: response, requested: requested)
            response.add(status)
            return response
        }
        var refusal = refusal(head, of: response)
        var writer = (any CacheWriter)?.none
        if refusal == nil {
            writer = try? await access.ask { [head, place] in try await $0.writer(for: head, key: place.key) }
            if writer == nil { refusal = "the store has no room" }
        }
        // From now on, the store itself knows what is removed.
        if refusal == nil, !place.expected.isWanted(head.variant) { refusal = "removed or replaced meanwhile" }
        guard let writer, refusal == nil else {
            if CachePolicy.endsStored(response.status) {
                place.expected.replaceEarlier(head.variant)
                await remove()
            }
            status.detail = refusal
            response.add(status)
            return response
        }
        removesAtSignOut()
        let entry = CacheEntryWriter(
            writer, of: place.expected, variant: head.variant, length: response.headerFields.decodedLength)
        do {
            if access.sending.isWhole {
                // The call waits for the body, so it need not be passed on in pieces.
                let outcome = try await SharedTransfer.Outcome(response)
                do { try await access.ask { _ in await entry.store(outcome) } } catch { entry.fail() }
                response = outcome.copy
            } else {
                response.body = try entry.storing(response.body, for: access.sending, isOwn: access.core.isOwn)
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

    /// Why a response is not stored; `nil` if it is.
    private func refusal(_ head: StoredResponse.Head, of response: Transport.Response) -> String? {
        if response.body.received.hidesCut, response.headerFields.isEncoded { return "encoded" }
        let keepsStale = access.cache.staleIfError != nil
        if let refusal = CachePolicy.refusal(head, to: request, keepsStale: keepsStale) { return refusal }
        // The response has signed somebody in or out.
        let isSame = access.call.complete(access.sending).value(forHTTPHeaderField: "Cookie") == place.cookie
        return isSame ? nil : "other cookies"
    }

    /// What is stored for a user is removed when the user signs out.
    private func removesAtSignOut() {
        let core = access.core
        place.login?.atEnd(of: core, place.key.requester) { requester in
            Task { try? await core.remove(.requester(requester)) }
        }
    }

    /// A response to HEAD tells of a stored response to GET (RFC 9111 §4.3.5).
    private func update(by response: Transport.Response, requested: Double) async {
        guard let old = found.response, response.status == .ok else { return }
        let head = CachePolicy.updated(
            old.head, by: response.status, response.headerFields, to: place.complete, place.digests,
            requested: requested, received: access.call.now)
        if let head { await update(old, head) } else { await remove() }
    }
}

extension CacheAccess {
    /// An unsafe request has changed what was stored (RFC 9111 §4.4).
    func invalidate(by response: Transport.Response) async {
        let urls = CachePolicy.invalidated(by: request, response.status, response.headerFields)
        guard !urls.isEmpty else { return }
        let removal = { @Sendable [core] in
            guard let digests = try? await core.key() else { return }
            for url in urls { try? await core.remove(.resource(Digest(url.normalized, key: digests).hex)) }
        }
        if core.isOwn { return await removal() }
        // It goes on if the call ends before.
        let task = Task(operation: removal)
        try? await sending.conditions.deadline.run(leavesAlone: true) { await task.value }
    }
}
