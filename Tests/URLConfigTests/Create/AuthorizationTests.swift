import Foundation
import Testing
import URLConfig

@Suite struct AuthorizationTests {
    private func config(_ authorization: Authorization) -> URLRequest.Config {
        .init(host: "https://h.example") { $0.authorization = authorization }
    }

    private func field(_ authorization: Authorization) -> String? {
        URLRequest.with(config(authorization)) { _ in }.field("Authorization")
    }

    /// The example of RFC 6750 §2.1.
    @Test func `a bearer token is sent as it is`() {
        #expect(field(.bearer("mF_9.B5f-4.1JqM")) == "Bearer mF_9.B5f-4.1JqM")
        #expect(field(.bearer("aA0-._~+/==")) == "Bearer aA0-._~+/==")
    }

    @Test(arguments: [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),  // RFC 7617 §2
        ("test", "123\u{A3}", "Basic dGVzdDoxMjPCow=="),  // RFC 7617 §2.1
        ("u", "a:b:c", "Basic dTphOmI6Yw=="), ("", "", "Basic Og=="), ("u", "", "Basic dTo="),
    ])
    func `user name and password are sent as Base64`(username: String, password: String, expected: String) {
        #expect(field(.basic(username: username, password: password)) == expected)
    }

    @Test(arguments: [
        "", " ", "s3cret\n", "s3cret\r\nX-Evil: 1", "s3 cret", "\ts3cret", "s3cret\u{0}", "s3cr\u{E9}t", "s3cret\u{7F}",
    ])
    func `a token that no field can hold is refused`(token: String) {
        let error = config(.bearer(token)).refusal
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.hasPrefix("authorization: ") == true)
        #expect(error?.description.contains("s3c") == false)
    }

    @Test func `a user name with a colon is refused`() {
        let error = config(.basic(username: "u:s3cret", password: "s3cret")).refusal
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.contains("colon") == true)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func `an app's own credentials set the field of their choice`() throws {
        let name = try #require(HTTPField.Name("X-Api-Key"))
        let request = URLRequest.with(config(Authorization { $0[name] = "k" })) { _ in }
        #expect(request.allHTTPHeaderFields == ["X-Api-Key": "k"])
    }

    private struct Locked: Error {}

    @Test func `what an app's own credentials throw is the underlying error`() {
        let error = config(Authorization { _ in throw Locked() }).refusal
        #expect(error?.code == .invalidRequest)
        #expect(error?.underlyingError is Locked)
    }

    @Test func `credentials replace what the header fields hold`() {
        let request = URLRequest.with(config(.bearer("new"))) { $0.headers[.authorization] = "Bearer old" }
        #expect(request.allHTTPHeaderFields == ["Authorization": "Bearer new"])
        #expect(URLRequest.with(config(.bearer("t"))) { $0.authorization = nil }.field("Authorization") == nil)
    }

    @Test func `credentials see the fields that the body sets`() {
        let request = URLRequest.with(.init(host: "https://h.example")) {
            $0.method = .post
            $0.body = .text("x")
            $0.authorization = Authorization { $0[.authorization] = $0[.contentType] }
        }
        #expect(request.field("Authorization") == "text/plain; charset=utf-8")
    }
}
