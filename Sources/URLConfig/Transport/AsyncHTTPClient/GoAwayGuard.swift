#if AsyncHTTPClient

import NIOCore
import NIOHTTP2

/// Closes a connection of HTTP/2 after an error of the connection has been sent on it.
///
/// After a frame that breaks the protocol, SwiftNIO sends GOAWAY and reads nothing more, but does not close the
/// connection. AsyncHTTPClient would keep it, and send all further requests of the host on it, without a response.
final class GoAwayGuard: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The header of a GOAWAY frame without further data (RFC 9113 §6.8), and the bytes after it.
    private static let (header, rest) = ([0, 0, 8, 7, 0, 0, 0, 0, 0] as [UInt8], 8)
    private var isOver = false

    /// Adds a guard to a new connection.
    @Sendable static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let http2 = try pipeline.context(handlerType: NIOHTTP2Handler.self).handler
            try pipeline.addHandler(GoAwayGuard(), position: .before(http2))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .byteBuffer(let buffer) = unwrapOutboundIn(data) {
            // It is the last frame, and was flushed at once. Its last four bytes are the error; 0 is none.
            let end = buffer.readableBytesView.suffix(Self.header.count + Self.rest)
            isOver = isOver || end.starts(with: Self.header) && end.suffix(4).contains { $0 != 0 }
        }
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard isOver else { return }
        let channel = context.channel
        context.eventLoop.execute { channel.close(promise: nil) }
    }
}

#endif
