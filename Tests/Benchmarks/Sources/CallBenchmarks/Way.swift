import InMemoryTracing
import Metrics
import MetricsTestKit
import Tracing
import URLConfig

/// A way to make a call, with a session of its own.
protocol Way: Sendable {
    /// What the table calls it.
    static var name: String { get }
    var name: String { get }

    init()

    func data(for request: URLRequest) async throws -> Data
    func article(for request: URLRequest) async throws -> Article
}

extension Way {
    var name: String { Self.name }
}

/// The small model.
struct Article: Codable, Equatable {
    var id: Int
    var title: String
    var text: String
    var tags: [String]
    var views: Int

    /// What the server sends.
    static let expected = Self(id: 4711, title: "some-title", text: "A line of text.", tags: ["a", "b"], views: 12)
}

/// Ours: `response(for:)` on a session of the usual ephemeral configuration.
struct Ours: Way {
    static let name = "ours, no deadline"

    let name: String
    private let session = URLSession(configuration: .ephemeral)
    private let transport: Transport
    private let deadline: Duration?
    private let cache: HTTPCache?
    private let telemetry: URLSession.Config.Telemetry?

    init() {
        self.init(Self.name)
    }

    init(
        _ name: String = Self.name, transport: Transport = .urlSession, deadline: Duration? = nil,
        cache: HTTPCache? = nil, telemetry: URLSession.Config.Telemetry? = nil
    ) {
        self.name = name
        self.transport = transport
        self.deadline = deadline
        self.cache = cache
        self.telemetry = telemetry
    }

    func data(for request: URLRequest) async throws -> Data {
        try await response(for: request).data
    }

    func article(for request: URLRequest) async throws -> Article {
        let response = try await response(for: request)
        guard response.status == .ok else { throw URLError(.badServerResponse) }
        return try response.decode()
    }

    private func response(for request: URLRequest) async throws -> DataResponse {
        try await session.response(for: request) {
            $0.logger = nil
            $0.transport = transport
            $0.deadline = deadline
            $0.cache = cache
            $0.telemetry = telemetry
        }
    }
}

/// Ours with telemetry, and with backends in memory.
struct OursWithTelemetryInMemory: Way {
    static let name = "ours with telemetry in memory"

    private let way = Ours(telemetry: .openTelemetry)
    private let tracer = InMemoryTracer()
    private let metrics = TestMetrics()

    func data(for request: URLRequest) async throws -> Data { try await traced { try await way.data(for: request) } }

    func article(for request: URLRequest) async throws -> Article {
        try await traced { try await way.article(for: request) }
    }

    private func traced<Value>(_ call: () async throws -> Value) async throws -> Value {
        defer { tracer.clearFinishedSpans() }
        return try await withTracer(tracer) { try await withMetricsFactory(metrics, call) }
    }
}

/// Ours on the server transport.
struct OursOnServers: Way {
    static let name = "ours on servers"

    private let way = Ours(transport: .asyncHTTPClient)

    func data(for request: URLRequest) async throws -> Data { try await way.data(for: request) }
    func article(for request: URLRequest) async throws -> Article { try await way.article(for: request) }
}

/// As Foundation's documentation does it: `data(for:)` on a session of the same configuration.
struct ByHand: Way {
    static let name = "data(for:)"

    let name: String
    private let session: URLSession
    private let decoder = JSONDecoder()

    init() {
        self.init(Self.name, configuration: .ephemeral)
    }

    init(_ name: String, configuration: URLSessionConfiguration) {
        self.name = name
        session = URLSession(configuration: configuration)
    }

    func data(for request: URLRequest) async throws -> Data {
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse, response.statusCode == 200 else {
            throw URLError(.badServerResponse)
        }
        return data
    }

    func article(for request: URLRequest) async throws -> Article {
        try await decoder.decode(Article.self, from: data(for: request))
    }
}

extension URLSessionConfiguration {
    /// The usual ephemeral configuration but for `urlCache = nil`.
    static var ephemeralWithoutCache: URLSessionConfiguration {
        let configuration = ephemeral
        configuration.urlCache = nil
        return configuration
    }
}
