extension Call {
    /// What is remembered of a request for the cache, and for those with whom its transfer was shared.
    struct LastRequest: Sendable {
        let sending: Transport.Request
        let isForeign: Bool
        /// `false` if the authenticator has failed, so that it was not sent.
        var isAuthorized = true
        /// Of a transfer that was shared.
        var retry: SharedTransfer.Retry?
    }

    /// The response to a request; an unsafe one ends the sharing of what it may have changed.
    func response(to sending: Transport.Request, _ step: Step) async throws -> Transport.Response {
        let result = await Result { try await storedOrExchanged(sending, step) }
        SharedTransfer.closeTransfers(after: sending.urlRequest, try? result.get())
        return try result.get()
    }

    /// The response of the cache or of the transport.
    private func storedOrExchanged(_ sending: Transport.Request, _ step: Step) async throws -> Transport.Response {
        guard let lastRequest else { return try await exchanged(sending) }
        lastRequest.set(\.self, LastRequest(sending: sending, isForeign: step.isForeign))
        let visit = CacheVisit(
            sending, of: self, isForeign: step.isForeign, isRenewed: step.hasNewCredentials, isRetry: step.attempts > 1)
        return try await visit.response()
    }

    /// A random number for the delay before a retry.
    var jitter: Double { lastRequest?.withLock({ $0?.retry })?.jitter ?? .random(in: 0...1) }

    /// Whether the budget allows a retry, for which calls that have shared a transfer pay once.
    func mayRetry(_ step: Step) -> Bool {
        guard config.retry.isBudgeted else { return true }
        let spend = { self.config.retry.budget.spend(step.host) }
        return lastRequest?.withLock({ $0?.retry })?.isAllowed(by: spend) ?? spend()
    }
}
