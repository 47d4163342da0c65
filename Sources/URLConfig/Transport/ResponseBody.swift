/// The body of a response, in pieces as they arrive.
///
/// ```swift
/// for try await piece in response.body { … }
/// ```
///
/// It can be read once, unless it was made of `Data`. The transfer ends when the loop ends or the body is released.
public struct ResponseBody: AsyncSequence, Sendable {
    let received: ReceivedBody
    /// `nil` as soon as somebody reads.
    private let reader: Locked<ReceivedBody.Reader?>
    /// The complete body, which a stub may return for each request.
    private let data: Data?

    init(_ received: ReceivedBody, _ data: Data? = nil) {
        self.received = received
        self.data = data
        reader = Locked(ReceivedBody.Reader(received))
    }

    /// A complete body, by default empty.
    public init(_ data: Data = Data()) {
        // Callers count the bytes of a response from 0.
        let data = data.startIndex == 0 ? data : Data(data)
        self.init(ReceivedBody(data), data)
    }

    /// This body for one call, which limits it.
    var forOneCall: Self { data.map { Self(ReceivedBody($0)) } ?? self }

    /// A body that arrives in pieces.
    ///
    /// - Parameter pieces: The pieces, for example an `AsyncThrowingStream`. Reading the body rethrows its errors.
    public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
        // Safe: a body asks for one piece at a time.
        nonisolated(unsafe) var iterator: Pieces.AsyncIterator?
        self.init(
            ReceivedBody {
                if iterator == nil { iterator = pieces.makeAsyncIterator() }
                return try await iterator?.next()
            })
    }

    /// The only reader of the body.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidResponse`` if there has been one.
    func read() throws -> ReceivedBody.Reader {
        if let data { return ReceivedBody.Reader(ReceivedBody(data)) }
        guard let reader = reader.withLock({ $0.take() }) else {
            throw RequestError(.invalidResponse, reason: "the body was already read")
        }
        return reader
    }

    /// Whether nobody has read it, or it can be read again.
    var canBeRead: Bool { data != nil || reader.withLock { $0 != nil } }

    /// The beginning of the body, for an error; the body can still be read.
    func peek(upTo count: Int) async -> Data { await reader.withLock { $0 }?.peek(upTo: count) ?? Data() }

    /// The whole body.
    ///
    /// - Parameter limit: The maximum number of bytes, by default without a limit.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/responseTooLarge`` for more bytes; errors of the
    ///   transport, such as `URLError` for a lost connection.
    public func collect(upTo limit: Int = .max) async throws -> Data {
        var data = Data()
        for try await piece in self { try data.append(piece, upTo: limit) }
        return data
    }

    /// The pieces.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: Result { try read() }) }

    /// Reads the pieces.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        fileprivate let reader: Result<ReceivedBody.Reader, any Error>

        /// The next piece; `nil` at the end of the body.
        public func next() async throws -> Data? { try await reader.get().next() }
    }
}

extension Data {
    /// Appends a piece of a body, as far as a limit allows.
    ///
    /// - Throws: ``RequestError/Code/responseTooLarge`` if there is more.
    mutating func append(_ piece: Data, upTo limit: Int) throws(RequestError) {
        let fitting = piece.prefix(Swift.max(0, limit) - count)
        if isEmpty { self = fitting } else { append(fitting) }
        guard fitting.count == piece.count else { throw RequestError(tooLongFor: limit, "the limit") }
    }
}

extension RequestError {
    /// - Parameter name: The name of the limit.
    init(tooLongFor limit: Int, _ name: String) {
        self.init(.responseTooLarge, reason: "the body is longer than \(name), \(limit.shownAsBytes)")
    }
}
