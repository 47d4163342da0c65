import FlyingFox

@testable import URLConfig

/// Two servers with two origins, which redirect, link to the next page and respond as the query of a request says, and
/// record the requests.
struct Origins: Sendable {
    /// A request as it arrived.
    struct Seen: Sendable {
        let origin: String
        let method: String
        let target: String
        let fields: HTTPHeaders
        let body: String

        /// For example `b PUT content`.
        var summary: String { [origin, method, body].filter { !$0.isEmpty }.joined(separator: " ") }

        func field(_ name: String) -> String? { fields[HTTPHeader(name)] }
    }

    let a: Loopback
    let b: Loopback
    private let recorder = Recorder<Seen>()

    /// The requests to both servers, in order.
    var seen: [Seen] { recorder.entries }

    /// Serves as long as this value is kept, for example by a suite.
    init() async throws {
        a = try await Loopback { [recorder] in try await Self.response("a", $0, recorder) }
        b = try await Loopback { [recorder] in try await Self.response("b", $0, recorder) }
    }

    /// Serves while `body` runs.
    @discardableResult
    static func serving<Value>(_ body: (Origins) async throws -> Value) async throws -> Value {
        let origins = try await Origins()
        defer { withExtendedLifetime(origins) {} }
        return try await body(origins)
    }

    private static func response(
        _ origin: String, _ request: Loopback.Request, _ seen: Recorder<Seen>
    ) async throws -> Loopback.Response {
        let body = String(decoding: try await request.bodyData, as: UTF8.self)
        seen.note(
            Seen(
                origin: origin, method: request.method.rawValue, target: request.target.rawValue,
                fields: request.headers, body: body))
        var fields = HTTPHeaders([.contentType: "text/plain"])
        fields[.location] = request.query["to"]
        fields[.init("Link")] = request.query["next"].map { "<\($0)>; rel=next" }
        let status = request.query["status"].flatMap { Int($0) } ?? 200
        // The server would send a body even in a response to HEAD.
        let text = request.method == .HEAD ? "" : "\(status) of \(origin)"
        return .init(statusCode: .init(status, phrase: "Some"), headers: fields, body: Data(text.utf8))
    }
}

extension Loopback {
    /// A URL here that redirects to another one.
    func hop(to location: String, _ status: Int = 302) -> String {
        "\(host)/hop?status=\(status)&to=\(location.percentEncoded(.unreserved))"
    }

    /// A URL here of a page with a link to the next page.
    func page(_ status: Int = 200, next target: String) -> String {
        "\(host)/page?status=\(status)&next=\(target.percentEncoded(.unreserved))"
    }

    /// A request for a URL here that redirects to another one.
    func request(
        to location: String, _ status: Int = 302, _ configure: (inout URLRequest.Config) -> Void = { _ in }
    ) -> URLRequest {
        URLRequest.with(.init(host: hop(to: location, status)), configure)
    }
}
