import FlyingFox
import FlyingSocks
import Foundation

/// A copy of the API on a free loopback port: three breeds, two on each page.
///
/// This file does not import URLConfig, whose HTTPTypes have requests and responses with the same names.
enum LocalAPI {
    private static let pageSize = 2

    /// Serves while `body` runs.
    static func run(_ body: @Sendable (_ host: String) async throws -> Void) async throws {
        let server = try HTTPServer(
            address: .inet(ip4: "127.0.0.1", port: 0), logger: .disabled,
            handler: ClosureHTTPHandler { response(to: $0) })
        // The end of this function cancels the server, which closes its port.
        async let _: Void = server.run()
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(let address, let port) = await server.listeningAddress else {
            throw SocketError.unsupportedAddress
        }
        try await body("http://\(address):\(port)")
    }

    private static func response(to request: HTTPRequest) -> HTTPResponse {
        guard request.method == .GET else { return error(.methodNotAllowed) }
        let segments = request.path.split(separator: "/")
        switch segments.count {
        case 3 where request.path == "/api/v2/breeds":
            return page(Int(request.query["page[number]"] ?? "1") ?? 1)
        case 3 where request.path == "/api/v2/facts":
            let facts = facts.prefix(Int(request.query["limit"] ?? "5") ?? 5)
            return document("[\(facts.joined(separator: ","))]")
        case 4 where request.path.hasPrefix("/api/v2/breeds/"):
            return breeds.first { $0.contains(#""id": "\#(segments[3])""#) }.map { document($0) } ?? error(.notFound)
        default:
            return error(.notFound)
        }
    }

    private static func page(_ number: Int) -> HTTPResponse {
        let last = (breeds.count + pageSize - 1) / pageSize
        guard (1...last).contains(number) else { return document("[]") }
        let content = breeds.dropFirst((number - 1) * pageSize).prefix(pageSize)
        var links = [("self", "/api/v2/breeds"), ("current", "/api/v2/breeds?page[number]=\(number)")]
        if number < last {
            links += [("next", number + 1), ("last", last)].map { ($0, "/api/v2/breeds?page[number]=\($1)") }
        }
        return document(
            "[\(content.joined(separator: ","))]",
            links: links.map { #""\#($0)": "https://dogapi.dog\#($1)""# }.joined(separator: ","))
    }

    private static func document(_ data: String, links: String = #""self": "https://dogapi.dog""#) -> HTTPResponse {
        json(#"{"data": \#(data), "links": {\#(links)}}"#, .ok)
    }

    private static func error(_ status: HTTPStatusCode) -> HTTPResponse {
        json(#"{"errors": [{"status": "\#(status.code)", "title": "\#(status.phrase)"}]}"#, status)
    }

    private static func json(_ text: String, _ status: HTTPStatusCode) -> HTTPResponse {
        HTTPResponse(statusCode: status, headers: [.contentType: "application/json"], body: Data(text.utf8))
    }
}
