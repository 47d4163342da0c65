/// The body of a response, in pieces as they arrive.
///
/// ```swift
/// for try await piece in response.body { … }
/// ```
///
/// It can be read once; whoever reads it again gets an error. To leave the loop, and to let go of the body, ends the
/// transfer.
public struct ResponseBody: AsyncSequence, Sendable {
    private let iterator: @Sendable () -> AsyncIterator

    /// A body that is here already.
    ///
    /// - Parameter data: The bytes, by default none.
    public init(_ data: Data = Data()) {
        iterator = {
            var rest = data.isEmpty ? nil : data
            return AsyncIterator { rest.take() }
        }
    }

    init(unfolding piece: @escaping @Sendable () async throws -> Data?) {
        iterator = { AsyncIterator(piece) }
    }

    /// A body that arrives in pieces.
    ///
    /// - Parameter pieces: The pieces, such as an `AsyncThrowingStream`. What it throws, who reads the body receives.
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
    /// - Parameter limit: The most bytes, by default as many as come.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/responseTooLarge`` for more bytes than the limit; what
    ///   the transport throws, such as `URLError` for a connection that is lost.
    public func collect(upTo limit: Int = .max) async throws -> Data {
        var buffer = BodyBuffer(limit: limit)
        do {
            try await collect(into: &buffer)
        } catch is BodyTooLong {
            let reason = "the body is longer than \(limit.shownAsBytes)"
            throw RequestError(.responseTooLarge, reason: reason)
        }
        return buffer.data
    }

    /// - Throws: ``BodyTooLong`` when the buffer is full; what the transport throws.
    func collect(into buffer: inout BodyBuffer) async throws {
        let iterator = iterator()
        while let piece = try await iterator.next() { try buffer.receive(piece) }
    }

    /// The pieces.
    public func makeAsyncIterator() -> AsyncIterator { iterator() }

    /// The pieces that are to come.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let piece: () async throws -> Data?

        fileprivate init(_ piece: @escaping () async throws -> Data?) {
            self.piece = piece
        }

        /// The next piece; `nil` at the end of the body.
        public func next() async throws -> Data? { try await piece() }
    }
}
