/// An event of a stream of server-sent events, `text/event-stream` (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type, from the `event` field; by default `message`.
    public var event: String
    /// The values of the `data` fields, with a line feed between them.
    public var data: String
    /// The ID, from the `id` field; empty if the stream has not had one before the end of this event.
    ///
    /// An event without `id` field has the ID of the event before it.
    public var id: String
    /// The response that contains the event; `nil` if no call received it.
    @Uncompared var head: DataResponse?

    /// Creates an event, such as for a test; the parameters are the properties of the same names.
    public init(event: String = "message", data: String = "", id: String = "") {
        self.event = event
        self.data = data
        self.id = id
        _head = Uncompared(wrappedValue: nil)
    }
}
