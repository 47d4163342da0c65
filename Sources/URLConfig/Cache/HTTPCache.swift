/// A cache for the responses of calls (RFC 9111): private, and off by default.
///
/// ```swift
/// URLSession.Config.default.cache = .disk(megabytes: 50)
/// let news = try await URLSession.shared.response(for: request)
/// print(news.cacheStatus?.description ?? "no cache")         // hit; age=12; ttl=48
/// ```
///
/// Make it once, in a preset or in the default: copies share one store, and each call of ``memory(megabytes:)`` makes a
/// new one. A stored response is given only to the user who requested it: to the same credentials and cookies, or to
/// the same user of a ``TokenAuthenticator``.
public struct HTTPCache: Sendable {
    /// How long after it became stale a response may be used in place of a failure of the server or the network.
    ///
    /// A deadline that has passed is such a failure, too. With `nil`, the default, only the server decides
    /// (`stale-if-error`, RFC 5861 §4). A response that must be validated (`no-cache`, `must-revalidate`) is never used
    /// in this way. Set this in the preset: without it, a response that has neither a lifetime nor a validator is not
    /// stored.
    public var staleIfError: Duration?
    /// The name of the user, used instead of the credentials and cookies of the requests; `nil`, the default, uses
    /// these.
    ///
    /// Use it if one user's credentials change between two runs of the app, or if the request does not show them: a
    /// client certificate, a delegate, or a ``Transport`` that adds them. Each user needs a different name.
    public var requester: String?

    var core: Core

    /// A cache with a store of the app.
    ///
    /// - Parameter store: Keeps the responses.
    public init(store: any CacheStore) { core = Core(store, isOwn: false) }

    private init(own store: any CacheStore) { core = Core(store, isOwn: true) }

    /// A cache in memory.
    ///
    /// - Parameter megabytes: The most megabytes (10^6 bytes) of all responses; with zero or less, nothing is stored.
    public static func memory(megabytes: Int) -> Self { Self(own: MemoryStore(capacity: megabytes.megabytes)) }

    /// A cache in files, which several processes may use at once.
    ///
    /// - Parameters:
    ///   - megabytes: The most megabytes (10^6 bytes) of all responses; with zero or less, nothing is stored.
    ///   - folder: The folder, which is created if it does not exist; by default `URLConfig` in the user's folder for
    ///     caches. Only this user can read it. If it cannot be used, nothing is stored. On iOS, do not use a
    ///     folder of an app group: the system ends an app that is suspended while it holds the lock of a file there.
    public static func disk(megabytes: Int, in folder: URL? = nil) -> Self {
        let manager = FileManager.default
        let caches = manager.urls(for: .cachesDirectory, in: .userDomainMask).first ?? manager.temporaryDirectory
        let folder = folder ?? caches.appending(path: "URLConfig", directoryHint: .isDirectory)
        return Self(own: DiskStore(capacity: megabytes.megabytes, folder: folder))
    }

    /// Removes all responses.
    ///
    /// - Throws: The errors of the store.
    public func removeAll() async throws { try await current.remove(nil) }

    /// Removes the responses that were stored for a ``requester``.
    ///
    /// - Parameter requester: The name of the requester.
    /// - Throws: The errors of the store.
    public func removeResponses(for requester: String) async throws {
        let current = current
        let key = try await current.keyForRemoval()
        try await current.remove(.requester(Requester(named: requester).digest(key).hex))
    }

    /// Waits until no response is being validated in the background; for tests, and before a process ends.
    public func finishRevalidations() async { await current.finishRevalidations() }

    /// Where the responses of this task are.
    private var current: Core { CallScope.place(for: core) }

    /// What copies of a cache share.
    final class Core: Sendable {
        let store: any CacheStore
        /// Whether it is one of the library's stores, which never block for long.
        let isOwn: Bool
        /// The responses that are on their way.
        let expected: ExpectedResponses
        private let salt = Locked(Digest.Key?.none)
        private let running = Locked<[CacheKey: Task<Void, Never>]>([:])
        /// What the server has refused last.
        private let refused = Locked<Set<CacheKey>>([])

        init(_ store: any CacheStore, isOwn: Bool) {
            (self.store, self.isOwn) = (store, isOwn)
            expected = (store as? DiskStore)?.onTheWay.expected ?? ExpectedResponses()
        }

        /// The key of all digests.
        func key() async throws -> Digest.Key {
            if let key = salt.withLock({ $0 }) { return key }
            let bytes = try await store.salt()
            // Without a key, digests would tell what they are of.
            guard bytes.count >= 16 else { throw CocoaError(.coderInvalidValue) }
            let key = Digest.Key(bytes)
            salt.set(\.self, key)
            return key
        }

        /// Removes responses, also those that are on their way.
        func remove(_ responses: CacheSelection?) async throws {
            try await expected.remove(responses) { try await store.remove(responses) }
        }

        /// The key of all digests, to remove responses: without it, nothing is used until all responses are removed.
        func keyForRemoval() async throws -> Digest.Key {
            do {
                return try await key()
            } catch {
                try await expected.remove(nil) { throw error }
                throw error
            }
        }

        /// Removes what had to be removed before something of a key is used, and could not be.
        func repeatRemovals(for key: CacheKey) async throws {
            for old in try expected.removalsToRepeat(for: key) where (try? await store.remove(old)) != nil {
                expected.note(old, isRemoved: true)
            }
        }

        /// Removes the response of a variant.
        func remove(_ variant: String, of key: CacheKey) async throws {
            // A store has no function for this, so something that is never found takes its place.
            var never = StoredResponse.Head()
            (never.variant, never.status) = (variant, 0)
            let writer = try? await store.writer(for: never, key: key)
            if let writer, (try? await writer.finish()) != nil { return }
            try await remove(.resource(key.resource))
        }

        /// Validates a response in the background, unless this is being done.
        func revalidate(_ key: CacheKey, _ work: @escaping @Sendable () async -> Void) {
            running.withLock { running in
                guard running[key] == nil else { return }
                running[key] = Task { [weak self] in
                    await work()
                    self?.running.set(\.[key], nil)
                }
            }
        }

        /// Notes whether the server has refused a request.
        func note(_ key: CacheKey, isRefused: Bool) {
            refused.withLock { refused in
                if refused.count >= 1000 { refused = [] }
                if isRefused { refused.insert(key) } else { refused.remove(key) }
            }
        }

        func isRefused(_ key: CacheKey) -> Bool { refused.withLock { $0.contains(key) } }

        func finishRevalidations() async {
            while let task = running.withLock({ $0.values.first }) { await task.value }
        }
    }
}

extension Int {
    /// This number of megabytes in bytes.
    fileprivate var megabytes: Int { Swift.max(0, Swift.min(self, .max / 1_000_000)) * 1_000_000 }
}

extension Digest.Key {
    /// - Parameter salt: Random bytes; the first 16 count.
    init(_ salt: Data) {
        let words = [0, 8].map { start in
            salt.dropFirst(start).prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        }
        (first, second) = (words[0], words[1])
    }

    /// Another key for the same texts.
    var other: Self {
        var other = self
        other.second = ~second
        return other
    }
}

extension Digest {
    /// 16 hexadecimal digits.
    var hex: String { value.hexDigits }
}
