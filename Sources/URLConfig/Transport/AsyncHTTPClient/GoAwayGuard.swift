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

    /// The first bytes of a frame: its header (RFC 9113 §4.1), and of a GOAWAY also its error (RFC 9113 §6.8).
    private var start: [UInt8] = []
    private static let (header, withError) = (9, 17)
    /// The rest of a frame, which is skipped: the body of a request may contain the bytes of a GOAWAY.
    private var rest = 0
    private var isOver = false

    /// Adds a guard to a new connection, on which no frame is being written.
    @Sendable static func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let http2 = try pipeline.context(handlerType: NIOHTTP2Handler.self).handler
            try pipeline.addHandler(GoAwayGuard(), position: .before(http2))
            let multiplexer = try pipeline.context(handlerType: HTTP2StreamMultiplexer.self).handler
            try pipeline.addHandler(HeadLimit(), position: .before(multiplexer))
            try pipeline.addHandler(UnusedGuard(), position: .before(multiplexer))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .byteBuffer(let buffer): follow(buffer.readableBytesView)
        // It is the payload of a frame.
        case .fileRegion(let region): rest = max(0, rest - region.readableBytes)
        }
        context.write(data, promise: promise)
    }

    /// Follows the frames, which may begin and end anywhere in what is written.
    private func follow(_ bytes: ByteBufferView) {
        var bytes = bytes
        while !bytes.isEmpty {
            let skipped = min(rest, bytes.count)
            rest -= skipped
            bytes = bytes.dropFirst(skipped)
            let taken = bytes.prefix((start.count < Self.header ? Self.header : Self.withError) - start.count)
            start += taken
            bytes = bytes.dropFirst(taken.count)
            guard start.count >= Self.header else { return }
            let length = start[..<3].reduce(0) { $0 << 8 | Int($1) }
            if start[3] != 7 {
                rest = length
            } else if start.count == Self.withError {
                rest = max(0, length - (Self.withError - Self.header))
                // 0 is the orderly end of a connection.
                isOver = isOver || start.suffix(4).contains { $0 != 0 }
            } else {
                continue
            }
            start.removeAll(keepingCapacity: true)
        }
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard isOver else { return }
        let channel = context.channel
        context.eventLoop.execute { channel.close(promise: nil) }
    }
}

/// Closes a connection of HTTP/2 without streams when the server takes no more.
///
/// AsyncHTTPClient closes it at the end of its last stream only, and would keep one that has none for ever.
private final class UnusedGuard: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// The number of streams.
    private var count = 0

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is NIOHTTP2StreamCreatedEvent { count += 1 }
        if event is StreamClosedEvent { count -= 1 }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(data)
        if case .goAway = unwrapInboundIn(data).payload, count == 0 { context.close(promise: nil) }
    }
}

#endif
