import Testing
import URLConfig

@testable import URLConfigTesting

struct User: Codable, Equatable, Sendable {
    var id: Int
    var name: String
}

/// The code under test, which knows nothing of tests.
struct UserRepository {
    func user(_ id: Int) async throws -> User {
        try await URLSession.shared.response(for: .with(.api) { $0.path = "/users/\(id)" }).validated().decode()
    }

    /// An explicit `config:`, which wins over every preset.
    func create(_ name: String) async throws -> User {
        let request = URLRequest.with(.api) {
            ($0.method, $0.path, $0.idempotencyKey) = (.post, "/users", .automatic)
            $0.body["name"] = name
        }
        let config = URLSession.Config().with { $0.retry = .standard }
        return try await URLSession.shared.response(for: request, config: config).validated().decode()
    }
}

extension URLRequest.Config {
    static let api = Self(host: "https://api.example.com/v2")
}

let user = User(id: 3, name: "Ada")

/// Sends a request to a path of the API.
@discardableResult
func send(
    _ path: String = "/users/1", line: UInt = #line, _ configure: (inout URLSession.Config) -> Void = { _ in }
) async throws -> DataResponse {
    try await send(path, line: line, request: { _ in }, configure)
}

@discardableResult
func send(
    _ path: String = "/users/1", session: URLSession = .shared, line: UInt = #line,
    request configure: (inout URLRequest.Config) throws -> Void,
    _ execute: (inout URLSession.Config) -> Void = { _ in }
) async throws -> DataResponse {
    let request = try URLRequest.Config.api.with {
        $0.url = URL(string: "https://api.example.com/v2" + path)
        try configure(&$0)
    }.request()
    return try await session.response(for: request, line: line) {
        $0.logger = nil
        execute(&$0)
    }
}

/// Runs an operation that records one issue, and returns its text and line.
func issue(
    _ operation: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> (text: String, line: Int) {
    let found = Locked<[Issue]>([])
    try await withKnownIssue(isIntermittent: true, sourceLocation: sourceLocation) {
        try await operation()
    } matching: { issue in
        found.withLock { $0.append(issue) }
        return true
    }
    let all = found.withLock { $0 }
    #expect(all.count == 1, sourceLocation: sourceLocation)
    return (all.first?.comments.map(\.rawValue).joined() ?? "", all.first?.sourceLocation?.line ?? 0)
}

/// The issue of a call that the routes refuse, as its text and line.
func refusal(
    _ routes: (inout HTTPStubs.Routes) -> Void, of call: () async throws -> DataResponse = { try await send() }
) async throws -> (text: String, line: Int) {
    try await issue {
        try await HTTPStubs.with(routes) { _ = await #expect(throws: RequestError.self) { try await call() } }
    }
}
