extension URLSession {
    /// The pages of a list: sends the request, and then the request for each next page.
    ///
    /// ```swift
    /// for try await article in session.pages(for: request).values(of: [Article].self) { … }
    /// ```
    ///
    /// Nothing is sent before the loop. Each page is a call of `response(for:)` with the same configuration: it is
    /// authorized, retried, validated and logged, and has the whole ``Config/deadline``. Its status must be 2xx.
    ///
    /// By default, the next page is the target of the link with the relation `next` in the `Link` fields (RFC 8288).
    /// Its request is the first one with another URL. No credentials of the request, the session or an authenticator
    /// are sent to another origin (scheme, host and port) than the first request's. After a link to another origin, no
    /// page receives any, even on the first origin. If the request has a body, such a link is an error.
    ///
    /// `next` is for other APIs, such as those with a cursor in the content:
    ///
    /// ```swift
    /// let pages = session.pages(for: request) {
    ///     $0.retry = .standard
    /// } next: { page in
    ///     guard let cursor = try page.decode(Envelope.self).cursor else { return nil }
    ///     return .with(.api) {
    ///         $0.path = "/articles"
    ///         $0.query["cursor"] = cursor
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request for the first page.
    ///   - config: The preset, by default the one of the first request's host (``Config/subscript(host:)``) or else
    ///     ``Config/default``.
    ///   - fileID: The source file for the log.
    ///   - line: The source line for the log.
    ///   - configure: Makes changes for these pages. It is called once, before this function returns.
    ///   - next: Returns the request for the page after this one, or `nil` after the last page. It does not run on the
    ///     caller's actor. Its request is sent as it is. For another origin, no credentials of the session or of an
    ///     authenticator are added. If a server gave the URL, set it as ``Foundation/URLRequest/Config/url``, which
    ///     leaves out the credentials of a preset for another origin.
    /// - Returns: The pages. Their loop throws the errors of `response(for:)` and of `next`, and:
    ///   - ``RequestError/Code/unacceptableStatus`` if a status is not 2xx,
    ///   - ``RequestError/Code/invalidResponse`` if the target of the link may not be requested, or if the request for
    ///     the next page was sent before.
    public func pages(
        for request: URLRequest, config: Config? = nil, fileID: String = #fileID, line: UInt = #line,
        _ configure: (inout Config) -> Void = { _ in },
        next: (@Sendable (_ page: DataResponse) throws -> URLRequest?)? = nil
    ) -> Pages {
        let config = Config.of(request, config, configure)
        return Pages(session: self, request: request, config: config, fileID: fileID, line: line, next: next)
    }
}
