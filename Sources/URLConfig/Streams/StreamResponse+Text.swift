extension StreamResponse {
    /// The lines of the body as they arrive; blank lines are kept.
    ///
    /// Lines end with LF, CR or CRLF. The text is UTF-8; U+FFFD replaces invalid bytes. Errors are those of ``chunks``,
    /// and ``RequestError/Code/responseTooLarge`` for a line longer than 16 MB.
    public var lines: Elements<String> { Elements(body, StreamBody.lines) }

    /// The events of a stream of server-sent events (`text/event-stream`, WHATWG HTML §9.2) as they arrive.
    ///
    /// ```swift
    /// for try await event in response.events where event.data != "[DONE]" {
    ///     let chunk: ChatChunk = try event.decode()
    /// }
    /// ```
    ///
    /// It ends with the body; ``Foundation/URLSession/events(for:config:lastEventID:fileID:line:_:)`` connects again.
    /// Errors are those of ``chunks``, and ``RequestError/Code/responseTooLarge`` for an event longer than 16 MB.
    public var events: Elements<ServerSentEvent> {
        Elements(body) { [head = body.head] nextChunk in
            var parser = EventParser()
            parser.head = head
            return {
                while true {
                    if let event = try parser.next() { return event }
                    guard let chunk = try await nextChunk() else { return nil }
                    parser.append(chunk)
                }
            }
        }
    }

    /// The values of a body that has one JSON value on each line (JSON Lines, NDJSON) as they arrive.
    ///
    /// Blank lines are ignored. Values are decoded with the decoder of the call.
    ///
    /// - Parameter type: The type of a value.
    /// - Returns: The values. Reading throws the errors of ``lines``, and ``RequestError`` with code
    ///   ``RequestError/Code/decoding`` and the line as its content.
    public func values<Value: Decodable & Sendable>(of type: Value.Type) -> Elements<Value> {
        Elements(body) { [head = body.head] nextChunk in
            let nextLine = StreamBody.lines(nextChunk)
            return {
                while let line = try await nextLine() {
                    if line.utf8.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { continue }
                    return try head.decoded(type, from: line)
                }
                return nil
            }
        }
    }
}

extension ServerSentEvent {
    /// A model from the data as JSON, decoded with the decoder of the call.
    ///
    /// - Parameter type: The type of the model; by default what the context expects.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/decoding`` and the data as its content. For an event
    ///   that no call has received, the error of the decoder.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self) throws -> Model {
        guard let head else { return try DataResponse.Config.defaultDecoder.decode(type, from: Data(data.utf8)) }
        return try head.decoded(type, from: data)
    }
}

extension StreamBody {
    /// Makes the function that returns the lines.
    fileprivate static func lines(_ nextChunk: @escaping Next) -> () async throws -> String? {
        var lines = LineSplitter()
        var isOver = false
        return {
            while !isOver {
                if let line = try lines.nextText() { return line }
                if let chunk = try await nextChunk() { lines.append(chunk) } else { isOver = true }
            }
            return lines.endText()
        }
    }
}

extension DataResponse {
    /// A model from a part of the body.
    fileprivate func decoded<Model: Decodable>(_ type: Model.Type, from part: String) throws -> Model {
        var response = self
        response.data = Data(part.utf8)
        return try response.decode(type)
    }
}
