#if AsyncHTTPClient && Telemetry && os(Linux)

import Hummingbird
import URLConfig

/// The two services that this one calls.
struct Upstreams: Sendable {
    private let articles: URLRequest.Config
    private let authors: URLRequest.Config
    private let articlesConfig: URLSession.Config

    init(_ hosts: StandIns.Hosts) {
        articles = URLRequest.Config(host: hosts.articles)
        authors = URLRequest.Config(host: hosts.authors)
        let tokens = articles.with {
            $0.path = "/token"
            $0.method = .post
            $0.idempotencyKey = .automatic
        }
        // One for the whole service: one token, and one refresh, however many requests are refused at once. Its
        // requests have no ID, because they belong to no single request of a caller.
        let authenticator = TokenAuthenticator(hosts: [hosts.articles]) {
            try await Grant.granted(tokens)
        } refresh: { _ in
            try await Grant.granted(tokens)
        }
        articlesConfig = .upstream.with { $0.authenticator = authenticator }
    }

    /// The article with this number; `nil` if there is none.
    func article(_ id: Int, for context: ServiceContext) async throws -> Article? {
        try await value(articles.with { $0.path = "/articles/\(id)" }, "/articles/{id}", articlesConfig, context)
    }

    /// The author with this number; `nil` if there is none.
    func author(_ id: Int, for context: ServiceContext) async throws -> Author? {
        try await value(authors.with { $0.path = "/authors/\(id)" }, "/authors/{id}", .upstream, context)
    }

    /// Sends a request with the ID, the log and the time that is left of the request to this service.
    private func value<Model: Decodable & Sendable>(
        _ preset: URLRequest.Config, _ route: String, _ config: URLSession.Config, _ context: ServiceContext,
        line: UInt = #line
    ) async throws -> Model? {
        let request = TypedRequest<Model?>.with(preset, route: route, reader: .json.or(nil, for: .notFound)) {
            $0.headers[.requestID] = context.id
        }
        return try await URLSession.service.value(for: request, config: config, line: line) {
            $0.logger = context.logger
            $0.deadline = context.end - .now
        }
    }
}

extension URLSession {
    /// A session with more connections for each host than the six of ``URLSession/shared``.
    ///
    /// The server transport does not use its cookie storage, `HTTPCookieStorage.shared`, which all users of the service
    /// would share.
    static let service = {
        let configuration = URLSessionConfiguration.default
        configuration.httpMaximumConnectionsPerHost = 50
        return URLSession(configuration: configuration)
    }()
}

extension URLSession.Config {
    /// The preset of both services.
    fileprivate static let upstream = Self().with {
        $0.retry = .standard
        $0.responseLimit = 1_000_000
    }
}

/// The response of the token endpoint.
private struct Grant: Decodable, Sendable {
    let token: String
    let lifetime: Double

    static func granted(_ config: URLRequest.Config) async throws -> TokenAuthenticator.Token {
        let response = try await URLSession.shared.response(for: .with(config), config: .upstream)
        let grant: Self = try response.validated().decode()
        return .init(grant.token, expiry: Date(timeIntervalSinceNow: grant.lifetime))
    }
}

struct Article: Codable, Sendable {
    let id: Int
    let title: String
    let author: Int
}

struct Author: Codable, Sendable {
    let name: String
}

#endif
