/// What a call returns in place of a failure: a stale response of the cache, or the response of the fallback.
struct LastResort: Sendable {
    /// The time for a stale response when the deadline has passed, and then for a fallback.
    private static let limit = Duration.seconds(1)

    let call: Call
    private var config: URLSession.Config { call.config }

    /// A valid response in place of an error.
    ///
    /// - Throws: The error for the caller if there is no such response.
    func response(after error: any Error, _ request: URLRequest) async throws -> Received {
        if let stale = await stale(after: error) { return stale }
        return try await fallback(after: call.failure(error, of: request), request)
    }

    /// The stale response of the cache to the last request, before it is validated.
    func stale() async throws -> Received? {
        guard let last = call.lastRequest?.withLock(\.self), var stale = await CacheVisit(last, of: call)?.stale()
        else { return nil }
        stale.redaction = call.redaction
        var received = try await call.received(stale, to: last.sending.urlRequest)
        // Nothing is sent after it, so a redirect or a refusal of credentials would be the response of the call.
        guard try await call.ends(with: received, to: last) else {
            received.endBody()
            return nil
        }
        received.response.attempts = call.attempts
        return received
    }

    /// A stale response in place of a failure of the server or the network, or of what was not done in time.
    private func stale(after failure: any Error) async -> Received? {
        let code = (failure as? RequestError)?.code
        guard config.cache != nil, !Task.isCancelled,
            failure is URLError || code == .deadlineExceeded || code == .authenticationTimedOut,
            // Otherwise the error is about a response of the server.
            call.attempts.last?.status.map(CachePolicy.isFailure) ?? true
        else { return nil }
        // The deadline that has passed may be one of a call that an authenticator made.
        if (try? call.deadline.check()) != nil {
            if let stale = try? await validStale() { return stale }
            // The deadline may have passed during the search.
            guard (try? call.deadline.check()) == nil, !Task.isCancelled else { return nil }
        }
        // What is asked now has other limits.
        call.deadline.end()
        let rest = Deadline(Self.limit, config.clock) { _, _ in failure }
        return try? await rest.run { try await validStale() }
    }

    private func validStale() async throws -> Received? {
        guard let stale = try await stale() else { return nil }
        return try await call.validated(stale)
    }

    /// The response of the fallback, if there is one; otherwise throws the error.
    private func fallback(after error: any Error, _ request: URLRequest) async throws -> Received {
        guard let fallback = config.fallback, !Task.isCancelled, (error as? RequestError)?.isUnsendable != true
        else { throw error }
        let limit = config.deadline.map { _ in max(call.deadline.remaining ?? .zero, Self.limit) }
        call.deadline.end()
        let rest = Deadline(limit, config.clock) { [call] limit, _ in
            call.history.error(after: call.config.deadline ?? limit, cause: error)
        }
        do {
            return Received(response: call.configured(try await rest.run { try await fallback(error, request) }))
        } catch {
            throw call.final(error)
        }
    }
}
