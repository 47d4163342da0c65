import FlyingFox
import FlyingSocks
import Foundation

/// A server on a free loopback port that gives one large file and takes others.
///
/// It sends slowly, so that one sees the progress, and it breaks off the first download in the middle.
///
/// This file does not import URLConfig, whose HTTPTypes have requests and responses with the same names.
final class Store: Sendable {
    static let size = 24_000_000
    private static let version = "\"v1\""
    private let downloads = Counter()

    /// Serves while `body` runs.
    static func run(_ body: @Sendable (_ host: String) async throws -> Void) async throws {
        let store = Store()
        let server = try HTTPServer(
            address: .inet(ip4: "127.0.0.1", port: 0), logger: .disabled,
            handler: ClosureHTTPHandler { try await store.response(to: $0) })
        // The end of this function cancels the server, which closes its port.
        async let _: Void = server.run()
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(let address, let port) = await server.listeningAddress else {
            throw SocketError.unsupportedAddress
        }
        try await body("http://\(address):\(port)")
    }

    private func response(to request: HTTPRequest) async throws -> HTTPResponse {
        switch (request.method, request.path) {
        case (.GET, "/film"):
            let isFirst = await downloads.increment() == 1
            let start = Self.start(request)
            let piece = Film(position: start, breaksOff: isFirst)
            var headers: HTTPHeaders = [.contentType: "video/mp4"]
            headers[.init("ETag")] = Self.version
            guard start > 0 else {
                return HTTPResponse(
                    statusCode: .ok, headers: headers, body: HTTPBodySequence(from: piece, count: Self.size))
            }
            headers[.init("Content-Range")] = "bytes \(start)-\(Self.size - 1)/\(Self.size)"
            return HTTPResponse(
                statusCode: .partialContent, headers: headers,
                body: HTTPBodySequence(from: piece, count: Self.size - start))
        case (.POST, "/films"):
            var count = 0
            for try await piece in request.bodySequence {
                count += piece.count
                try await Task.sleep(for: .milliseconds(1))
            }
            return HTTPResponse(
                statusCode: .created, headers: [.contentType: "application/json"],
                body: Data(#"{"size": \#(count)}"#.utf8))
        default:
            return HTTPResponse(statusCode: .notFound)
        }
    }

    /// Where the body begins: a range counts only for the same version (RFC 9110 §13.1.5).
    private static func start(_ request: HTTPRequest) -> Int {
        guard request.headers[.init("If-Range")] == version, let range = request.headers[.init("Range")],
            let start = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }), start < size
        else { return 0 }
        return start
    }
}

/// The bytes of the file as a body that is sent piece by piece.
private struct Film: AsyncBufferedSequence {
    typealias Element = UInt8

    let position: Int
    let breaksOff: Bool

    func makeAsyncIterator() -> Iterator { Iterator(position: position, breaksOff: breaksOff) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var position: Int
        let breaksOff: Bool

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            if breaksOff, position > Store.size / 2 { throw SocketError.disconnected }
            let length = Swift.min(200_000, Store.size - position)
            guard length > 0 else { return nil }
            try await Task.sleep(for: .milliseconds(10))
            defer { position += length }
            return (position..<position + length).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        }

        /// FlyingFox reads bodies only with the function above.
        mutating func next() async throws -> UInt8? { throw SocketError.disconnected }
    }
}

private actor Counter {
    private var count = 0

    func increment() -> Int {
        count += 1
        return count
    }
}
