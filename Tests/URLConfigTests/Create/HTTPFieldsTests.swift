import Foundation
import Testing
import URLConfig

/// Header fields: lists, duplicates (RFC 9110 §5.3, §5.6.1), the session's fields, credentials and idempotency keys.
@Suite struct HTTPFieldsTests {
    private func request(_ configure: (inout HTTPFields) -> Void) -> URLRequest {
        URLRequest.with(.init(host: "https://h.example")) { configure(&$0.headers) }
    }

    @Test func `a list sets one combined field`() {
        let request = request { $0[.acceptLanguage] = ["en-US", "zh-Hans-CN"] }
        #expect(request.allHTTPHeaderFields == ["Accept-Language": "en-US, zh-Hans-CN"])
    }

    @Test func `a field may be named by its text`() {
        let request = request {
            $0["X-Tenant"] = "main"
            $0["accept"] = "a/b"
            $0["Accept-Language"] = "de"
            $0["accept-language"] = nil
            #expect($0["x-tenant"] == "main" && $0["X Tenant"] == nil)
        }
        #expect(request.allHTTPHeaderFields == ["X-Tenant": "main", "accept": "a/b"])
        let config = URLRequest.Config(host: "https://h.example") { $0.headers["X Tenant"] = "main" }
        #expect(config.refusal.says(.invalidRequest, "name is not a token"))
    }

    @Test func `a list replaces what was there, and nil or an empty list removes it`() {
        var fields: HTTPFields = [.accept: "a/b", .acceptLanguage: "de"]
        fields[.acceptLanguage] = ["en", "fr"]
        #expect(fields[values: .acceptLanguage] == ["en", "fr"])
        fields[.acceptLanguage] = [] as [String]
        fields[.accept] = nil as [String]?
        #expect(fields.isEmpty)
    }

    @Test(arguments: [1, 8, 64, 65, 200])
    func `fields of one name become one, under the name that comes first`(count: Int) throws {
        let names = try ["X-A", "x-b", "x-a", "X-B", "Cookie"].map { try #require(HTTPField.Name($0)) }
        var expected: [String: [String]] = [:]
        let request = request { fields in
            for index in 0..<count {
                let name = names[index % names.count]
                fields.append(HTTPField(name: name, value: "\(index)"))
                expected[["X-A", "x-b", "X-A", "x-b", "Cookie"][index % names.count], default: []].append("\(index)")
            }
        }
        let fields = Dictionary(
            uniqueKeysWithValues: expected.map { ($0, $1.joined(separator: $0 == "Cookie" ? "; " : ", ")) })
        #expect(request.allHTTPHeaderFields == fields)
    }

    @Test(arguments: ["\u{0}", "\u{1}", "\u{8}", "\u{A}", "\u{B}", "\u{C}", "\u{D}", "\u{1B}", "\u{1F}", "\u{7F}"])
    func `a control character in a value becomes a space, except for a tab`(character: String) {
        #expect(request { $0[.accept] = "a\(character)b" }.allHTTPHeaderFields == ["Accept": "a b"])
        #expect(request { $0[.accept] = "a\tb" }.allHTTPHeaderFields == ["Accept": "a\tb"])
    }

    @Test func `reading returns the combined text, or a list if one is wanted`() {
        var fields = HTTPFields()
        fields[.accept] = ["a/b", "c/d"]
        let text = fields[.accept]
        let list: [String]? = fields[.accept]
        let absent: [String]? = fields[.acceptLanguage]
        #expect(text == "a/b, c/d")
        #expect(list == ["a/b", "c/d"])
        #expect(absent == nil)
    }

    @Test func `cookies are combined as cookies are`() {
        let request = request {
            $0[.cookie] = ["a=1", "b=2"]
            $0.append(HTTPField(name: .cookie, value: "c=3"))
        }
        #expect(request.field("Cookie") == "a=1; b=2; c=3")
    }

    @Test func `a line break in a value does not start another field`() {
        let request = request { $0[.accept] = "a/b\r\nX-Evil: 1" }
        #expect(request.allHTTPHeaderFields?.keys.sorted() == ["Accept"])
        #expect(request.field("Accept")?.utf8.contains { $0 == 13 || $0 == 10 } == false)
    }

    @Test(arguments: ["Content-Length", "content-length", "Transfer-Encoding", "TRANSFER-ENCODING", "Host", "hOST"])
    func `fields that only the session may set are refused`(name: String) throws {
        let name = try #require(HTTPField.Name(name))
        let config = URLRequest.Config(host: "https://h.example") { $0.headers[name] = "7" }
        #expect(config.refusal.says(.invalidRequest, name.rawName, "remove"))
    }

    @Test(arguments: ["Hose", "Content-Lengtx", "Transfer-Encodinx"])
    func `fields whose names are as long as those are not refused`(text: String) throws {
        let name = try #require(HTTPField.Name(text))
        #expect(request { $0[name] = "7" }.field(text) == "7")
    }

    // Credentials.

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
    func `a token that no field can contain is refused`(token: String) {
        let error = config(.bearer(token)).refusal
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.hasPrefix("authorization: ") == true)
        #expect(error?.description.contains("s3c") == false)
    }

