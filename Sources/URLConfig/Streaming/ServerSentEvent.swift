/// An event of a stream of server-sent events, `text/event-stream` (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type, from the `event` field; by default `message`.
    public var event: String
    /// The values of the `data` fields, one on each line.
    public var data: String
    /// The last ID that the stream had before the end of this event; empty if it had none.
    ///
    /// An event without `id` field has the ID of the event before it.
    public var id: String

    /// Creates an event, such as for a test; the parameters are the properties of the same names.
    public init(event: String = "message", data: String = "", id: String = "") {
        self.event = event
        self.data = data
        self.id = id
    }
}
