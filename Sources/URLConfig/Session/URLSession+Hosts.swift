extension URLSession.Config {
    /// What calls start from that name no preset.
    struct Defaults: Sendable {
        var config: URLSession.Config
        var hosts: [HostPattern: URLSession.Config] = [:]
    }

    /// The presets of ``withHosts(_:isolation:_:)``; `nil` outside of it.
    @TaskLocal private static var scopedHosts: [HostPattern: Self]?

    /// The preset for a host, used by each call to it that names no `config:`.
    ///
    /// ```swift
    /// URLSession.Config[host: "api.example.com"] = .api
    /// ```
    ///
    /// May be set at any time, from any thread; calls under way keep what they began with. A redirect to another host
    /// keeps the preset of the first.
    ///
    /// - Parameter host: A host such as `api.example.com`, `localhost:8080` for one port only, or
    ///   `https://api.example.com` for one scheme; the most specific one is used. What is not a host is logged as an
    ///   error and ignored.
    public static subscript(host host: String) -> Self? {
        get { pattern(host).flatMap { pattern in scopedHosts?[pattern] ?? defaults.withLock { $0.hosts[pattern] } } }
        set { pattern(host).map { defaults.set(\.hosts[$0], newValue) } }
    }

    /// Runs an operation with presets for hosts that only its calls see, such as a test.
    ///
    /// They win over the presets that are set with ``subscript(host:)``.
    ///
    /// - Parameters:
    ///   - presets: The presets by host, as for ``subscript(host:)``.
    ///   - isolation: The actor that the operation runs on.
    ///   - operation: The operation. What it throws is rethrown.
    public static func withHosts<Result>(
        _ presets: [String: Self], isolation: isolated (any Actor)? = #isolation,
        _ operation: () async throws -> Result
    ) async rethrows -> Result {
        var hosts = scopedHosts ?? [:]
        for (host, preset) in presets { pattern(host).map { hosts[$0] = preset } }
        return try await $scopedHosts.withValue(hosts, operation: operation)
    }

    /// The preset for a request: that of its host, otherwise the default.
    static func preset(for request: URLRequest) -> Self {
        let scoped = scopedHosts
        // The usual case costs no look at the URL.
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
