extension URLRequest {
    /// A table that says who has set each value of a request. Write `explain` in place of `with`, and print it:
    ///
    /// ```swift
    /// print(URLRequest.explain(.api) { $0.timeout = .seconds(5) })
    /// // GET https://api.example.com/v2
    /// //
    /// // NAME               VALUE                       SOURCE
    /// // host               https://api.example.com/v2  preset
    /// // headers["accept"]  application/json            default
    /// // timeout            5.0 s                       closure, instead of preset
    /// ```
    ///
    /// - Secrets are hidden.
    /// - Built-in values are left out. So are values of the session, such as its time limit of a minute.
    /// - The value `none` means that something has removed the value.
    /// - If a preset has a value from ``Config/default``, its source is `default`.
    /// - The table shows the header fields and the body of the finished request. To find out where they come from, it
    ///   builds two requests for each source. This calls functions such as ``Config/modify``.
    /// - Functions cannot be compared, nor can values that are new each time, such as a nonce. `preset or later` means
    ///   that the preset has one, which a later source may have replaced.
    ///
    /// - Parameters:
    ///   - config: The preset; by default ``Config/default``.
    ///   - configure: Makes the changes. Its error is rethrown.
    public static func explain<Failure: Error>(
        _ config: Config = .init(), _ configure: (inout Config) throws(Failure) -> Void
    ) throws(Failure) -> String {
        let builtIn = Config(host: "") { $0.encoder = Config.standardEncoder }
        let changed = try config.changed(by: configure)
        let stages = [("", builtIn), ("default", .default), ("preset", config), ("closure", changed)]
            .map { ($0, $1, URLRequest.with($1)) }
        let request = stages[3].2
        let redaction = URLSession.Config.preset(for: request).redaction.including(changed.shownRedaction)
            .knowing(request)
        return Explanation.table(
            request, redaction,
            stages.map { name, config, request in
                let again = config.settings(redaction, URLRequest.with(config))
                return (name, config.settings(redaction, request).marking(differencesFrom: again))
            })
    }

    /// The table of a preset without changes.
    ///
    /// - Parameter config: The preset.
    public static func explain(_ config: Config) -> String { explain(config) { _ in } }
}
