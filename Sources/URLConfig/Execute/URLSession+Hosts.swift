extension URLSession.Config {
    /// The presets for calls without `config:`.
    struct Defaults: Sendable {
        @Shared var config: URLSession.Config
        var hosts: [HostPattern: URLSession.Config] = [:]
    }

    /// The presets of ``withHosts(_:isolation:_:)``; `nil` outside of its operation.
    @TaskLocal private static var scopedHosts: Locked<[HostPattern: Self]>?

    /// The preset of a host, for calls without `config:`.
    ///
    /// ```swift
    /// URLSession.Config[host: "api.example.com"] = .api
    /// ```
    ///
    /// It may be set at any time from any thread. Running calls keep their settings, also after a redirect to another
    /// host.
    ///
    /// A call that a validator, `onUnauthorized` or a fallback makes without `config:` has none of the three.
    ///
    /// - Parameter host: A host such as `api.example.com`, `localhost:8080` for one port only, or
    ///   `https://api.example.com` for one scheme. The most specific match is used. An invalid host is logged as an
    ///   error and ignored.
    public static subscript(host host: String) -> Self? {
        get {
            guard let pattern = pattern(host) else { return nil }
            return scopedHosts?.withLock { $0[pattern] } ?? defaults.withLock { $0.hosts[pattern] }
        }
        set {
            guard let pattern = pattern(host) else { return }
            scopedHosts?.set(\.[pattern], newValue)
            if scopedHosts == nil { defaults.set(\.hosts[pattern], newValue) }
        }
    }

    /// Runs an operation, such as a test, with presets that only its calls use.
    ///
    /// They have priority over the presets of ``subscript(host:)``, which is set only for the operation inside of it.
    ///
    /// - Parameters:
    ///   - presets: The presets by host, written as for ``subscript(host:)``.
    ///   - isolation: The actor that the operation runs on.
    ///   - operation: The operation. Its errors are rethrown.
    public static func withHosts<Result>(
        _ presets: [String: Self], isolation: isolated (any Actor)? = #isolation,
        _ operation: () async throws -> Result
    ) async rethrows -> Result {
        var hosts = scopedHosts?.withLock { $0 } ?? [:]
        for (host, preset) in presets { pattern(host).map { hosts[$0] = preset } }
        return try await $scopedHosts.withValue(Locked(hosts), operation: operation)
    }

    /// The preset of the request's host, or else the default.
    ///
    /// For a call that a fallback, a validator or `onUnauthorized` makes, it is without these three: the call must not
    /// come back to the closure that makes it.
    static func preset(for request: URLRequest) -> Self {
        var preset = registered(for: request)
        if WorkScope.contains(Call.closures) {
            (preset.fallback, preset.onUnauthorized, preset.validators) = (nil, nil, [])
        }
        return preset
    }

    private static func registered(for request: URLRequest) -> Self {
        let scoped = scopedHosts?.withLock { $0 }
        // Without presets for hosts, the URL is not parsed.
        guard scoped != nil || defaults.withLock({ !$0.hosts.isEmpty }) else { return .default }
        let patterns = HostPattern.matching(request.url)
        return defaults.withLock { defaults in
            for hosts in [scoped ?? [:], defaults.hosts] {
                for pattern in patterns { if let preset = hosts[pattern] { return preset } }
            }
            return defaults.config
        }
    }

    private static func pattern(_ host: String) -> HostPattern? { HostPattern(host, of: "URLSession.Config[host:]") }
}
