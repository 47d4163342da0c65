extension URLSession {
    /// Sends a request and returns the whole answer, whatever its status.
    ///
    /// ```swift
    /// let response = try await URLSession.shared.response(for: request) { $0.authorize = false }
    /// guard response.status == .ok else { … }
    /// ```
    ///
    /// In this order:
    /// 1. The ``Config/authenticator`` authorizes the request, if ``Config/authorize`` says so.
    /// 2. The request is logged and sent, once.
    /// 3. A redirect is followed as ``Config/redirects`` has it: back to step 1, or, once another origin was reached, to step 2.
    /// 4. If ``Config/isUnauthorized`` says that the credentials were refused, the authenticator is asked for new ones, and
    ///    the request goes back to step 1, once. Without new ones ``Config/onUnauthorized`` is called and
    ///    ``RequestError/Code/unauthorized`` thrown. What another origin refuses is an answer like any other.
    /// 5. A failure that ``Config/retry`` holds for passing leads back to step 1 after a wait.
    /// 6. The ``Config/validators`` look at the answer, one after the other.
    /// 7. The answer is logged and returned.
    ///
    /// All of it has to end within the ``Config/deadline``. If any step fails, the failure is logged and ``Config/fallback``, if
    /// there is one, may answer instead. ``DataResponse/attempts`` and ``RequestError/attempts`` tell what was sent.
    ///
    /// - Parameters:
    ///   - request: The request, made with `URLRequest.with` or by hand.
    ///   - config: The preset; at first ``Config/default``.
    ///   - isolation: The actor that the call is made from.
    ///   - fileID: The file that the log names.
    ///   - line: The line that the log names.
    ///   - configure: Makes changes for this call.
    /// - Throws: ``RequestError`` if the request cannot be sent, the credentials or a redirect are refused, the deadline has
    ///   passed, or the answer is too long or no HTTP response; `URLError` if the transport fails; `CancellationError` if the
    ///   task was cancelled, whatever else went wrong with it; and as it is, what an authenticator, a validator or a fallback
    ///   throws. A status such as 404 or 500 is no error.
    @discardableResult
    public func response(
        for request: URLRequest,
        config: Config = .default,
        isolation: isolated (any Actor)? = #isolation,
        fileID: String = #fileID,
        line: UInt = #line,
        _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        var config = config
        configure(&config)
        return try await SendLoop(session: self, config: config, fileID: fileID, line: line).response(for: request)
    }
}
