/// The body of a response, in pieces as they arrive.
///
/// ```swift
/// for try await piece in response.body { … }
/// ```
///
/// It can be read once. The transfer ends when the loop ends or when the body is released.
public struct ResponseBody: AsyncSequence, Sendable {
    private let iterator: @Sendable () -> AsyncIterator

    /// A complete body, by default empty.
    public init(_ data: Data = Data()) {
        iterator = {
            let rest = Locked(data.isEmpty ? nil : data)
            return AsyncIterator { rest.withLock { $0.take() } }
        }
    }

    init(unfolding piece: @escaping @Sendable () async throws -> Data?) {
        iterator = { AsyncIterator(piece: piece) }
    }

    /// A body that arrives in pieces.
    ///
    /// - Parameter pieces: The pieces, for example an `AsyncThrowingStream`. Reading the body rethrows its errors.
    public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
        let isRead = Locked(false)
        iterator = {
            let isSecond = isRead.withLock { isRead in
                defer { isRead = true }
                return isRead
            }
            let reader = isSecond ? nil : SingleReader(pieces.makeAsyncIterator())
            return AsyncIterator {
                guard let reader else {
                    throw RequestError(.invalidResponse, reason: "the body has been read already")
                }
                return try await reader.next()
            }
        }
    }

    /// Bytes that were read before, and then the rest of a body, or an error.
    init(_ data: Data, then rest: AsyncIterator, _ failure: (any Error)?) {
        let beginning = Locked(data.isEmpty ? nil : data)
        self.init(unfolding: {
            if let data = beginning.withLock({ $0.take() }) { return data }
            if let failure { throw failure }
            return try await rest.next()
        })
    }

    /// This body, with a time limit for each piece.
    func limited(_ limits: AttemptLimits) -> Self {
        let iterator = makeAsyncIterator()
        return Self(unfolding: { try await limits.run { try await iterator.next() } })
    }

    /// The whole body.
    ///
    /// - Parameter limit: The maximum number of bytes, by default without a limit.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/responseTooLarge`` for more bytes; errors of the
    ///   transport, such as `URLError` for a lost connection.
    public func collect(upTo limit: Int = .max) async throws -> Data {
        var buffer = BodyBuffer(limit: limit, "the limit")
        for try await piece in self { try buffer.receive(piece) }
        return buffer.data
    }

    /// The pieces.
    public func makeAsyncIterator() -> AsyncIterator { iterator() }

    /// Reads the pieces.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        fileprivate let piece: @Sendable () async throws -> Data?

        /// The next piece; `nil` at the end of the body.
        public func next() async throws -> Data? { try await piece() }
    }
}

/// An iterator that one task at a time may use.
///
/// `@unchecked Sendable` is safe because only the task that has set `isInUse` uses `iterator`.
private final class SingleReader<Iterator: AsyncIteratorProtocol>: @unchecked Sendable where Iterator.Element == Data {
    private let isInUse = Locked(false)
    private var iterator: Iterator

    init(_ iterator: Iterator) {
        self.iterator = iterator
    }

    func next() async throws -> Data? {
        let isSecond = isInUse.withLock { isInUse in
            defer { isInUse = true }
            return isInUse
        }
        guard !isSecond else { throw RequestError(.invalidResponse, reason: "another task is reading the body") }
        defer { isInUse.set(\.self, false) }
        return try await iterator.next()
    }
}
