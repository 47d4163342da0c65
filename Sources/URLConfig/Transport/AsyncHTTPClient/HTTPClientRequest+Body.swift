#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat

extension HTTPClientRequest.Body {
    init(_ body: Transport.Body) throws {
        switch body {
        case .data(let data): self = .bytes(ByteBuffer(data: data))
        case .file, .stream:
            let (stream, length) = try body.opened()
            // With a known length of 0, the stream would not be read, and so not be checked.
            let known: Length = length.map { $0 == 0 ? .unknown : .known($0) } ?? .unknown
            self = .stream(StreamPieces(stream, length: length), length: known)
            if case .file = body, length == 0 { self = .bytes(ByteBuffer()) }
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
