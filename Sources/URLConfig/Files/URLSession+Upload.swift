extension URLSession {
    /// Sends a request with a body that may be large: data, a file, or a form with files.
    ///
    /// ```swift
    /// let request = URLRequest.with(.api) { ($0.method, $0.path) = (.put, "/films/\(id)") }
    /// let response = try await URLSession.shared.upload(.file(film), for: request) {
    ///     $0.progress = { print($0.bytesSent, "of", $0.totalBytesToSend ?? 0) }
    /// }
    /// ```
    ///
    /// Files are read while they are sent and need no memory. The steps are those of `response(for:)`; retries and
    /// redirects send the same body again. The request's `timeout` is the longest time without a byte, not the time of
    /// the whole attempt.
    ///
    /// - Parameters:
    ///   - source: The body. Its `Content-Type` is used if the request has none.
    ///   - request: The request without a body, with a method such as `POST` or `PUT`.
    ///   - config: The preset, by default the one of the request's host or else ``Config/default``.
    ///   - isolation: The actor of the caller.
    ///   - fileID: The source file for the log.
    ///   - line: The source line for the log.
    ///   - configure: Makes changes for this call.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if a file is missing, is not a regular
    ///   file, or changes its size meanwhile; `URLError` with code `.cannotWriteToFile` or `.cannotCreateFile` if the
    ///   form cannot be assembled; and the errors of `response(for:)`.
    @discardableResult
    public func upload(
        _ source: UploadSource, for request: URLRequest, config: Config? = nil,
        isolation: isolated (any Actor)? = #isolation, fileID: String = #fileID, line: UInt = #line,
        _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        var config = config ?? .preset(for: request)
        configure(&config)
        let call = Call(session: self, config: config, fileID: fileID, line: line, upload: source)
        return try await call.response(for: request)
    }
}
