#if AsyncHTTPClient

import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// The pieces of a body, decoded, with the errors of a transport.
struct Pieces<Body: AsyncSequence & Sendable>: AsyncSequence, Sendable where Body.Element == ByteBuffer {
    let body: Body
    /// What is sent meanwhile; `nil` if the request was sent as a whole.
    var upload: StreamPieces?
    /// It must not be shut down before the end of the body.
    let client: SharedClient
    /// `nil` if the client's connections have no ``ConnectionGuard``.
    let delivery: Delivery?
    let url: URL?
    /// The codings that are to be decoded.
    let codings: [String]

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self, body: body.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var body: Body.AsyncIterator
        private var isEmpty = true
        private var decoder: ContentDecoder?

        init(pieces: Pieces, body: Body.AsyncIterator) {
            self.pieces = pieces
            self.body = body
        }

        mutating func next() async throws -> Data? {
            do {
                while true {
                    // Decoding does not wait for anything that could be cancelled.
                    if decoder != nil { try Task.checkCancellation() }
                    if let piece = try decoder?.next() { return piece }
                    guard let piece = try await body.next() else { break }
                    if piece.readableBytes == 0 { continue }
                    // A body without a byte is not decoded, whatever its coding (RFC 9110 §6.4.1).
                    if isEmpty { decoder = try ContentDecoder(pieces.codings) }
                    isEmpty = false
                    guard let decoder else { return Data(buffer: piece) }
                    decoder.receive(piece)
                }
                // A cancelled body looks like a complete one.
                try Task.checkCancellation()
                pieces.upload?.end()
                if let failure = pieces.delivery?.failure { throw failure }
                try decoder?.finish()
                return nil
            } catch {
                try Task.checkCancellation()
                throw error.asURLError(pieces.url)
            }
        }
    }
}

#endif
