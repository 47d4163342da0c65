/// An event of a stream of server-sent events, `text/event-stream` (WHATWG HTML §9.2).
///
/// `print` shows the type, the ID and the beginning of the data on one line, without secrets.
public struct ServerSentEvent: Sendable, Hashable {
    /// Where it comes from.
    struct Source {
        @Shared var head: DataResponse
        /// The number of the event in its response.
        var number: Int
    }

    /// The type, from the `event` field; by default `message`.
    public var event: String
    /// The values of the `data` fields, with a line feed between them.
    public var data: String
    /// The ID, from the `id` field.
    ///
    /// An event without this field has the last ID before it, even if that came over an earlier connection of
    /// `events(for:)`. The ID is empty if there was none.
    public var id: String
    /// `nil` if no call received it.
    @Uncompared var source: Source?

    /// Creates an event, such as for a test; the parameters are the properties of the same names.
    public init(event: String = "message", data: String = "", id: String = "") {
        (self.event, self.data, self.id) = (event, data, id)
        _source = Uncompared(wrappedValue: nil)
    }

    /// A model from the data as JSON, decoded with the decoder of the call.
    ///
    /// - Parameter type: The type of the model; by default what the context expects.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/decoding``, the number, type and ID of the event, and
    ///   the data as its content. For an event that no call has received, the error of the decoder.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self) throws -> Model {
        guard let source else { return try URLSession.Config.defaultDecoder.decode(type, from: Data(data.utf8)) }
        return try source.head.decoded(
            type, from: Data(data.utf8),
            at: "event \(source.number) (\(name(source.head.shownRedaction)))".shortened(to: 100))
    }
}

extension ServerSentEvent: RedactedDescribable {
    /// The type, the ID and the beginning of the data on one line.
    var shownText: String {
        let redaction = source?.head.shownRedaction ?? URLSession.Config.default.redaction
        return "\(name(redaction)): \(redaction.quote(data))".onOneLine
    }

    /// The type and the ID.
    private func name(_ redaction: Redaction) -> String {
        redaction.quote(event) + (id.isEmpty ? "" : ", ID \(redaction.quote(id))")
    }
}

/// Makes server-sent events from the chunks of a body (WHATWG HTML §9.2.6).
///
/// ```swift
/// var parser = EventParser()
/// parser.append(chunk)
/// while let event = try parser.next() { … }
/// ```
///
/// An event is made as soon as its blank line has arrived; an unfinished event at the end of the body is discarded.
/// U+FFFD replaces bytes that are not UTF-8.
struct EventParser: BodyParser {
    private var lines: LineSplitter
    private var fields: Fields
    /// The ID for the `Last-Event-ID` field of the next request, from the last event that ended; empty for none.
    ///
    /// An event that ends without `data` field is not returned, but its ID is kept.
    private(set) var lastEventID: String
    /// The time to wait before the next request, if the stream has a valid `retry` field.
    var retry: Duration? { fields.retry }
    /// The source of the last event.
    private var source: ServerSentEvent.Source?
    /// The response of the events.
    var head: DataResponse? {
        get { source?.head }
        set { source = newValue.map { ServerSentEvent.Source(head: $0, number: 0) } }
    }

    /// - Parameters:
    ///   - lastEventID: The ID that was sent in the request, which events have until the stream has another one.
    ///   - limit: The most bytes of one line, or of the data, type and ID of one event together with its next line.
    ///   - head: The response of the events.
    init(lastEventID: String = "", limit: Int = LineSplitter.standardLimit, of head: DataResponse? = nil) {
        self.lastEventID = lastEventID
        lines = LineSplitter(limit: limit, unit: "an event")
        fields = Fields(id: lastEventID)
        self.head = head
    }

    mutating func append(_ chunk: Data) { lines.append(chunk) }

    /// The next event; `nil` if more bytes are needed.
    ///
    /// - Throws: ``RequestError/Code/responseTooLarge`` for an event that is longer than the limit, finished or not.
    mutating func next() throws(RequestError) -> ServerSentEvent? {
        while let line = try lines.nextPlace(besides: fields.size) {
            guard line.isEmpty else {
                lines.read(line, with: &fields) { $0.read($1) }
                continue
            }
            lastEventID = fields.id
            guard var event = fields.take() else { continue }
            source?.number += 1
            event.source = source
            return event
        }
        return nil
    }
}

/// The fields of an unfinished event.
private struct Fields: Sendable {
    private(set) var id: String
    private(set) var retry: Duration?
    /// The type, or the type of an event before, which most streams repeat.
    private var type = ""
    private var hasType = false
    /// The values of the `data` fields, each with a line feed after it.
    private var data: [UInt8] = []

    init(id: String) {
        self.id = id
        // The size is read for each line, which is slow for strings of Objective-C.
        self.id.makeContiguousUTF8()
    }

    var size: Int { data.count + (hasType ? type.utf8.count : 0) + id.utf8.count }

    /// Reads `name: value`; a comment is a field without a name, and fields with other names are ignored.
    mutating func read(_ line: UnsafeRawBufferPointer) {
        let end = line.place(of: UInt8(ascii: ":"))
        let name = UnsafeRawBufferPointer(rebasing: line[..<end])
        var start = min(end + 1, line.count)
        if start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
        let value = UnsafeRawBufferPointer(rebasing: line[start...])
        if name.equals("data") {
            data.append(contentsOf: value)
            data.append(UInt8(ascii: "\n"))
        } else if name.equals("event") {
            hasType = !value.isEmpty
            if !type.withUTF8(value.equals) { type = String(decoding: value, as: UTF8.self) }
        } else if name.equals("id") {
            if value.place(of: 0) == value.count { id = String(decoding: value, as: UTF8.self) }
        } else if name.equals("retry"), !value.isEmpty, value.allSatisfy(\.isDigit) {
            // Larger numbers are clamped anyway.
            let milliseconds = value.reduce(Int64(0)) { min(10 * $0 + Int64($1 & 0xF), 1_000_000_000_000) }
            retry = .milliseconds(milliseconds).clamped
        }
    }

    /// Removes the type and the data; `nil` if there was no `data` field.
    mutating func take() -> ServerSentEvent? {
        defer {
            hasType = false
            data.removeAll(keepingCapacity: data.count < 1 << 16)
        }
        guard !data.isEmpty else { return nil }
        let text = data.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
        return ServerSentEvent(event: hasType ? type : "message", data: text, id: id)
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate func equals(_ name: StaticString) -> Bool { name.withUTF8Buffer(equals) }

    @inline(__always)
    fileprivate func equals(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == text.count, let start = baseAddress, let other = text.baseAddress else { return false }
        return memcmp(start, other, count) == 0
    }
}
