/// A response whose body is read as it arrives.
///
/// ```swift
/// let response = try await URLSession.shared.stream(for: request).validated()
/// for try await line in response.lines { … }
/// ```
///
/// The body can be read once, in one of the ways below. The transfer ends when the loop ends, even by `break` or an
/// error, when the task is cancelled, or when the response is released.
///
/// `print` shows the status and the request, such as `200 GET https://api.example.com/events`.
public struct StreamResponse: Sendable {
    private let body: StreamBody

    init(_ received: Received, of call: Call) { body = StreamBody(received, of: call) }

    /// The response without its body: its status, its header fields, and how it was received.
    ///
    /// If the status is not 2xx, the beginning of the body is in its ``DataResponse/data``.
    public var head: DataResponse { body.head }

    /// This response, if its status is accepted.
    ///
    /// - Parameter accepted: The accepted statuses, such as `[200, 206]`; by default all 2xx.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unacceptableStatus``. Its response contains the first
    ///   megabyte of the content.
    @discardableResult
    public func validated(status accepted: Set<HTTPResponse.Status>? = nil) throws -> Self {
        try head.validated(status: accepted)
        return self
    }

    /// This response, if its content type matches, such as `.json`.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unacceptableContentType``.
    @discardableResult
    public func validated(contentType type: MediaType) throws -> Self {
        try head.validated(contentType: type)
        return self
    }

    /// This response, if its status is 2xx; otherwise the API's own error from the content is thrown.
    ///
    /// See ``DataResponse/validated(orThrow:decoder:)``.
    @discardableResult
    public func validated<Failure: Decodable & Error>(
        orThrow failure: Failure.Type, decoder: JSONDecoder? = nil
    ) throws -> Self {
        try head.validated(orThrow: failure, decoder: decoder)
        return self
    }

    /// Reads the whole body, instead of a loop.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The response with its content, and the time until that was complete.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/responseTooLarge`` for more bytes, and the errors of
    ///   ``chunks``.
    public func collect(upTo limit: Int) async throws -> DataResponse {
        var response = head
        response.data = Data()
        do {
            for try await chunk in chunks { try response.data.append(chunk, upTo: limit) }
        } catch var error as RequestError where error.code == .responseTooLarge {
            error.response = nil
            throw error.with(response, head.attempts)
        }
        if let times = body.times { (response.duration, response.attempts) = times }
        return response
    }

    /// The body in pieces as they arrive.
    ///
    /// Reading throws `URLError` if the transfer fails, ``RequestError`` if the deadline passes, the body is longer
    /// than ``Foundation/URLSession/Config/responseLimit`` or was already read, and `CancellationError` if the task is
    /// cancelled.
    public var chunks: Elements<Data> { Elements(body: body, parser: Chunks()) }

    /// The lines of the body as they arrive; blank lines are kept.
    ///
    /// Lines end with LF, CR or CRLF. The text is UTF-8; U+FFFD replaces invalid bytes. Reading throws the errors of
    /// ``chunks``, and ``RequestError/Code/responseTooLarge`` for a line longer than 16 MB.
    public var lines: Elements<String> { Elements(body: body, parser: LineSplitter()) }

    /// The events of a stream of server-sent events (`text/event-stream`, WHATWG HTML §9.2) as they arrive.
    ///
    /// ```swift
    /// for try await event in response.events where event.data != "[DONE]" {
    ///     let chunk: ChatChunk = try event.decode()
    /// }
    /// ```
    ///
    /// It ends with the body; ``Foundation/URLSession/events(for:config:lastEventID:fileID:line:_:)`` connects again.
    /// Reading throws the errors of ``chunks``, ``RequestError/Code/unacceptableContentType`` if `Content-Type` names
    /// another type, and ``RequestError/Code/responseTooLarge`` for an event longer than 16 MB.
    public var events: Elements<ServerSentEvent> {
        Elements(body: body, parser: EventParser(of: head), contentType: .eventStream)
    }

    /// The values of a body that has one JSON value on each line (JSON Lines, NDJSON) as they arrive.
    ///
    /// Blank lines are ignored. Values are decoded with the decoder of the call.
    ///
    /// - Parameter type: The type of a value.
    /// - Returns: The values. Reading throws the errors of ``lines``. A line that cannot be decoded, or is not UTF-8,
    ///   throws ``RequestError`` with code ``RequestError/Code/decoding``, the number of the line, and the line as the
    ///   content.
    public func values<Value: Decodable & Sendable>(of type: Value.Type) -> Elements<Value> {
        Elements(body: body, parser: Values(head: head))
    }

    /// The parts of a body, such as its lines, as they arrive.
    public struct Elements<Element: Sendable>: AsyncSequence, Sendable {
        fileprivate let body: StreamBody
        fileprivate let parser: any BodyParser<Element>
        /// The media type that `Content-Type` must name, if there is one.
        fileprivate var contentType: MediaType?
        var head: DataResponse { body.head }

        /// Begins to read, for one loop only.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(parser: parser, reader: Result { try body.read(as: contentType) })
        }

        /// Reads the elements, until it is released.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            fileprivate var parser: any BodyParser<Element>
            /// Put back with each element, so that it is `nil` after the end and after an error.
            fileprivate var reader: Result<StreamBody.Reader, any Error>?

            /// The next element; `nil` at the end of the body and after an error.
            public mutating func next() async throws -> Element? {
                guard let source = reader.take() else { return nil }
                // Elements that have already arrived come without waiting.
                try Task.checkCancellation()
                var reader = try source.get()
                try reader.checkDeadline()
                while true {
                    if let element = try reader.parsing({ try parser.next() }) {
                        self.reader = .success(reader)
                        return element
                    }
                    guard let piece = try await reader.next() else { return try reader.parsing { try parser.end() } }
                    parser.append(piece)
                }
            }
        }
    }

    private struct Chunks: BodyParser {
        private var chunk: Data?

        mutating func append(_ piece: Data) { chunk = piece }
        mutating func next() -> Data? { chunk.take() }
    }

    private struct Values<Value: Decodable & Sendable>: BodyParser {
        let head: DataResponse
        private var lines = LineSplitter()
        private var count = 0

        init(head: DataResponse) { self.head = head }

        mutating func append(_ piece: Data) { lines.append(piece) }

        mutating func next() throws -> Value? {
            while let line = try lines.nextBytes() {
                count += 1
                if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { continue }
                return try head.decoded(Value.self, from: line, at: "line \(count)")
            }
            return nil
        }

        mutating func end() throws -> Value? { lines.terminate() ? try next() : nil }
    }
}

extension StreamResponse: RedactedDescribable {
    var shownText: String { "\(head.status.code) \(head.request.summary(head.shownRedaction))" }

    var shownChildren: [(String, Any?)] {
        head.shownChildren.filter { !["data", "attempts"].contains($0.0) }
    }
}

extension StreamResponse.Elements: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("request", head.request.summary(head.shownRedaction))] }
}

extension StreamResponse.Elements.AsyncIterator: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("isOver", reader == nil)] }
}

/// Makes elements of the pieces of a body.
protocol BodyParser<Element>: Sendable {
    associatedtype Element

    mutating func append(_ piece: Data)

    /// The next element; `nil` if more bytes are needed.
    mutating func next() throws -> Element?

    /// The last element, if the end of the body ends it; called once, after `next` has returned `nil`.
    mutating func end() throws -> Element?
}

extension BodyParser {
    mutating func end() throws -> Element? { nil }
}
