#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat

extension Transport.Body {
    /// This body for AsyncHTTPClient, and its stream if it is read while it is sent; no body if it is empty.
    ///
    /// - Parameter progress: It is told what was sent. Then data are sent as a stream, too.
    func forAsyncHTTPClient(_ progress: ProgressMeter?) async throws -> (HTTPClientRequest.Body?, StreamPieces?) {
        if progress == nil, case .data(let data) = self {
            return (data.isEmpty ? nil : .bytes(ByteBuffer(data: data)), nil)
        }
        let (stream, length) = try opened()
        let pieces = StreamPieces(stream, length: length, progress)
        guard length == 0 else { return (.stream(pieces, length: length.map { .known($0) } ?? .unknown), pieces) }
        // AsyncHTTPClient would not read a stream with the length 0, so a longer one would not be found.
        for try await _ in pieces {}
        return (nil, nil)
    }
}

/// The pieces of a stream, which is read once, on a queue of its own, because reading may block.
final class StreamPieces: AsyncSequence, Sendable {
    private struct State {
        /// The number of bytes that were read.
        var count: Int64 = 0
        var isOver = false
        var piece: OneShot<ByteBuffer?>?
        /// The last pieces, which may still wait to be written.
        var unwritten: [ByteBuffer] = []
    }

    /// The most pieces that wait to be written: 1 MB.
    ///
    /// AsyncHTTPClient limits them only when the thread of the connection runs.
    private static let mostUnwritten = 16

    private let state = Locked(State())
    private let length: Int64?
    private let progress: ProgressMeter?
    private let queue = DispatchQueue(label: "URLConfig.body", qos: .userInitiated)
    private let read: @Sendable () -> Result<ByteBuffer?, any Error>

    init(_ stream: InputStream, length: Int64?, _ progress: ProgressMeter?) {
        self.length = length
        self.progress = progress
        // Safe: it is used only in `read`, on the serial queue. A stream is not `Sendable`, but reading may block.
        nonisolated(unsafe) let stream = CheckedStream(stream, length: length)
        read = {
            Result {
                var piece = ByteBufferAllocator().buffer(capacity: 1 << 16)
                let count = try piece.writeWithUnsafeMutableBytes(minimumWritableBytes: 1 << 16) { bytes in
                    try bytes.bindMemory(to: UInt8.self).baseAddress.map {
                        try stream.read($0, maxLength: bytes.count)
                    } ?? 0
                }
                if count == 0 { stream.close() }
                return count > 0 ? piece : nil
            }
        }
    }

    /// Ends the upload, because its response is complete: nobody waits for it, and it would keep the connection.
    func end() {
        let piece = state.withLock { state in
            state.isOver = state.count != length
            return state.isOver ? state.piece : nil
        }
        piece?.resolve(.failure(CancellationError()))
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: StreamPieces

        func next() async throws -> ByteBuffer? { try await pieces.next() }
    }

    private func next() async throws -> ByteBuffer? {
        let next = OneShot<ByteBuffer?>()
        let (isOver, count) = state.withLock { state in
            state.piece = next
            return (state.isOver, state.count)
        }
        guard !isOver else { throw CancellationError() }
        // The next bytes are wanted when the ones before were sent.
        progress?.sent(count, of: length)
        queue.async { self.read(next) }
        let piece = try await next.value()
        state.withLock { state in
            state.count += Int64(piece?.readableBytes ?? 0)
            if let piece { state.unwritten.append(piece) }
        }
        return piece
    }

    /// Reads the next piece as soon as few enough pieces wait to be written.
    private func read(_ next: OneShot<ByteBuffer?>) {
        guard hasRoom else {
            queue.asyncAfter(deadline: .now() + .milliseconds(1)) { [weak self] in
                if let self { self.read(next) } else { next.resolve(.failure(CancellationError())) }
            }
            return
        }
        next.resolve(read())
    }

    private var hasRoom: Bool {
        state.withLock { state in
            guard state.unwritten.count >= Self.mostUnwritten else { return true }
            // What was written has no other owner.
            guard state.unwritten[0].modifyIfUniquelyOwned({ _ in }) != nil else { return state.isOver }
            state.unwritten.removeFirst()
            return true
        }
    }
}

#endif