    @Test func `a user name with a colon is refused`() {
        let error = config(.basic(username: "u:s3cret", password: "s3cret")).refusal
        #expect(error.says(.invalidRequest, "colon"))
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func `an app's own credentials set the field of their choice`() throws {
        let name = try #require(HTTPField.Name("X-Api-Key"))
        let request = URLRequest.with(config(Authorization { $0[name] = "k" })) { _ in }
        #expect(request.allHTTPHeaderFields == ["X-Api-Key": "k"])
    }

    private struct Unavailable: Error {}

    @Test func `the error of an app's own credentials is the underlying error`() {
        let error = config(Authorization { _ in throw Unavailable() }).refusal
        #expect(error?.code == .invalidRequest)
        #expect(error?.underlyingError is Unavailable)
    }

    @Test func `what the call sets wins, and in one closure the credentials win`() {
        let preset = config(.bearer("old"))
        let request = URLRequest.with(preset) { $0.headers[.authorization] = "Basic new" }
        #expect(request.allHTTPHeaderFields == ["Authorization": "Basic new"])
        let other = URLRequest.with(preset) { $0.headers[.accept] = "a/b" }
        #expect(other.allHTTPHeaderFields == ["Authorization": "Bearer old", "Accept": "a/b"])
        let both = URLRequest.with(preset.with { $0.headers[.authorization] = "Basic older" }) {
            $0.authorization = .bearer("new")
            $0.headers[.authorization] = "Basic new"
        }
        #expect(both.allHTTPHeaderFields == ["Authorization": "Bearer new"])
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

    // Idempotency keys.

    private static let payments = URLRequest.Config(host: "https://a.example") {
        $0.method = .post
        $0.idempotencyKey = .automatic
    }

    @Test func `an automatic key is new for each request, and the same in all copies of it`() throws {
        let (first, second) = (URLRequest.with(Self.payments) { _ in }, URLRequest.with(Self.payments) { _ in })
        let key = try #require(first.field("Idempotency-Key"))
        #expect(UUID(uuidString: key) != nil)
        #expect(second.field("Idempotency-Key") != key)
        var copy = first
        copy.setValue("b", forHTTPHeaderField: "X-A")
        #expect(copy.field("idempotency-key") == key)
    }

    @Test func `a key of the caller's own is sent as it is`() {
        let order = 7
        let request = URLRequest.with(Self.payments) { $0.idempotencyKey = "order-\(order)" }
        #expect(request.field("Idempotency-Key") == "order-7")
        #expect(URLRequest.with(Self.payments) { $0.idempotencyKey = nil }.field("Idempotency-Key") == nil)
    }

    @Test func `an empty key is refused`() {
        let error = Self.payments.with { $0.idempotencyKey = "" }.refusal
        #expect(error.says(.invalidRequest, "idempotencyKey"))
    }
}
