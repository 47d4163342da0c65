extension URLSession {
    /// Sends a typed request, as `response(for:)` does, and returns the value that is read from the response.
    ///
    /// ```swift
    /// let user = try await URLSession.shared.value(for: .user(1)) { $0.retry = .standard }
    /// let me: User = try await URLSession.shared.value(for: .with(.api) { $0.path = "/me" })
    /// ```
    ///
    /// The validators run before the reader. The reader never runs on the caller's actor, so a large response does not
    /// block the main thread. ``Config/fallback`` is not called for errors of the reader.
    ///
    /// - Parameters:
    ///   - request: The request with its reader.
    ///   - config: The preset; by default that of the request's host (``Config/subscript(host:)``), or else
    ///     ``Config/default``.
    ///   - isolation: The actor of the caller.
    ///   - fileID: The source file in the log.
    ///   - line: The line in the log.
    ///   - configure: Makes changes for this call.
    /// - Throws: The errors of `response(for:)` and of the reader.
    public func value<Output>(
        for request: TypedRequest<Output>, config: Config? = nil, isolation: isolated (any Actor)? = #isolation,
        fileID: String = #fileID, line: UInt = #line, _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> Output {
        try await valueAndResponse(for: request, config: config, fileID: fileID, line: line, configure).value
    }

    /// Sends a typed request, as `value(for:)` does, and returns the value and the response.
    ///
    /// Parameters and errors are those of `value(for:)`.
    public func valueAndResponse<Output>(
        for request: TypedRequest<Output>, config: Config? = nil, isolation: isolated (any Actor)? = #isolation,
        fileID: String = #fileID, line: UInt = #line, _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> (value: Output, response: DataResponse) {
        let response = try await response(for: request.request, config: config, fileID: fileID, line: line, configure)
        return (try await request.reader.readOnNoActor(response), response)
    }
}

extension ResponseReader {
    fileprivate nonisolated func readOnNoActor(_ response: DataResponse) async throws -> Output { try read(response) }
}
