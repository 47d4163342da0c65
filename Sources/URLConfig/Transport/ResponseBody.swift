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
            var rest = data.isEmpty ? nil : data
            return AsyncIterator { rest.take() }
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
            var iterator = pieces.makeAsyncIterator()
            return AsyncIterator {
                guard !isSecond else {
                    throw RequestError(.invalidResponse, reason: "the body has been read already")
                }
                return try await iterator.next()
            }
        }
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
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let piece: () async throws -> Data?

        /// The next piece; `nil` at the end of the body.
        public func next() async throws -> Data? { try await piece() }
    }
}
