extension URLSession {
    /// The events of a server, over as many connections as it takes (EventSource, WHATWG HTML §9.2).
    ///
    /// ```swift
    /// for try await event in URLSession.shared.events(for: request) {
    ///     show(try event.decode(Message.self))
    /// }
    /// ```
    ///
    /// Nothing is sent before the loop begins. Each loop has its own connection, one at a time. Leaving the loop or
    /// cancelling its task ends the transfer.
    ///
    /// Each connection is a call like `stream(for:)`, which is authorized again. It sends `Accept: text/event-stream`
    /// and `Cache-Control: no-store`, unless the request has its own. It sends the last ID as `Last-Event-ID`:
    /// - Only the origin that the ID came from receives it. After a redirect to another origin, it is not sent there.
    ///   The ID of the parameter `lastEventID` belongs to the request's origin.
    /// - An ID that cannot be the value of a field, or is longer than 4 kB, is not sent. The events still have it.
    ///
    /// It connects again, even if the first connection fails, after:
    /// - the end of the body, where an event that is not complete is discarded,
    /// - errors and statuses that ``RetryPolicy`` considers transient, such as a timeout, no network, or 503,
    /// - errors of the network that the authenticator throws,
    /// - the ``Config/deadline``.
    ///
    /// It waits for the server's `retry` time, by default 3 s and at least 0.1 s, or for a longer `Retry-After`. While
    /// connections break early without an event, it waits for at least 1 s, and the time doubles up to 30 s, or up to a
    /// longer `retry`. Up to half of the time is added at random, so that not all clients connect together.
    ///
    /// If connections fail in a row, the first failure is logged as an error. The loop ends after the status 204. It
    /// throws after any other failure.
    ///
    /// These settings have another meaning than for `stream(for:)`:
    /// - ``Config/deadline`` is the time until the head of each response has arrived.
    /// - The request's `timeout` is the longest time without a byte; a connection that is silent for longer is lost.
    /// - ``Config/responseLimit`` is ignored; an event has at most 16 MB.
    /// - ``Config/retry`` says what is transient, and its ``RetryPolicy/longestRetryAfter`` limits both times that a
    ///   server asks for. Its attempts, delays and budget are not used.
    /// - ``Config/fallback`` is not called.
    ///
    /// - Parameters:
    ///   - request: The request. Its method must be idempotent, or it needs an `Idempotency-Key`, because it is sent
    ///     again. For others, use ``StreamResponse/events``.
    ///   - config: The preset, by default the one of the request's host or else ``Config/default``.
    ///   - lastEventID: The ID of the last event that was received before, such as in an earlier run of the app; by
    ///     default the request's own `Last-Event-ID`.
    ///   - fileID: The source file for the log.
    ///   - line: The source line for the log.
    ///   - configure: Makes changes for these events.
    /// - Returns: The events. The loop throws the errors of `stream(for:)` that are not transient, such as
    ///   `CancellationError` if the task is cancelled, and:
    ///   - ``RequestError/Code/unacceptableStatus`` for a status other than 200 and 204 that is not transient,
    ///   - ``RequestError/Code/unacceptableContentType`` if the content is not `text/event-stream`,
    ///   - ``RequestError/Code/responseTooLarge`` for an event of more than 16 MB.
    public func events(
        for request: URLRequest, config: Config? = nil, lastEventID: String? = nil, fileID: String = #fileID,
        line: UInt = #line, _ configure: (inout Config) -> Void = { _ in }
    ) -> ServerSentEvents {
        let config = Config.of(request, config, configure)
        return ServerSentEvents(
            session: self, config: config, request: request, lastEventID: lastEventID, fileID: fileID, line: line)
    }
}
