import Foundation
import Testing

@testable import URLConfig

/// The request that follows a redirect, without a network.
@Suite struct RedirectPolicyTests {
    /// A redirect from one URL to another.
    struct Move: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let from: String
        let to: String
        let isForeign: Bool
    }

    /// A header field of the request.
    struct Field: Sendable, CustomTestStringConvertible {
        let name: String
        var isCredential = false
        var describesBody = false
        var testDescription: String { name }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let move: Move
        let field: Field
        var testDescription: String { "\(field.name), \(move.testDescription)" }
    }

    static let statuses = [301, 302, 303, 307, 308]

    private static func move(_ what: String, _ from: String, _ to: String, isForeign: Bool) -> Move {
        Move(testDescription: what, from: from, to: to, isForeign: isForeign)
    }

    static let moves = [
        move("nowhere else", "https://a.example/x", "https://a.example/x", isForeign: false),
        move("another path", "https://a.example/x", "https://a.example/y?z", isForeign: false),
        move("case", "https://a.example/x", "HTTPS://A.Example/x", isForeign: false),
        move("the port written out", "https://a.example/x", "https://a.example:443/x", isForeign: false),
        move("the port left out", "http://a.example:80/x", "http://a.example/x", isForeign: false),
        move("another host", "https://a.example/x", "https://b.example/x", isForeign: true),
        move("a host below", "https://a.example/x", "https://x.a.example/x", isForeign: true),
        move("a host above", "https://x.a.example/x", "https://a.example/x", isForeign: true),
        move("another port", "https://a.example/x", "https://a.example:8443/x", isForeign: true),
        move("the other scheme's port", "https://a.example/x", "https://a.example:80/x", isForeign: true),
        move("up to https", "http://a.example/x", "https://a.example/x", isForeign: true),
        move("up to https, same port", "http://a.example:8080/x", "https://a.example:8080/x", isForeign: true),
        move("down to http", "https://a.example/x", "http://a.example/x", isForeign: true),
    ]

    static let fields = [
        Field(name: "Authorization", isCredential: true), Field(name: "Cookie", isCredential: true),
        Field(name: "Proxy-Authorization", isCredential: true), Field(name: "X-Api-Key", isCredential: true),
        Field(name: "X-Tenant", isCredential: true), Field(name: "Host", isCredential: true),
        Field(name: "Content-Type", describesBody: true), Field(name: "Accept"), Field(name: "Idempotency-Key"),
    ]

    static let cases = moves.flatMap { move in fields.map { Case(move: move, field: $0) } }

    @Test(arguments: statuses, cases)
    func `credentials stay with their origin, and what describes a body stays with the body`(
        status: Int, row: Case
    ) throws {
        let (move, field) = (row.move, row.field)
        var request = URLRequest(url: try #require(URL(string: move.from)))
        request.httpMethod = "PUT"
        request.httpBody = Data("{}".utf8)
        request.setValue("some", forHTTPHeaderField: field.name)
        let next = try #require(
            try request.redirected(by: request.answered(status, move.to), .standard.adding("x-tenant")))
        let stays = !(field.isCredential && move.isForeign) && !(field.describesBody && status == 303)
        #expect(next.field(field.name) == (stays ? "some" : nil))
    }

    @Test(arguments: [Redaction.none, .standard])
    func `whatever a redaction shows, credentials stay with their origin`(redaction: Redaction) throws {
        var request = URLRequest(url: try #require(URL(string: "https://a.example")))
        request.allHTTPHeaderFields = ["authorization": "a", "X-API-KEY": "b", "proxy-Authorization": "c", "hOST": "d"]
        let next = try request.redirected(by: request.answered(307, "https://b.example"), redaction)
        #expect(next?.allHTTPHeaderFields?.isEmpty == true)
    }

    @Test(arguments: statuses, ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
    func `303 asks with GET, as do 301 and 302 after POST; all else is sent again`(status: Int, method: String) throws {
        let asksAnew = status == 303 || status <= 302 && method == "POST"
        var request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        request.httpMethod = method
        request.allHTTPHeaderFields = [
            "Content-Type": "text/plain", "Content-Encoding": "br", "Content-Language": "en", "content-location": "/y",
            "Digest": "sha=1", "Last-Modified": "now", "Accept": "text/html", "Prefer": "wait=1",
        ]
        if !["GET", "HEAD"].contains(method) { request.httpBody = Data("content".utf8) }
        request.timeoutInterval = 7
        let next = try #require(try request.redirected(by: request.answered(status, "/y"), .standard))
        #expect(next.urlText == "https://a.example/y")
        #expect(next.timeoutInterval == 7)
        #expect(next.httpMethod == (method == "HEAD" ? "HEAD" : asksAnew ? "GET" : method))
        if asksAnew && method != "HEAD" {
            #expect(next.httpBody == nil)
            #expect(next.allHTTPHeaderFields == ["Accept": "text/html", "Prefer": "wait=1"])
        } else {
            #expect(next.httpBody == request.httpBody)
            #expect(next.allHTTPHeaderFields == request.allHTTPHeaderFields)
        }
    }

    @Test(arguments: statuses)
    func `a stream goes where a body goes`(status: Int) throws {
        var request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("content".utf8))
        let next = try #require(try request.redirected(by: request.answered(status, "/y"), .standard))
        #expect((next.httpBodyStream == nil) == (status <= 303))
    }

    @Test(arguments: [100, 200, 201, 300, 304, 305, 306, 309, 399, 401, 500])
    func `other statuses are no redirects, whatever their Location`(status: Int) throws {
        let request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        #expect(try request.redirected(by: request.answered(status, "/y"), .standard) == nil)
    }

    @Test(arguments: statuses, [nil, ""] as [String?])
    func `a redirect without Location, or with an empty one, is an answer`(status: Int, location: String?) throws {
        let request = URLRequest(url: try #require(URL(string: "https://a.example/x")))
        #expect(try request.redirected(by: request.answered(status, location), .standard) == nil)
    }
}

extension URLRequest {
    /// A response to this request.
    func answered(_ status: Int, _ location: String? = nil) -> DataResponse {
        var fields = HTTPFields()
        fields[.location] = location
        return DataResponse(
            request: self, status: .init(integerLiteral: status), headerFields: fields, data: Data("moved".utf8))
    }
}
