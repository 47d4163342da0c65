import Testing
import URLConfig

/// Header fields: lists, duplicates (RFC 9110 §5.3, §5.6.1), the session's fields, credentials and idempotency keys.
@Suite struct HTTPFieldsTests {
    private func request(_ configure: (inout HTTPFields) -> Void) -> URLRequest {
        URLRequest.with(.init(host: "https://h.example")) { configure(&$0.headers) }
    }

    @Test func `a list is one combined field in place of the old one, and nil or an empty list removes it`() {
        var fields: HTTPFields = [.accept: "a/b", .acceptLanguage: "de"]
        fields[.acceptLanguage] = ["en-US", "zh-Hans-CN"]
        let text = fields[.acceptLanguage]
        let list: [String]? = fields[.acceptLanguage]
        let absent: [String]? = fields[.userAgent]
        #expect(text == "en-US, zh-Hans-CN" && list == ["en-US", "zh-Hans-CN"] && absent == nil)
        let sent = request { $0 = fields }.allHTTPHeaderFields
        #expect(sent == ["Accept": "a/b", "Accept-Language": "en-US, zh-Hans-CN"])
        fields[.acceptLanguage] = [] as [String]
        fields[.accept] = nil as [String]?
        #expect(fields.isEmpty)
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
        // To remove another field that cannot be there does not take the mistake back.
        let other = config.with { $0.headers["X Other"] = nil }
        #expect(other.refusal.says(.invalidRequest, "name is not a token"))
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
        let evil = request { $0[.accept] = "a\(character)\r\nX-Evil: 1" }
        #expect(evil.allHTTPHeaderFields == ["Accept": "a   X-Evil: 1"])
    }

    /// The names that are not refused are as long as those that are.
    @Test(arguments: [
        ("Content-Length", true), ("content-length", true), ("Transfer-Encoding", true), ("TRANSFER-ENCODING", true),
        ("Host", true), ("hOST", true), ("Hose", false), ("Content-Lengtx", false), ("Transfer-Encodinx", false),
    ])
    func `fields that only the session may set are refused`(name: String, isRefused: Bool) {
        let config = URLRequest.Config(host: "https://h.example") { $0.headers[name] = "7" }
        #expect(config.refusal.says(.invalidRequest, name, "remove") == isRefused)
        #expect(isRefused || URLRequest.with(config).field(name) == "7")
    }

    // Credentials.

    private func config(_ authorization: Authorization) -> URLRequest.Config {
        .init(host: "https://h.example") { $0.authorization = authorization }
    }

