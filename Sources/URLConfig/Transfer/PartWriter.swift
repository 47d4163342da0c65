/// The part of a download on a queue of its own, because its functions block until the disk has done its work.
///
/// Bytes are written while the next ones arrive. Nobody waits for the disk before there is a megabyte to write, so that
/// a fast download does not change threads for each piece.
final class PartWriter: Sendable {
    private struct State {
        /// The pieces that were not written yet, and the number of their bytes.
        var pieces: [Data] = []
        var count = 0
        /// The first error, which is the end: what follows a missing piece must not be written.
        var failure: (any Error)?
    }

    /// The number of bytes that may wait to be written.
    private static let mostWaiting = 1 << 20

    private let part: PartFile
    private let queue: DispatchQueue
    private let state = Locked(State())

    /// Opens the part of a target.
    ///
    /// - Throws: The errors of ``DownloadTarget`` and ``PartFile``.
    static func opened(_ url: URL, overwrites: Bool, for request: URLRequest) async throws -> PartWriter {
        let queue = DispatchQueue(label: "URLConfig.download", qos: .userInitiated)
        return try await run(on: queue) {
            PartWriter(try PartFile(for: DownloadTarget(url, overwrites: overwrites), of: request), queue)
        }
    }

    init(_ part: PartFile, _ queue: DispatchQueue) {
        self.part = part
        self.queue = queue
    }

    /// Does something with the part when all pieces are written.
    ///
    /// It does not end early if the task is cancelled, so that nothing is done to the part afterwards.
    ///
    /// - Throws: The errors of the function, and those of ``append(_:)``.
    func run<Value: Sendable>(_ work: @escaping @Sendable (PartFile) throws -> Value) async throws -> Value {
        try await Self.run(on: queue) {
            if let failure = self.state.withLock({ $0.failure }) { throw failure }
            return try work(self.part)
        }
    }

    /// Whether another program has changed the part; then the part is empty, and can be written to again.
    func takeChange() async throws -> Bool {
        try await Self.run(on: queue) {
            guard self.part.takeChange() else { return false }
            self.state.withLock { ($0.pieces, $0.count, $0.failure) = ([], 0, nil) }
            return true
        }
    }

    private static func run<Value: Sendable>(
        on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Writes bytes soon, after those before.
    ///
    /// - Throws: The error of an earlier piece.
    func append(_ piece: Data) async throws {
        let (isFirst, isFull) = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.pieces.append(piece)
            state.count += piece.count
            return (state.pieces.count == 1, state.count > Self.mostWaiting)
        }
        if isFirst { queue.async { self.write() } }
        if isFull { try await run { _ in } }
    }

    private func write() {
        let pieces = state.withLock { state in
            let pieces = state.failure == nil ? state.pieces : []
            (state.pieces, state.count) = ([], 0)
            return pieces
        }
        do {
            for piece in pieces { try part.append(piece) }
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    /// Writes what has arrived, and closes the part; see ``PartFile/close()``.
    ///
    /// Afterwards, another download may open it.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.state.withLock { $0.failure = $0.failure ?? CancellationError() }
                self.part.close()
                continuation.resume()
            }
        }
    }
}
