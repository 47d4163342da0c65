extension URLRequest.Config {
    private static let defaults = Locked(Self(host: ""))

    /// What `Config()` starts from, and so `URLRequest.with { … }` without a preset.
    ///
    /// It may be replaced at any time, from any thread; requests and presets made before keep what they have.
    public static var `default`: Self {
        get { defaults.withLock { $0 } }
        set { defaults.set(\.self, newValue) }
    }

    /// The host of ``default``.
    public static var defaultHost: String {
        get { defaults.withLock { $0.host } }
        set { defaults.set(\.host, newValue) }
    }

    /// Encodes the JSON bodies of every configuration without an encoder of its own.
    ///
    /// By default it sorts keys and does not escape slashes, so that equal bodies have equal bytes.
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
