extension URLSession {
    /// Sends a request and returns the response as soon as its head has arrived, whatever its status.
    ///
    /// ```swift
    /// let response = try await URLSession.shared.stream(for: request).validated()
    /// for try await line in response.lines { … }
    /// ```
    ///
    /// The call takes the steps of `response(for:)`. Redirects, refused credentials and retries are decided before the
    /// body is read, and nothing is sent again after that. Then:
    /// - The validators check the head. They see content only if the response is not 2xx: at most the first megabyte.
    /// - ``Config/deadline`` and ``Config/responseLimit`` also limit the body. Set the deadline to `nil` for a stream
    ///   without end.
    /// - The request's `timeout` is the longest time without a byte, not the time of the whole attempt.
    /// - A loop that reads slowly does not fill the memory: the transport waits for it. ``Transport/urlSession`` cannot
    ///   wait on Linux, so it writes to a temporary file what does not fit in a buffer of 2 MB.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - config: The preset, by default the one of the request's host or else ``Config/default``.
    ///   - fileID: The source file for the log.
    ///   - line: The source line for the log.
    ///   - configure: Makes changes for this call.
    /// - Throws: The errors of `response(for:)`.
    public nonisolated(nonsending) func stream(
        for request: URLRequest, config: Config? = nil, fileID: String = #fileID, line: UInt = #line,
        _ configure: (inout Config) -> Void = { _ in }
    ) async throws -> StreamResponse {
        let call = call(for: request, config, fileID, line, configure, isStream: true)
        return StreamResponse(try await call.received(for: request), of: call)
    }
}
