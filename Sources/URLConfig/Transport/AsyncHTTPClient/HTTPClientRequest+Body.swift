#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat

extension Transport.Body {
    /// This body for AsyncHTTPClient; and its stream, if it is one that is read while it is sent.
    var forAsyncHTTPClient: (HTTPClientRequest.Body, StreamPieces?) {
        get async throws {
            if case .data(let data) = self { return (.bytes(ByteBuffer(data: data)), nil) }
            let (stream, length) = try opened()
            let pieces = StreamPieces(stream, length: length)
            guard length == 0 else { return (.stream(pieces, length: length.map { .known($0) } ?? .unknown), pieces) }
            // AsyncHTTPClient would not read a stream with the length 0, so a longer one would not be found.
            for try await _ in pieces {}
            return (.bytes(ByteBuffer()), nil)
        }
    }
}

/// The pieces of a stream, which is read once, on a queue of its own, because reading may block.
final class StreamPieces: AsyncSequence, Sendable {
    private struct State {
        /// The number of bytes that were not read yet; `nil` if unknown.
        var rest: Int64?
        var isOver = false
        var piece: OneShot<ByteBuffer?>?
    }

    private let state: Locked<State>
    private let queue = DispatchQueue(label: "URLConfig.body", qos: .userInitiated)
    private let read: @Sendable () -> Result<ByteBuffer?, any Error>

    init(_ stream: InputStream, length: Int64?) {
        state = Locked(State(rest: length))
        let failure = Locked<RequestError?>(nil)
        // Safe: it is used only in `read`, on the serial queue. A stream is not `Sendable`, but reading may block.
        nonisolated(unsafe) let stream = BodyStream(stream, length: length) { failure.set(\.self, $0) }
        read = {
            if stream.streamStatus == .notOpen { stream.open() }
            var piece = ByteBufferAllocator().buffer(capacity: 1 << 16)
            let count = piece.writeWithUnsafeMutableBytes(minimumWritableBytes: 1 << 16) { bytes in
                bytes.bindMemory(to: UInt8.self).baseAddress.map {
                    Swift.max(0, stream.read($0, maxLength: bytes.count))
                } ?? 0
            }
            if let failure = failure.withLock({ $0 }) { return .failure(failure) }
            if count == 0 { stream.close() }
            return .success(count > 0 ? piece : nil)
        }
    }

    /// Ends the upload, because its response is complete: nobody waits for it, and it would keep the connection.
    func end() {
        let piece = state.withLock { state in
            state.isOver = state.rest != 0
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
        let isOver = state.withLock { state in
            state.piece = next
            return state.isOver
        }
        guard !isOver else { throw CancellationError() }
        queue.async { [read] in next.resolve(read()) }
        let piece = try await next.value()
        state.withLock { state in
            if let rest = state.rest { state.rest = rest - Int64(piece?.readableBytes ?? 0) }
        }
        return piece
    }
}

#endif
