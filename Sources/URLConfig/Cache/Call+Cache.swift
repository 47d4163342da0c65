extension Call {
    /// What is remembered of a request for the cache, and for those with whom its transfer was shared.
    struct LastRequest: Sendable {
        /// The request as the caller made it and the authenticator authorized it.
        let sending: Transport.Request
        /// Whether a redirect has left the origin, so that the authenticator was not asked.
        let isForeign: Bool
        /// `false` if the authenticator has failed, so that it was not sent.
        var isAuthorized = true
        /// Of a transfer that was shared.
        var retry: SharedTransfer.Retry?
    }

    /// The response to a request; an unsafe one ends the sharing of what it may have changed.
    func response(to sending: Transport.Request, _ step: Shared<Step>) async throws -> Transport.Response {
        do {
            let response =
                if let lastRequest {
                    try await storedOrShared(sending, step, lastRequest)
                } else {
                    try await exchanged(sending)
                }
            SharedTransfer.closeTransfers(after: sending.urlRequest, response)
            return response
        } catch {
            SharedTransfer.closeTransfers(after: sending.urlRequest, nil)
            throw error
        }
    }

    /// The response of the cache, of a shared transfer or of the transport.
    private func storedOrShared(
        _ sending: Transport.Request, _ step: Shared<Step>, _ lastRequest: Locked<LastRequest?>
    ) async throws -> Transport.Response {
        let request = LastRequest(sending: sending, isForeign: step.isForeign)
        lastRequest.set(\.self, request)
        let visit = CacheVisit(
            request, of: self, isRenewed: step.hasNewCredentials, isRetry: step.attempts > 1)
        if let visit { return try await visit.response() }
        return try await shared(sending) { [self] in try await exchanged($0) }
    }

    /// The same transfer for all calls with equal requests, if the caller wants that.
    ///
    /// - Parameter work: Is given the request without its caller: a shared transfer does not end with the call.
    func shared(
        _ sending: Transport.Request, _ work: @escaping @Sendable (Transport.Request) async throws -> Transport.Response
    ) async throws -> Transport.Response {
        guard config.coalesces, sending.isWhole, conditions.taskDelegate == nil, !hidesRequester(sending),
            CachePolicy.bypass(complete(sending)) == nil
        else { return try await work(sending) }
        let detached = detached(sending, nil)
        return try await SharedTransfer.response(for: .init(sending, of: self), within: deadline) { retry in
            lastRequest?.withLock { $0?.retry = retry }
        } _: {
            try await .init(work(detached))
        }
    }

    /// A request without its caller: its transfer does not end with the call.
    ///
    /// - Parameter limit: The time for the transfer; `nil` for no limit, because those who wait have theirs.
    func detached(_ sending: Transport.Request, _ limit: Duration?) -> Transport.Request {
        var config = config
        config.progress = nil
        let url = sending.urlRequest.url
        let deadline = Deadline(limit, config.clock) { limit, _ in URLError(timedOut: url, after: limit) }
        return Transport.Request(
            sending.urlRequest, session, allowsSessionCredentials: sending.allowsSessionCredentials,
            Transport.Conditions(config, deadline, isTransfer: sending.conditions.isTransfer),
            buffersBody: sending.buffersBody)
    }

    /// Whether it is unknown who asks.
    func hidesRequester(_ sending: Transport.Request) -> Bool {
        config.cache?.requester == nil && sending.hidesCredentials
    }

    /// A request with the fields and cookies that the session adds.
    func complete(_ sending: Transport.Request) -> URLRequest {
        sending.complete(session.configuration, usesSharedCookies: transport.mayUseSession)
    }

    /// The date in seconds since 1970.
    var now: Double {
        // To ask a clock whether it is an `AlarmClock` takes longer.
        if config.clock is ContinuousClock { return Date().timeIntervalSince1970 }
        return ((config.clock as? any AlarmClock)?.date ?? Date()).timeIntervalSince1970
    }

    /// A random number for the delay before a retry.
    var jitter: Double { lastRequest?.withLock({ $0?.retry })?.jitter ?? .random(in: 0...1) }

    /// Whether the budget allows a retry, for which calls that have shared a transfer pay once.
    func mayRetry(_ step: Shared<Step>) -> Bool {
        guard config.retry.isBudgeted else { return true }
        let spend = { self.config.retry.budget.spend(step.host) }
        return lastRequest?.withLock({ $0?.retry })?.isAllowed(by: spend) ?? spend()
    }
}
