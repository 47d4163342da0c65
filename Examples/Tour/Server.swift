import FlyingFox
import FlyingSocks
import Foundation

/// A small API on a free loopback port that remembers what it received.
///
/// This file does not import URLConfig, whose HTTPTypes have requests and responses with the same names.
actor Server {
    struct Received: Sendable {
        let method: String
        /// Path and query, percent-encoded as they were sent.
        let target: String
        let fields: [String: String]
        let body: String

        /// Method, target and credentials.
        var summary: String { "\(method) \(target) \(fields["authorization"] ?? "without credentials")" }
    }

    private(set) var received: [Received] = []

    /// Serves while `body` runs.
    static func run<Result: Sendable>(
        _ body: @Sendable (_ server: Server, _ host: String) async throws -> Result
    ) async throws -> Result {
        let api = Server()
        let server = try HTTPServer(
            address: .inet(ip4: "127.0.0.1", port: 0), logger: .disabled,
            handler: ClosureHTTPHandler { try await api.response(to: $0) })
        // The end of this function cancels the server, which closes its port.
        async let _: Void = server.run()
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(let address, let port) = await server.listeningAddress else {
            throw SocketError.unsupportedAddress
        }
        return try await body(api, "http://\(address):\(port)")
    }

    func forget() {
        received = []
    }

    private func response(to request: HTTPRequest) async throws -> HTTPResponse {
        let body = try await request.bodyData
        let fields = request.headers.map { ($0.key.rawValue.lowercased(), $0.value) }
        received.append(
            Received(
                method: request.method.rawValue, target: request.target.rawValue,
                fields: Dictionary(fields) { "\($0), \($1)" }, body: String(decoding: body, as: UTF8.self)))
        switch (request.method.rawValue, request.target.path()) {
        case ("GET", "/v2/articles"):
            return .json(#"{"page": 2, "articles": [{"id": 3, "title": "Foxes"}, {"id": 4, "title": "Owls"}]}"#)
        case ("POST", "/v2/articles"):
            return .json(#"{"id": 5, "title": "some-title"}"#, .created)
        case ("GET", "/v2/articles/3/statistics"):
            return .json(#"{"view_count": 12, "last_viewed": "2026-01-31T12:00:00Z"}"#)
        case ("GET", "/v2/news"):
            var response = HTTPResponse.json(#"{"title": "Foxes"}"#)
            response.headers[HTTPHeader("Cache-Control")] = "max-age=60"
            return response
        case ("POST", "/v2/token"):
            let token = body.contains("good-refresh") ? "fresh-token" : "worthless-token"
            return .json(#"{"access_token": "\#(token)"}"#)
        case ("GET", "/v2/me") where request.headers[.authorization] == "Bearer fresh-token":
            return .json(#"{"name": "Ada"}"#)
        case ("GET", "/v2/me"):
            return .json(#"{"message": "this token is not valid"}"#, .forbidden)
        case ("POST", "/v2/orders"):
            // Busy twice. The first response says when to try again.
            guard received.count < 3 else { return .json(#"{"id": 7}"#, .created) }
            let fields: [HTTPHeader: String] = received.count == 1 ? [.init("Retry-After"): "1"] : [:]
            return HTTPResponse(statusCode: .serviceUnavailable, headers: HTTPHeaders(fields), body: Data())
        case ("POST", "/v2/moved"):
            let port = request.headers[.host]?.split(separator: ":").last ?? ""
            let target = "http://localhost:\(port)/v2/articles"
            return HTTPResponse(statusCode: .temporaryRedirect, headers: HTTPHeaders([.location: target]), body: Data())
        case ("GET", "/v2/slow"):
            try await Task.sleep(for: .seconds(60))
            return .json("{}")
        default:
            return .json(#"{"message": "there is nothing here"}"#, .notFound)
        }
    }
}

extension HTTPResponse {
    fileprivate static func json(_ text: String, _ status: HTTPStatusCode = .ok) -> Self {
        Self(statusCode: status, headers: [.contentType: "application/json"], body: Data(text.utf8))
    }
}

extension Data {
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
