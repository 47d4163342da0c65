import URLConfig

/// The server of one test and its session, without a log by default.
protocol TestServer: Sendable {
    /// For example `http://127.0.0.1:8080`.
    var host: String { get }
    var session: URLSession { get }
}

extension TestServer {
    /// The preset for the server's host.
    var config: URLRequest.Config { .init(host: host) }

    /// A request for the server: GET by default.
    func request(
        _ path: URLRequest.Path? = nil, _ configure: (inout URLRequest.Config) -> Void = { _ in }
    ) -> URLRequest {
        .with(config) {
            if let path { $0.path = path }
            configure(&$0)
        }
    }

    /// Sends GET with the server's session.
    @discardableResult
    func get(
        _ path: URLRequest.Path? = nil, config: URLSession.Config = .silent,
        isolation: isolated (any Actor)? = #isolation, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await response(for: request(path), config: config, configure)
    }

    /// Sends a request with the server's session.
    @discardableResult
    func response(
        for request: URLRequest, config: URLSession.Config = .silent,
        isolation: isolated (any Actor)? = #isolation, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await session.response(for: request, config: config, configure)
    }
}

extension URLSession.Config {
    /// The default without a logger, so that expected failures are not printed.
    static var silent: Self {
        TransportOfTests.use
        return Self().with { $0.logger = nil }
    }
}

extension URLSessionConfiguration {
    /// An ephemeral configuration with a long time limit: on a slow machine, one of ten thousand requests waits for
    /// more than the minute that is the default.
    static var ofTests: URLSessionConfiguration {
        let configuration = ephemeral
        configuration.timeoutIntervalForRequest = 600
        return configuration
    }
}
