extension URLSession {
    /// Sends a request and returns the whole response, whatever its status.
    ///
    /// ```swift
    /// let response = try await URLSession.shared.response(for: request) { $0.authorize = false }
    /// guard response.status == .ok else { … }
    /// ```
    ///
    /// In this order:
    /// 1. The ``Config/authenticator`` authorizes the request, unless ``Config/authorize`` is `false`.
    /// 2. The request is logged and sent once.
    /// 3. A redirect is followed if ``Config/redirects`` allows it: back to step 1, or to step 2 if it left the origin.
    /// 4. If the credentials were refused (``Config/isUnauthorized``), the authenticator renews them, and the request
    ///    goes back to step 1, once. Without new credentials, ``Config/onUnauthorized`` is called and
    ///    ``RequestError/Code/unauthorized`` is thrown. A refusal by another origin is a response like any other.
    /// 5. After a transient failure (``Config/retry``), the request goes back to step 1 after a delay.
    /// 6. The ``Config/validators`` check the response. It is logged and returned.
    ///
    /// If the server or the network fails or the ``Config/deadline`` passes, a stale response of the ``Config/cache``
    /// may be returned. Otherwise, if a step fails, the error is logged and ``Config/fallback`` is called.
    /// ``DataResponse/attempts`` and ``RequestError/attempts`` list the requests that were sent.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - config: The preset, by default the one of the request's host (``Config/subscript(host:)``) or else
    ///     ``Config/default``.
    ///   - fileID: The source file for the log.
    ///   - line: The source line for the log.
    ///   - configure: Makes changes for this call.
    /// - Throws: ``RequestError`` if the request cannot be sent, credentials or a redirect are refused, the deadline
    ///   has passed, or the response is too long or not HTTP; `URLError` if the transport fails; `CancellationError` if
    ///   the task was cancelled; errors of an authenticator, a validator or a fallback. A status such as 404 is not an
    ///   error.
    @discardableResult
    public nonisolated(nonsending) func response(
        for request: URLRequest, config: Config? = nil, fileID: String = #fileID, line: UInt = #line,
        _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await call(for: request, config, fileID, line, configure).response(for: request)
    }

    @inline(never)
    func call(
        for request: URLRequest, _ config: Config?, _ fileID: String, _ line: UInt, _ configure: (inout Config) -> Void,
        upload: UploadSource? = nil, isStream: Bool = false
    ) -> Call {
        Call(
            session: self, config: .of(request, config, configure), fileID: fileID, line: line, upload: upload,
            isStream: isStream)
    }
}
