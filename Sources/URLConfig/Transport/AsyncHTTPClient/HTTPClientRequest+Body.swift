#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat

extension HTTPClientRequest.Body {
    init(_ body: Transport.Body) async throws {
        switch body {
        case .data(let data): self = .bytes(ByteBuffer(data: data))
        case .file, .stream:
            let (stream, length) = try body.opened()
            let pieces = StreamPieces(stream, length: length)
            guard length == 0 else {
                self = .stream(pieces, length: length.map { .known($0) } ?? .unknown)
                return
            }
            // AsyncHTTPClient would not read a stream with the length 0, so a longer one would not be found.
            for try await _ in pieces {}
            self = .bytes(ByteBuffer())
        }
    }
}

/// The pieces of a stream, which is read once, on a queue of its own, because reading may block.
private struct StreamPieces: AsyncSequence, Sendable {
    private let queue = DispatchQueue(label: "URLConfig.body", qos: .userInitiated)
    private let read: @Sendable () -> Result<ByteBuffer?, any Error>

    init(_ stream: InputStream, length: Int64?) {
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

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: StreamPieces

        mutating func next() async throws -> ByteBuffer? {
            let piece = OneShot<ByteBuffer?>()
            pieces.queue.async { [read = pieces.read] in piece.resolve(read()) }
            return try await piece.value()
        }
    }
}

#endif
