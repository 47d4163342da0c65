extension URLSession.Config {
    /// A table that says who has set each value for a call.
    ///
    /// The call is not made. `URLRequest.explain` shows such a table. The sources are `default`, the preset (such as
    /// `host api.example.com`, or the parameter `config:`), `closure`, and `test` for the stubs of a test.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - config: The preset, by default the one of the request's host or else ``default``.
    ///   - configure: Makes changes for the call.
    public static func explain(
        for request: URLRequest, config: Self? = nil, _ configure: (inout Self) -> Void = { _ in }
    ) -> String {
        let builtIn = Self(standard: ()).with {
            ($0.logger, $0.redaction, $0.logBody) = (standardLogger, .standard, true)
            $0.decoder = DataResponse.Config.standardDecoder
        }
        let host = config == nil ? registered(for: request) : nil
        let preset = config ?? host?.preset ?? .default
        let changed = preset.with(configure)
        var entered = changed
        CallScope.enter(&entered, #fileID, #line)
        let stages = [
            ("", builtIn), ("default", .default), (host.map { "host \($0.pattern)" } ?? "config:", preset),
            ("closure", changed), ("test", entered),
        ]
        return Explanation.table(request, changed.redaction.knowing(request), stages.map { ($0, $1.settings) })
    }
}
