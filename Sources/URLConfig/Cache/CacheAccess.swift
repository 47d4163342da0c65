/// The store of a call's cache, as one request uses it.
struct CacheAccess: Sendable {
    let call: Call
    /// The request as the caller made it and the authenticator authorized it.
    let sending: Transport.Request
    let cache: HTTPCache
    var core: HTTPCache.Core { cache.core }
    var request: URLRequest { sending.urlRequest }

    /// `nil` if the call has no cache.
    init?(_ call: Call, _ sending: Transport.Request) {
        guard let cache = call.config.cache else { return nil }
        (self.call, self.sending, self.cache) = (call, sending, cache)
    }

    /// Asks the store, which may block or never return if it is the app's.
    func ask<Value: Sendable>(
        _ question: @escaping @Sendable (any CacheStore) async throws -> Value
    ) async throws -> Value {
        let store = core.store
        if core.isOwn { return try await question(store) }
        return try await sending.conditions.deadline.run(leavesAlone: true) { try await question(store) }
    }

    /// The key of all digests.
    func digests() async throws -> Digest.Key {
        let core = core
        return try await core.isOwn ? core.key() : ask { _ in try await core.key() }
    }
}

extension Call {
    /// The date in seconds since 1970.
    var now: Double { ((config.clock as? any AlarmClock)?.date ?? Date()).timeIntervalSince1970 }

    /// A request with the fields and cookies that the session adds.
    func complete(_ sending: Transport.Request) -> URLRequest {
        // The app's own transport may pass requests on to the session.
        let usesSharedCookies = transport.isURLSession || !transport.isBuiltIn
        return sending.complete(session.configuration, usesSharedCookies: usesSharedCookies)
    }
}
