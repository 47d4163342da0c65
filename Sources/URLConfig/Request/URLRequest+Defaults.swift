extension URLRequest.Config {
    private static let defaults = Locked(Self(host: ""))

    /// The initial values of `Config()` and of `URLRequest.with { … }` without a preset.
    ///
    /// It may be set at any time, from any thread. Existing requests and presets do not change.
    public static var `default`: Self {
        get { defaults.withLock { $0 } }
        set { defaults.set(\.self, newValue) }
    }

    /// The host of ``default``.
    public static var defaultHost: String {
        get { defaults.withLock { $0.host } }
        set { defaults.set(\.host, newValue) }
    }

    /// The encoder of every configuration that does not set its own.
    ///
    /// By default it sorts keys and does not escape slashes: equal bodies have equal bytes.
    public static var defaultEncoder: JSONEncoder {
        get { defaults.withLock { $0.customEncoder } ?? standardEncoder }
        set { defaults.set(\.customEncoder, newValue) }
    }

    private static let standardEncoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
}
