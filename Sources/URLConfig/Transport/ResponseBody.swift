/// The body of a response, in pieces as they arrive.
///
/// ```swift
/// for try await piece in response.body { … }
/// ```
///
/// It can be read once. To leave the loop, and to let go of the body, ends the transfer.
public struct ResponseBody: AsyncSequence, Sendable {
    private enum Source: Sendable {
        /// What has arrived, and what ended it before its time.
        case arrived(Data, (any Error)?)
        case pieces(@Sendable () -> AsyncIterator)
    }

    private let source: Source

    /// A body that is here already.
    ///
    /// - Parameter data: The bytes, by default none.
    public init(_ data: Data = Data()) {
        self.init(data, failure: nil)
    }

    /// A body whose pieces a function returns, one by one.
    init(unfolding piece: @escaping @Sendable () async throws -> Data?) {
        source = .pieces { AsyncIterator(piece) }
    }

    /// A body that has arrived, or a part of it and what ended it.
    init(_ data: Data, failure: (any Error)?) {
        source = .arrived(data, failure)
    }

    /// A body that arrives in pieces.
    ///
    /// - Parameter pieces: The pieces, such as an `AsyncThrowingStream`. What it throws, who reads the body receives.
    public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
        source = .pieces {
            var iterator = pieces.makeAsyncIterator()
            return AsyncIterator { try await iterator.next() }
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
        } catch let error as BodyTooLong {
            throw RequestError(.responseTooLarge, stage: .executing, reason: error.reason)
        }
        return buffer.data
    }

    /// Adds all pieces to a buffer.
    ///
    /// - Throws: ``BodyTooLong`` when the buffer is full; what the transport throws.
    func collect(into buffer: inout BodyBuffer) async throws {
        switch source {
        case .arrived(let data, let failure):
            try buffer.receive(data)
            if let failure { throw failure }
        case .pieces(let iterator):
            let iterator = iterator()
            while let piece = try await iterator.next() { try buffer.receive(piece) }
        }
    }

    /// The pieces.
    public func makeAsyncIterator() -> AsyncIterator {
        switch source {
        case .pieces(let iterator): return iterator()
        case .arrived(let data, let failure):
            var rest = [data].filter { !$0.isEmpty }
            return AsyncIterator {
                if let data = rest.popLast() { return data }
                if let failure { throw failure }
                return nil
            }
        }
    }

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
