#if AsyncHTTPClient

import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// How long the head of a request may be on a connection of HTTP/2.
///
/// SwiftNIO does not divide a head into several frames. It finds out that the head does not fit into one after it has
/// encoded it, tells nobody, and then encodes all further heads of the connection with a table that the server does not
/// have.
final class HeadLimit: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// The limit of a server that names none (RFC 9113 §6.5.2).
    private static let least = 1 << 14
    private var bytes = HeadLimit.least

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .settings(.settings(let settings)) = unwrapInboundIn(data).payload {
            for setting in settings where setting.parameter == .maxFrameSize { bytes = setting.value }
        }
        context.fireChannelRead(data)
    }

    /// The error of a head that is too long; `nil` if it can be sent.
    ///
    /// - Parameter stream: The stream on which it would be sent.
    static func refusal(of head: HTTPRequestHead, on stream: any Channel) -> RequestError? {
        // Almost every head is short. No byte needs more than 30 bits (RFC 7541 appendix B).
        guard (head.count + 100) * 4 > least else { return nil }
        let limit = try? stream.parent?.pipeline.syncOperations.handler(type: HeadLimit.self).bytes
        let (count, most) = (head.encodedCount, limit ?? least)
        guard count > most else { return nil }
        return .refused(
            "over HTTP/2, the header fields and the URL need about \(count) bytes, and the server takes \(most); "
                + "send shorter or fewer fields")
    }
}

extension HTTPRequestHead {
    /// The bytes of the fields before they are encoded, with room for their lengths.
    fileprivate var count: Int {
        headers.reduce(uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }

    /// The most bytes that the fields need on a connection, whatever was sent on it before.
    fileprivate var encodedCount: Int {
        var fields: HPACKHeaders = [":method": method.rawValue, ":scheme": "https", ":path": uri]
        fields.add(contentsOf: HPACKHeaders(httpHeaders: headers))
        // Without a table, so that a field is never shorter because it was sent before.
        var encoder = HPACKEncoder(allocator: .init(), maxDynamicTableSize: 0)
        var bytes = ByteBuffer()
        // It does not throw: it is not encoding something else.
        try? encoder.encode(headers: fields, to: &bytes)
        // With a table, a name may need another byte, and a change of the table's size a few.
        return bytes.readableBytes + fields.count + 20
    }
}

#endif
