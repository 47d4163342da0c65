import Logging

extension URLSession.Config {
    /// The presets for calls without `config:`.
    struct Defaults: Sendable {
        @Shared var config: URLSession.Config
        var hosts: [Origin: URLSession.Config] = [:]
    }

    /// The presets of ``withHosts(_:_:)``, `nil` for one that was removed there; `nil` outside of its operation.
    @TaskLocal private static var scopedHosts: Locked<[Origin: Self?]>?

    /// The preset of a host, for calls without `config:`.
    ///
    /// ```swift
    /// URLSession.Config[host: "api.example.com"] = .api
    /// ```
    ///
    /// It may be set at any time from any thread. Running calls keep their settings, even after a redirect to another
    /// host.
    ///
    /// A validator, `onUnauthorized` or a fallback that calls the same host needs `config:`, so that its call does not
    /// come back to it.
    ///
    /// - Parameter host: A host such as `api.example.com`, `localhost:8080` for one port only, or
    ///   `https://api.example.com` for one scheme. The most specific match is used. If there already is a more specific
    ///   preset, setting this one logs a notice. An invalid host is logged as an error and ignored.
    public static subscript(host host: String) -> Self? {
        get {
            guard let pattern = pattern(host) else { return nil }
            if let scoped = scopedHosts?.withLock({ $0[pattern] }) { return scoped }
            return defaults.withLock { $0.hosts[pattern] }
        }
        set {
            guard let pattern = pattern(host) else { return }
            if let scopedHosts { return scopedHosts.set(\.[pattern], .some(newValue)) }
            defaults.set(\.hosts[pattern], newValue)
            let others = defaults.withLock { $0.hosts.keys.filter { $0.isMoreSpecific(than: pattern) } }
            if newValue != nil, !others.isEmpty {
                let names = others.map(\.description).sorted().joined(separator: ", ")
                defaultLogger?.notice(
                    "URLSession.Config[host:]: the preset of \(pattern) is not used for \(names), which has its own")
            }
        }
    }

    /// Runs an operation, such as a test, with presets that only its calls use.
    ///
    /// They have priority over the presets of ``subscript(host:)``. Inside the operation, that subscript sets presets
    /// for the operation only.
    ///
    /// - Parameters:
    ///   - presets: The presets by host, written as for ``subscript(host:)``.
    ///   - operation: The operation. Its errors are rethrown.
    public nonisolated(nonsending) static func withHosts<Result>(
        _ presets: [String: Self], _ operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        var hosts = scopedHosts?.withLock { $0 } ?? [:]
        for (host, preset) in presets { pattern(host).map { hosts[$0] = preset } }
        return try await $scopedHosts.withValue(Locked(hosts), operation: operation)
    }

    /// The settings of a call: the preset that it names, or else the one of its host, with changes for this call.
    static func of(_ request: URLRequest, _ preset: Self?, _ configure: (inout Self) -> Void) -> Self {
        var config = preset ?? .preset(for: request)
        configure(&config)
        return config
    }

    /// The preset of the request's host, or else the default.
    static func preset(for request: URLRequest) -> Self { registered(for: request)?.preset ?? .default }

    /// The preset of the request's host.
    static func registered(for request: URLRequest) -> (pattern: Origin, preset: Self)? {
        let scoped = scopedHosts?.withLock { $0 }
        // Without presets for hosts, the URL is not parsed.
        guard scoped != nil || defaults.withLock({ !$0.hosts.isEmpty }) else { return nil }
        let patterns = Origin(request.url).patterns
        for pattern in patterns { if let preset = scoped?[pattern] ?? nil { return (pattern, preset) } }
        return defaults.withLock { defaults in
            for pattern in patterns where scoped?[pattern] == nil {
                if let preset = defaults.hosts[pattern] { return (pattern, preset) }
            }
            return nil
        }
    }

    private static func pattern(_ host: String) -> Origin? { Origin(pattern: host, of: "URLSession.Config[host:]") }
}