    @Test(
        arguments: [
            (.bearer("mF_9.B5f-4.1JqM"), "Bearer mF_9.B5f-4.1JqM"),  // RFC 6750 §2.1
            (.bearer("aA0-._~+/=="), "Bearer aA0-._~+/=="),
            // RFC 7617 §2, §2.1
            (.basic(username: "Aladdin", password: "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            (.basic(username: "test", password: "123\u{A3}"), "Basic dGVzdDoxMjPCow=="),
            (.basic(username: "u", password: "a:b:c"), "Basic dTphOmI6Yw=="),
            (.basic(username: "", password: ""), "Basic Og=="), (.basic(username: "u", password: ""), "Basic dTo="),
        ] as [(Authorization, String)])
    func `a token is sent as it is, user name and password as Base64`(authorization: Authorization, expected: String) {
        #expect(URLRequest.with(config(authorization)).field("Authorization") == expected)
    }

    @Test(arguments: [
        "", " ", "s3cret\n", "s3cret\r\nX-Evil: 1", "s3 cret", "\ts3cret", "s3cret\u{0}", "s3cr\u{E9}t", "s3cret\u{7F}",
    ])
    func `a token that no field can contain is refused, and so is a user name with a colon`(token: String) {
        let refusals = [
            config(.bearer(token)).refusal, config(.basic(username: "\(token):s3cret", password: "s3cret")).refusal,
        ]
        for (error, word) in zip(refusals, ["token", "colon"]) {
            #expect(error.says(.invalidRequest, word) && error?.reason.hasPrefix("authorization: ") == true)
            #expect(error?.description.contains("s3c") == false)
        }
    }

    @Test(arguments: ["s3cret\n", "\ts3cret", "s3\u{0}cret", "s3cret\u{7F}"])
    func `a user name or a password with a control character is refused`(text: String) {
        for (name, password) in [(text, "s3cret"), ("s3cret", text)] {
            let error = config(.basic(username: name, password: password)).refusal
            #expect(error.says(.invalidRequest, "control character"))
            #expect(error?.description.contains("s3") == false)
        }
    }

    @Test func `an app's own credentials set any field and see fields of the body; their error is inside`() {
        let key = config(Authorization { $0["X-Api-Key"] = "k" })
        #expect(URLRequest.with(key).allHTTPHeaderFields == ["X-Api-Key": "k"])
        let signed = URLRequest.with(config(Authorization { $0[.authorization] = $0[.contentType] })) {
            ($0.method, $0.body) = (.post, .text("x"))
        }
        #expect(signed.field("Authorization") == "text/plain; charset=utf-8")
        let error = config(Authorization { _ in throw Unavailable() }).refusal
        #expect(error?.code == .invalidRequest && error?.underlyingError is Unavailable)
    }

    private struct Unavailable: Error {}

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
        // Without a closure, too, what is set last wins.
        var later = preset.with { $0.headers[.authorization] = "Basic older" }
        later.authorization = .bearer("last")
        #expect(URLRequest.with(later).allHTTPHeaderFields == ["Authorization": "Bearer last"])
        // It says nothing of the other one.
        var pair = Self.payments.with { $0.authorization = .bearer("old") }.with {
            ($0.headers[.authorization], $0.headers["Idempotency-Key"]) = ("Basic own", "own")
        }
        pair.idempotencyKey = "last"
        #expect(URLRequest.with(pair).allHTTPHeaderFields == ["Authorization": "Basic own", "Idempotency-Key": "last"])
        pair.authorization = .bearer("last")
        #expect(URLRequest.with(pair).field("Authorization") == "Bearer last")
    }

    @Test(arguments: [nil, URL(string: "https://a.example/b"), URL(string: "https://b.example/")])
    func `the last of the property and the field wins, however often they are set`(url: URL?) {
        var config = Self.payments.with {
            if let url { $0.url = url }
            ($0.authorization, $0.idempotencyKey) = (.bearer("a"), "a")
            ($0.headers[.authorization], $0.headers["Idempotency-Key"]) = ("Basic a", "field a")
        }
        func sent() -> [String?] {
            let request = URLRequest.with(config)
            return [request.field("Authorization"), request.field("Idempotency-Key")]
        }
        #expect(sent() == ["Bearer a", "a"])
        config = config.with { ($0.headers[.authorization], $0.headers["Idempotency-Key"]) = ("Basic b", "field b") }
        #expect(sent() == ["Basic b", "field b"])
        config.authorization = .bearer("c")
        #expect(sent() == ["Bearer c", "field b"])
        config.idempotencyKey = "c"
        #expect(sent() == ["Bearer c", "c"])
        config = config.with { $0.headers[.accept] = "a/b" }
        #expect(sent() == ["Bearer c", "c"])
        config = config.with { $0.headers["Idempotency-Key"] = "field d" }
        #expect(sent() == ["Bearer c", "field d"])
        config = config.with { ($0.idempotencyKey, $0.headers[.authorization]) = ("e", "Basic e") }
        #expect(sent() == ["Basic e", "e"])
    }

    @Test func `a field that a later closure removes takes nothing of the preset with it`() {
        let preset = Self.payments.with { $0.authorization = .bearer("token") }
        let own = preset.with {
            ($0.headers[.authorization], $0.headers[.contentType]) = ("Basic own", "text/own")
            $0.headers["Idempotency-Key"] = "own"
        }
        let request = URLRequest.with(own) {
            ($0.headers[.authorization], $0.headers[.contentType], $0.headers["Idempotency-Key"]) = (nil, nil, nil)
            $0.body["a"] = 1
        }
        #expect(request.field("Authorization") == "Bearer token")
        #expect(request.field("Content-Type") == "application/json")
        #expect(request.field("Idempotency-Key").flatMap { UUID(uuidString: $0) } != nil)
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

    @Test(arguments: ["", "\n", " \t\r\n", "\u{0}"])
    func `a key that is empty, or is it without white space, is refused`(key: String) {
        let config = Self.payments.with { $0.idempotencyKey = IdempotencyKey(key) }
        #expect(config.refusal.says(.invalidRequest, "idempotencyKey is empty"))
    }

    @Test(arguments: [nil, Authorization.bearer("token")])
    func `a field of a closure wins over the key of a preset`(authorization: Authorization?) {
        let preset = Self.payments.with { $0.authorization = authorization }
        let request = URLRequest.with(preset) { $0.headers[HTTPField.Name("Idempotency-Key")!] = "own" }
        #expect(request.field("Idempotency-Key") == "own")
        #expect(request.field("Authorization") == authorization.map { _ in "Bearer token" })
        // The closure that is nearest to the request decides, and in one closure the property.
        let field = HTTPField.Name("Idempotency-Key")!
        let own = preset.with { $0.headers[field] = "own" }
        #expect(URLRequest.with(own) { $0.idempotencyKey = "nearer" }.field("Idempotency-Key") == "nearer")
        let both = URLRequest.with(preset) { ($0.idempotencyKey, $0.headers[field]) = ("property", "field") }
        #expect(both.field("Idempotency-Key") == "property")
        var later = own
        later.authorization = .bearer("other")
        #expect(URLRequest.with(later).field("Idempotency-Key") == "own")
        later.idempotencyKey = "last"
        #expect(URLRequest.with(later).field("Idempotency-Key") == "last")
        let elsewhere = URLRequest.with(preset) {
            $0.url = URL(string: "https://b.example/")
            $0.headers[field] = "own"
        }
        #expect(elsewhere.field("Idempotency-Key") == "own")
        var dumped = ""
        dump(preset.with { $0.headers[field] = "own-key" }, to: &dumped)
        #expect(dumped.contains("own-key"))
    }

    @Test func `a key of the caller's own is sent as it is`() {
        let order = 7
        let request = URLRequest.with(Self.payments) { $0.idempotencyKey = "order-\(order)" }
        #expect(request.field("Idempotency-Key") == "order-7")
        #expect(URLRequest.with(Self.payments) { $0.idempotencyKey = nil }.field("Idempotency-Key") == nil)
    }
}
