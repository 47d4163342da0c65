/// The models of server-sent events, to read in a loop.
///
/// `values(of:until:)` of ``StreamResponse/events`` and of ``ServerSentEvents`` makes it.
public struct EventValues<Events: AsyncSequence & Sendable, Value: Decodable & Sendable>: AsyncSequence, Sendable
where Events.Element == ServerSentEvent {
    fileprivate let events: Events
    fileprivate let end: String?

    /// Begins to read the events.
    public func makeAsyncIterator() -> AsyncIterator {
        let head = (events as? StreamResponse.Elements<ServerSentEvent>)?.head
        return AsyncIterator(events: events.makeAsyncIterator(), end: end, head: head)
    }

    /// Reads the models; the transfer ends when it is released, and after the last model.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// Put back with each model, so that it is `nil` after the end and after an error of the events.
        fileprivate var events: Events.AsyncIterator?
        fileprivate let end: String?
        /// The response of the last event, or of the only connection, for an error.
        fileprivate var head: DataResponse?

        /// The next model; `nil` at the end, and after an error of the events.
        public mutating func next() async throws -> Value? {
            guard var events = events.take() else { return nil }
            guard let event = try await events.next() else {
                guard let end else { return nil }
                let reason = "the events ended without '\(end.onOneLine)'"
                throw RequestError(.invalidResponse, reason: reason, response: head)
            }
            // As bytes: comparing characters takes quadratic time for a long text of combining marks.
            if event.data.hasBytes(of: end) { return nil }
            (self.events, head) = (events, event.source?.head)
            return try event.decode()
        }
    }
}

extension EventValues: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("events", events)] }
}

extension EventValues.AsyncIterator: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("events", events)] }
}

extension EventValues.AsyncIterator: Sendable where Events.AsyncIterator: Sendable {}

extension AsyncSequence where Self: Sendable, Element == ServerSentEvent {
    /// Models from the data of the events, as ``ServerSentEvent/decode(_:)`` makes them.
    ///
    /// ```swift
    /// for try await chunk in reply.events.values(of: Chunk.self, until: "[DONE]") { show(chunk) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of a model.
    ///   - end: The data of the last event, such as `[DONE]`. That event is no model, and nothing is read after it. By
    ///     default, all events are models.
    /// - Returns: The models. The loop throws the errors of the events and of ``ServerSentEvent/decode(_:)``, and
    ///   ``RequestError`` with code ``RequestError/Code/invalidResponse`` if the events end before an event whose data
    ///   is `end`.
    public func values<Value: Decodable & Sendable>(
        of type: Value.Type, until end: String? = nil
    ) -> EventValues<Self, Value> {
        EventValues(events: self, end: end)
    }
}
