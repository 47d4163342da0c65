/// What a response of the server changes in the store.
struct CacheChange: Sendable {
    let access: CacheAccess
    let place: CachePlace
    private var request: URLRequest { access.request }

    /// A stored response is valid, with a new head.
    func update(_ stored: StoredResponse, _ head: StoredResponse.Head) async {
        if head.control.contains("no-store") { return await remove() }
        try? await access.ask { [place] in try await $0.update(stored, head, key: place.key) }
    }

    private func remove() async {
        try? await access.ask { [place] in try await $0.remove(.resource(place.key.resource)) }
    }

    /// Stores a response of the server while the caller reads it, if it may be stored.
    ///
    /// - Parameters:
    ///   - status: What the cache has done until now.
    ///   - old: The response that was stored.
    ///   - requested: When the request was sent, in seconds since 1970.
    func storing(
        _ response: Transport.Response, _ status: CacheStatus, instead old: StoredResponse?, requested: Double
    ) async -> Transport.Response {
        var (response, status) = (response, status)
        var head = CachePolicy.head(
            response.status, response.headerFields, to: place.complete, place.digests, requested: requested,
            received: access.call.now)
        head.check = place.check
        if request.httpMethod == "HEAD" {
            await update(old, by: response, requested: requested)
            response.add(status)
            return response
        }
        let refusal = refusal(head, of: response)
        let writer =
            refusal == nil
            ? try? await access.ask { [head, place] in try await $0.writer(for: head, key: place.key) } : nil
        guard let writer else {
            // The server does not mean the old one any more, unless it has a problem.
            if old != nil, response.status.kind != .serverError { await remove() }
            status.detail = refusal ?? "the store has no room"
            response.add(status)
            return response
        }
        removesAtSignOut()
        let entry = CacheEntryWriter(writer, length: response.headerFields.decodedLength)
        do {
            if access.sending.isWhole {
                // The call waits for the body, so it need not be passed on in pieces.
                let outcome = try await SharedTransfer.Outcome(response)
                _ = try? await access.ask { _ in await entry.store(outcome) }
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
            Task { try? await core.store.remove(.requester(requester)) }
        }
    }

    /// A response to HEAD tells of a stored response to GET (RFC 9111 §4.3.5).
    private func update(_ old: StoredResponse?, by response: Transport.Response, requested: Double) async {
        guard let old, response.status == .ok else { return }
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
        guard !urls.isEmpty, let digests = try? await digests() else { return }
        for url in urls {
            try? await ask { try await $0.remove(.resource(Digest(url.normalized, key: digests).hex)) }
        }
    }
}
