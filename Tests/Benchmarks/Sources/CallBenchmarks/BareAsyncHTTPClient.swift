import AsyncHTTPClient
import NIOCore
import NIOFoundationCompat
import URLConfig

/// As AsyncHTTPClient's documentation does it, on a client with the settings that ours has, but nothing added to it.
struct BareAsyncHTTPClient: Way {
    static let name = "bare AsyncHTTPClient"

    /// Never shut down, as ours.
    private static let client = {
        let session = URLSessionConfiguration.ephemeral
        let silence = TimeAmount.seconds(Int64(session.timeoutIntervalForRequest))
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: silence, read: silence, write: silence),
            decompression: .enabled(limit: .none))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            session.httpMaximumConnectionsPerHost
        return HTTPClient(configuration: configuration)
    }()
    private let decoder = JSONDecoder()

    func data(for request: URLRequest) async throws -> Data {
        try await Data(buffer: body(for: request))
    }

    func article(for request: URLRequest) async throws -> Article {
        try await decoder.decode(Article.self, from: body(for: request))
    }

    private func body(for request: URLRequest) async throws -> ByteBuffer {
        try await response(to: request).body.collect(upTo: .max)
    }

    func response(to request: URLRequest) async throws -> HTTPClientResponse {
        guard let url = request.url?.absoluteString else { throw URLError(.badURL) }
        let response = try await Self.client.execute(HTTPClientRequest(url: url), deadline: .distantFuture)
        guard response.status == .ok else { throw URLError(.badServerResponse) }
        return response
    }
}
