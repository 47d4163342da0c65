#if AsyncHTTPClient

import NIOCore

@testable import URLConfig

/// A server with TLS that sends frames of HTTP/2, valid or not.
struct RawHTTP2: TestServer {
    let host: String
    let session = URLSession(configuration: .ofTests)
    private let open: Locked<Int>

    /// The number of connections that are open.
    var connections: Int { open.withLock(\.self) }

    static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let count = UInt32(payload.count)
        var bytes = [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags]
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(stream >> shift & 0xFF)) }
        return bytes + payload
    }

    static let settings = frame(4, 0, 0, [])

    static func headers(_ stream: UInt32, _ fields: KeyValuePairs<String, String>, end: Bool = false) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in fields {
            block += [0, UInt8(name.utf8.count)] + Array(name.utf8)
            block += [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        return frame(1, end ? 5 : 4, stream, block)
    }

    static func data(_ stream: UInt32, _ text: String, end: Bool = false) -> [UInt8] {
        frame(0, end ? 1 : 0, stream, Array(text.utf8))
    }

    static func serving(
        _ settings: [UInt8] = settings, _ answer: @escaping @Sendable (UInt32) -> [UInt8],
        _ body: (RawHTTP2) async throws -> Void
    ) async throws {
        let open = Locked(0)
        try await TLSListener.serving(
            ["h2"], handler: { Frames(settings, open, answer) },
            { host in try await body(RawHTTP2(host: host, open: open)) })
    }

    private final class Frames: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let settings: [UInt8]
        private let open: Locked<Int>
        private let answer: @Sendable (UInt32) -> [UInt8]
        private var bytes: [UInt8] = []
        private var isBegun = false

        init(_ settings: [UInt8], _ open: Locked<Int>, _ answer: @escaping @Sendable (UInt32) -> [UInt8]) {
            (self.settings, self.open, self.answer) = (settings, open, answer)
        }

        func handlerAdded(context: ChannelHandlerContext) { open.withLock { $0 += 1 } }

        func handlerRemoved(context: ChannelHandlerContext) { open.withLock { $0 -= 1 } }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes += Array(buffer: unwrapInboundIn(data))
            if !isBegun {
                guard bytes.count >= 24 else { return }
                bytes.removeFirst(24)
                isBegun = true
                send(settings, context)
            }
            while bytes.count >= 9 {
                let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
                guard bytes.count >= 9 + length else { return }
                let (type, flags) = (bytes[3], bytes[4])
                let stream = bytes[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                bytes.removeFirst(9 + length)
                if type == 4, flags & 1 == 0 { send(RawHTTP2.frame(4, 1, 0, []), context) }
                if type == 1 { send(answer(stream), context) }
            }
        }

        private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            guard !bytes.isEmpty else { return }
            context.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }
}

#endif
