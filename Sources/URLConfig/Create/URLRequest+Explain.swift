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
    /// Secrets are hidden. Built-in values are left out; `none` is what was taken away. What a preset has from
    /// ``Config/default`` is from `default`. The fields are those that are sent, and a member such as `body` may have
    /// set them. With `preset or later`, a later closure may have replaced the first one, which cannot be seen.
    ///
    /// - Parameters:
    ///   - config: The preset; by default ``Config/default``.
    ///   - configure: Makes the changes. Its error is rethrown.
    public static func explain<Failure: Error>(
        _ config: Config = .init(), _ configure: (inout Config) throws(Failure) -> Void
    ) throws(Failure) -> String {
        let changed = try config.changed(by: configure)
        let request = URLRequest.with(changed)
        let redaction = URLSession.Config.preset(for: request).redaction.knowing(request)
        let builtIn = Config(host: "") { $0.encoder = Config.standardEncoder }
        var stages = [("", builtIn), ("default", .default), ("preset", config), ("closure", changed)]
            .map { ($0, $1.settings(redaction)) }
        let members = ["authorization", "idempotencyKey", "body", "url", "modify"]
        let causes = stages[3].1.filter { $0.shown != nil && members.contains($0.name) }.map(\.name)
        let sent = request.refusal == nil ? request.allHTTPHeaderFields ?? [:] : nil
        let fields = sent.map { HTTPFields(received: $0.lazy.map { ($0, $1) }) }
        stages.append((causes.joined(separator: " or "), changed.settings(redaction, fields)))
        return Explanation.table(request, redaction, stages)
    }

    /// The table of a preset without changes.
    ///
    /// - Parameter config: The preset.
    public static func explain(_ config: Config) -> String { explain(config) { _ in } }
}
