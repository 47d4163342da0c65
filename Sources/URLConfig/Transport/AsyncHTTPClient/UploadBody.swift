#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat

extension Transport.Body {
    /// This body for AsyncHTTPClient, and its stream if it is read while it is sent; no body if it is empty.
    ///
    /// A stream with the length 0 has no body. AsyncHTTPClient would not read it, so a longer one would not be found:
    /// the caller reads it.
    ///
    /// - Parameter progress: Receives the number of sent bytes. With it, even data are sent as a stream.
    func forAsyncHTTPClient(_ progress: ProgressMeter?) async throws -> (HTTPClientRequest.Body?, UploadBody?) {
        // A small piece is a sign of life when it was written, and large data are not copied.
        if progress == nil, case .data(let data) = self, data.count <= UploadBody.pieceSize {
            return (data.isEmpty ? nil : .bytes(ByteBuffer(data: data)), nil)
        }
        let pieces = try UploadBody(self, progress)
        let length = pieces.length
        return (length == 0 ? nil : .stream(pieces, length: length.map { .known($0) } ?? .unknown), pieces)
    }
}

/// The pieces of a stream or of a sequence, which is read once.
final class UploadBody: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private struct State {
        /// The number of bytes that were read.
        var count: Int64 = 0
        /// The number of bytes that were written to the connection.
        var written: Int64 = 0
        var isOver = false
        var isAsked = false
        /// Whether ``didWrite(_:)`` is called: a caller may have changed the client.
        var isWatched = false
        /// Whether all bytes were read, and only the end waits.
        var isAtEnd = false
        /// Whether AsyncHTTPClient knows that nothing follows.
        var isComplete = false
        /// The next piece, while AsyncHTTPClient waits for it.
        var piece: OneShot<ByteBuffer?>?

        /// Whether few enough bytes wait to be written, as far as that is known.
        var hasRoom: Bool { !isWatched || count - written < UploadBody.maximumUnwritten }

        func isCut(_ length: Int64?) -> Bool { written != length && !isComplete }
    }

    /// The most bytes of a piece: 64 kB.
    static let pieceSize = 1 << 16
    /// The bytes that may wait to be written: 1 MB.
    ///
    /// AsyncHTTPClient limits them only when the thread of the connection runs.
    private static let maximumUnwritten: Int64 = 1 << 20

    private let state = Locked(State())
    let length: Int64?
    private let progress: ProgressMeter?
    /// Reads the next piece, and passes it on.
    private let read: @Sendable (@escaping @Sendable (Result<ByteBuffer?, any Error>) -> Void) -> Void
    /// Ends a sequence that is being read.
    private let stop: @Sendable () -> Void

    init(_ body: Transport.Body, _ progress: ProgressMeter?) throws {
        self.progress = progress
        if case .sequence(let pieces, let length) = body {
            stop = { [received = pieces.received] in received.cancel() }
            let pieces = try SentPieces(pieces, length: length)
            self.length = pieces.length
            // What remains of the last piece: a long one is written in parts, which are signs of life.
            let rest = Locked(Data())
            read = { use in
                Task {
                    do {
                        var piece = rest.withLock(\.self)
                        if piece.isEmpty { piece = try await pieces.next() ?? Data() }
                        rest.set(\.self, piece.dropFirst(Self.pieceSize))
                        use(.success(piece.isEmpty ? nil : ByteBuffer(data: piece.prefix(Self.pieceSize))))
                    } catch {
                        use(.failure(SourceFailure(error: error)))
                    }
                }
            }
            return
        }
        stop = {}
        let (stream, length) = try body.opened()
        self.length = length
        // Safe: it is used only in `read`, on the serial queue. A stream is not `Sendable`, but reading may block.
        nonisolated(unsafe) let checked = CheckedStream(stream, length: length)
        let queue = DispatchQueue(label: "URLConfig.body", qos: .ofFiles)
        read = { use in queue.async { use(Result { try checked.piece() }) } }
    }

    /// Whether a piece was asked for: the rest must not be sent as the whole body.
    var isAsked: Bool { state.withLock { $0.isAsked } }

    /// Whether a part of the body was not sent yet.
    var isCut: Bool { state.withLock { $0.isCut(length) } }

    /// Whether only the end waits.
    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    /// The connection that writes it tells of each piece.
    func watch() { state.set(\.isWatched, true) }

    /// Bytes were written to the connection.
    func didWrite(_ count: Int) {
        let (next, isAtEnd) = state.withLock { state in
            let hadRoom = state.hasRoom
            state.written += Int64(count)
            let isWanted = state.isAtEnd ? state.written >= state.count : !hadRoom && state.hasRoom
            state.isComplete = state.isComplete || state.isAtEnd && isWanted
            return (isWanted ? state.piece : nil, state.isAtEnd)
        }
        guard let next else { return }
        if isAtEnd { next.resolve(.success(nil)) } else { readLater(next) }
    }

    /// Ends the upload with its response: nobody waits for it, and it would keep the connection.
    func end() {
        let (isCut, piece) = state.withLock { state in
            state.isOver = state.isCut(length)
            return (state.isOver, state.isOver ? state.piece : nil)
        }
        if isCut { stop() }
        piece?.resolve(.failure(CancellationError()))
    }

    func makeAsyncIterator() -> UploadBody { self }

    func next() async throws -> ByteBuffer? {
        let next = OneShot<ByteBuffer?>()
        let (isOver, count, hasRoom) = state.withLock { state in
            (state.piece, state.isAsked) = (next, true)
            return (state.isOver, state.count, state.hasRoom)
        }
        guard !isOver else { throw CancellationError() }
        // The next bytes are wanted when the ones before were sent.
        progress?.sent(count, of: length)
        if hasRoom { readLater(next) }
        return try await next.value()
    }

    /// Reads the next piece.
    ///
    /// The end is passed on when all bytes were written. After a refusal that comes early, AsyncHTTPClient drops bytes:
    /// with the end, it would take the body for one that is too short, and lose the response.
    private func readLater(_ next: OneShot<ByteBuffer?>) {
        read { [self] piece in
            let waits = state.withLock { state in
                switch piece {
                case .success(let bytes?): state.count += Int64(bytes.readableBytes)
                case .success(nil) where state.isWatched && state.written < state.count:
                    state.isAtEnd = true
                    return true
                case .success(nil): state.isComplete = true
                case .failure: break
                }
                state.piece = nil
                return false
            }
            if !waits { next.resolve(piece) }
        }
    }
}

extension CheckedStream {
    /// The next bytes; `nil` at the end.
    fileprivate func piece() throws -> ByteBuffer? {
        var piece = ByteBufferAllocator().buffer(capacity: UploadBody.pieceSize)
        let count = try piece.writeWithUnsafeMutableBytes(minimumWritableBytes: UploadBody.pieceSize) { bytes in
            try bytes.bindMemory(to: UInt8.self).baseAddress.map { try read($0, maxLength: bytes.count) } ?? 0
        }
        if count == 0 { close() }
        return count > 0 ? piece : nil
    }
}

/// An error of the caller's sequence, which says nothing about the connection, whatever its type.
struct SourceFailure: Error {
    let error: any Error
}

#endif
