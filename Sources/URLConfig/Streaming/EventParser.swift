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
struct EventParser: Sendable {
    private var lines: LineSplitter
    private var fields: Fields
    /// The ID for the `Last-Event-ID` field of the next request, from the last event that ended; empty for none.
    ///
    /// An event that ends without `data` field is not returned, but its ID is kept.
    private(set) var lastEventID: String
    /// The time to wait before the next request, if the stream has a valid `retry` field.
    var retry: Duration? { fields.retry }

    /// - Parameters:
    ///   - lastEventID: The ID that was sent in the request, which events have until the stream has another one.
    ///   - limit: The most bytes of one line, or of the data, type and ID of one event together with its next line.
    init(lastEventID: String = "", limit: Int = LineSplitter.standardLimit) {
        self.lastEventID = lastEventID
        lines = LineSplitter(limit: limit, unit: "an event")
        fields = Fields(id: lastEventID)
    }

    mutating func append(_ chunk: Data) { lines.append(chunk) }

    /// The next event; `nil` if more bytes are needed.
    ///
    /// - Throws: ``RequestError/Code/responseTooLarge`` for an event that is longer than the limit, finished or not.
    mutating func next() throws(RequestError) -> ServerSentEvent? {
        while let line = try lines.next(besides: fields.size) {
            guard line.isEmpty else {
                lines.withBytes(line) { fields.read($0) }
                continue
            }
            lastEventID = fields.id
            if let event = fields.take() { return event }
        }
        return nil
    }
}

/// The fields of an unfinished event.
private struct Fields: Sendable {
    private(set) var id: String
    private(set) var retry: Duration?
    private var type = ""
    /// The values of the `data` fields, each with a line feed after it.
    private var data: [UInt8] = []

    init(id: String) {
        self.id = id
        // The size is read for each line, which is slow for strings of Objective-C.
        self.id.makeContiguousUTF8()
    }

    var size: Int { data.count + type.utf8.count + id.utf8.count }

    /// Reads `name: value`; a comment is a field without a name, and fields with other names are ignored.
    mutating func read(_ line: UnsafeRawBufferPointer) {
        let end = line.place(of: UInt8(ascii: ":")) ?? line.count
        let name = UnsafeRawBufferPointer(rebasing: line[..<end])
        var value = line[min(end + 1, line.count)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        read(name, UnsafeRawBufferPointer(rebasing: value))
    }

    private mutating func read(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if name.equals("data") {
            data.append(contentsOf: value)
            data.append(UInt8(ascii: "\n"))
        } else if name.equals("event") {
            type = String(decoding: value, as: UTF8.self)
        } else if name.equals("id") {
            if value.place(of: 0) == nil { id = String(decoding: value, as: UTF8.self) }
        } else if name.equals("retry"), !value.isEmpty, value.allSatisfy(\.isDigit) {
            // A larger number would be clamped, too.
            let milliseconds = value.reduce(Int64(0)) { min(10 * $0 + Int64($1 & 0xF), 1_000_000_000_000) }
            retry = .milliseconds(milliseconds).clamped
        }
    }

    /// Removes the type and the data; `nil` if there was no `data` field.
    mutating func take() -> ServerSentEvent? {
        defer {
            type = ""
            data.removeAll(keepingCapacity: data.count < 1 << 16)
        }
        guard !data.isEmpty else { return nil }
        let text = String(decoding: data.dropLast(), as: UTF8.self)
        return ServerSentEvent(event: type.isEmpty ? "message" : type, data: text, id: id)
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate func equals(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount, let start = baseAddress else { return false }
        return memcmp(start, name.utf8Start, count) == 0
    }
}
