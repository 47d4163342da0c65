#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

@testable import URLConfig

/// A server with TLS on a free loopback port, which speaks HTTP/2 and HTTP/1.1, and a session for it.
struct TLSServer: TestServer {
    /// What the server does with a request.
    enum Answer: Sendable {
        /// A response with these bytes, in a stream of HTTP/2 with any text as its status.
        case ok(String, status: String = "200")
        /// The same, after which a connection of HTTP/1.1 is closed.
        case last(String)
        /// Ends the stream, or the connection of HTTP/1.1, before the response.
        case resetBeforeHead
        /// Ends the stream, or the connection of HTTP/1.1, after 10 of 100 bytes.
        case resetInBody
        /// Ends the connection of HTTP/2 in an orderly manner, as if the request had not been seen.
        case goAway
        /// Closes the connection.
        case close
        /// Does nothing.
        case silence
    }

    struct Request: Sendable {
        /// 1 or 2.
        let version: Int
        let path: String
        /// The number of connections that were accepted before this one.
        let connection: Int
    }

    fileprivate struct State: Sendable {
        var requests: [Request] = []
        var accepted = 0
        var open: [any Channel] = []
    }

    let host: String
    let session: URLSession
    private let state: Locked<State>

    var requests: [Request] { state.withLock { $0.requests } }
    var connections: Int { state.withLock { $0.accepted } }

    /// Serves requests while `body` runs; the number says how many requests came before.
    ///
    /// - Parameter dropped: Each connection of this number is closed before its handshake: with 6, every sixth.
    static func serving(
        _ certificate: TestCertificate = .localhost, protocols: [String] = ["h2", "http/1.1"],
        dropped: Int = .max,
        _ answer: @escaping @Sendable (Request, _ number: Int) -> Answer = { _, _ in .ok("{}") },
        _ body: (TLSServer) async throws -> Void
    ) async throws {
        let state = Locked(State())
        let context = try NIOSSLContext(configuration: try certificate.forServer(protocols))
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let index = state.withLock { state in
                    defer { state.accepted += 1 }
                    state.open.append(channel)
                    return state.accepted
                }
                if (index + 1).isMultiple(of: dropped) { return channel.eventLoop.makeFailedFuture(ChannelError.eof) }
                let responder = Responder(connection: index, state: state, answer: answer)
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }.flatMap {
                    channel.configureHTTP2SecureUpgrade { channel in
                        channel.eventLoop.makeCompletedFuture { try addHTTP2(to: channel, responder) }
                    } http1ChannelConfigurator: { channel in
                        channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
                            try channel.pipeline.syncOperations.addHandler(HTTP1Handler(responder))
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let session = URLSession(configuration: .ofTests)
        defer { session.finishTasksAndInvalidate() }
        let host = "https://127.0.0.1:\(listener.localAddress?.port ?? 0)"
        let result = await Result { try await body(TLSServer(host: host, session: session, state: state)) }
        try await listener.close()
        for channel in state.withLock({ $0.open }) { channel.close(promise: nil) }
        try result.get()
    }

    private static func addHTTP2(to channel: any Channel, _ responder: Responder) throws {
        // It may send what no server should send.
        let handler = NIOHTTP2Handler(
            mode: .server, headerBlockValidation: .disabled, contentLengthValidation: .disabled)
        let multiplexer = HTTP2StreamMultiplexer(mode: .server, channel: channel) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2Handler(responder))
            }
        }
        try channel.pipeline.syncOperations.addHandlers([handler, multiplexer])
    }

    /// Decides about the requests of one connection.
    fileprivate struct Responder: Sendable {
        let connection: Int
        let state: Locked<State>
        let answer: @Sendable (Request, _ number: Int) -> Answer

        func answer(to path: String, version: Int) -> Answer {
            let request = Request(version: version, path: path, connection: connection)
            let number = state.withLock { state in
                defer { state.requests.append(request) }
                return state.requests.count
            }
            return answer(request, number)
        }
    }
}

private final class HTTP1Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let responder: TLSServer.Responder
    private var path = ""

    init(_ responder: TLSServer.Responder) { self.responder = responder }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): path = head.uri
        case .body: break
        case .end: respond(context)
        }
    }

    private func respond(_ context: ChannelHandlerContext) {
        switch responder.answer(to: path, version: 1) {
        case .ok(let text, _):
            send(text, length: text.utf8.count, context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .last(let text):
            send(text, length: text.utf8.count, context, "close")
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            context.close(promise: nil)
        case .resetInBody:
            send("0123456789", length: 100, context)
            context.flush()
            context.close(promise: nil)
        case .resetBeforeHead, .goAway, .close: context.close(promise: nil)
        case .silence: break
        }
    }

    private func send(
        _ text: String, length: Int, _ context: ChannelHandlerContext, _ connection: String = "keep-alive"
    ) {
        let fields: NIOHTTP1.HTTPHeaders = ["Content-Length": "\(length)", "Connection": connection]
        context.write(wrapOutboundOut(.head(.init(version: .http1_1, status: .ok, headers: fields))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    }
}

private final class HTTP2Handler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let responder: TLSServer.Responder
    private var path = ""

    init(_ responder: TLSServer.Responder) { self.responder = responder }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let headers):
            path = headers.headers.first(name: ":path") ?? ""
            if headers.endStream { respond(context) }
        case .data(let data): if data.endStream { respond(context) }
        default: break
        }
    }

    private func respond(_ context: ChannelHandlerContext) {
        switch responder.answer(to: path, version: 2) {
        case .last(let text):
            send(text, status: "200", isWhole: true, context)
            context.flush()
        case .ok(let text, let status):
            send(text, status: status, isWhole: true, context)
            context.flush()
        case .resetBeforeHead:
            context.writeAndFlush(wrapOutboundOut(.rstStream(.internalError)), promise: nil)
        case .resetInBody:
            send("0123456789", status: "200", isWhole: false, context)
            context.writeAndFlush(wrapOutboundOut(.rstStream(.internalError)), promise: nil)
        case .goAway:
            let frame = HTTP2Frame(
                streamID: .rootStream, payload: .goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil)
            )
            context.channel.parent?.writeAndFlush(frame, promise: nil)
        case .close: context.channel.parent?.close(promise: nil)
        case .silence: break
        }
    }

    private func send(_ text: String, status: String, isWhole: Bool, _ context: ChannelHandlerContext) {
        let head = HTTP2Frame.FramePayload.Headers(headers: [":status": status])
        context.write(wrapOutboundOut(.headers(head)), promise: nil)
        let body = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer(string: text)), endStream: isWhole)
        context.write(wrapOutboundOut(.data(body)), promise: nil)
    }
}

#endif
