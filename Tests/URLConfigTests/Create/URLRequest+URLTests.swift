import Testing
import URLConfigTesting

@testable import URLConfig

/// A request for an absolute URL that a server gave.
@Suite(.inTime) struct URLRequestURLTests {
    private static let api = URLRequest.Config(host: "https://api.example.com/v2?k=1") {
        $0.path = "/users"
        $0.query["page"] = 1
        $0.headers[.accept] = "application/json"
        $0.headers[.cookie] = "a=b"
        $0.headers[HTTPField.Name("X-Api-Key")!] = "s3cret"
        $0.authorization = .bearer("abc")
        $0.timeout = .seconds(7)
        $0.idempotencyKey = "1"
    }

    private func request(_ text: String, _ preset: URLRequest.Config = api) throws -> URLRequest {
        let url = try #require(URL(string: text))
        return URLRequest.with(preset) { $0.url = url }
    }

    @Test(arguments: [
        "https://api.example.com/v2/users?page=2&k=%5Ba%5D#x", "https://api.example.com/other/../a%2e//?",
        "https://API.Example.COM/a", "https://api.example.com:443/a", "https://api.example.com",
    ])
    func `a URL of the host's origin is requested as it is, with credentials`(text: String) throws {
        let request = try request(text)
        #expect(request.urlText == text)
        let fields = [
            "Authorization": "Bearer abc", "Cookie": "a=b", "X-Api-Key": "s3cret", "Accept": "application/json",
            "Idempotency-Key": "1",
        ]
        #expect(request.allHTTPHeaderFields == fields)
        #expect(request.timeoutInterval == 7)
    }

    @Test(arguments: [
        "https://api.example.com:8443/a", "http://api.example.com/a", "http://api.example.com:443/a",
        "https://example.com/a", "https://api.example.com.evil.example/a", "https://storage.example/upload?sig=x",
    ])
    func `credentials are not sent to another origin`(text: String) throws {
        let request = try request(text)
        #expect(request.urlText == text)
        #expect(request.allHTTPHeaderFields == ["Accept": "application/json", "Idempotency-Key": "1"])
        #expect(request.timeoutInterval == 7)
    }

    @Test(arguments: ["", "h.example", "ftp://h.example"])
    func `credentials are not sent from a preset without a valid host`(host: String) throws {
        let request = try request("https://api.example.com/a", Self.api.with { $0.host = host })
        #expect(request.allHTTPHeaderFields == ["Accept": "application/json", "Idempotency-Key": "1"])
    }

    @Test func `a configuration that replaces another in a closure keeps its credentials to itself`() throws {
        let url = try #require(URL(string: "https://other.example/a"))
        let request = URLRequest.with {
            $0 = Self.api
            $0.url = url
        }
        #expect(request.allHTTPHeaderFields?.values.contains { $0.contains("s3cret") || $0 == "a=b" } != true)
        #expect(request.field("Authorization") == nil)
    }

    @Test func `the method stays, and a value that is added to a field of the preset leaves alone`() throws {
        let url = try #require(URL(string: "https://other.example/a"))
        let request = URLRequest.with(Self.api.with { $0.method = .put }) {
            $0.url = url
            $0.headers.append(HTTPField(name: .cookie, value: "theme=dark"))
        }
        #expect(request.httpMethod == "PUT")
        #expect(request.field("Cookie") == "theme=dark")
    }

    @Test(arguments: [["secret": "s3cret"], .form(["secret": "s3cret"]), .text("s3cret")] as [RequestBody])
    func `a body of the preset is refused at another origin`(body: RequestBody) throws {
        let preset = Self.api.with { ($0.method, $0.body) = (.post, body) }
        #expect(try request("https://api.example.com/a", preset).bodyText?.contains("s3cret") == true)
        let foreign = preset.with { $0.url = URL(string: "https://evil.example/a") }
        #expect(foreign.refusal.says(.invalidRequest, "body", "origin of url", "one closure"))
        let empty = foreign.with { $0.body = RequestBody() }
        #expect(try empty.request().httpBody == nil)
    }

    @Test func `a body that closures have set together with the URL goes with it`() throws {
        let url = try #require(URL(string: "https://upload.example/a"))
        let preset = Self.api.with { ($0.method, $0.body) = (.post, ["a": 1]) }
        let own = URLRequest.with(preset) { ($0.url, $0.body) = (url, .text("own")) }
        #expect(own.bodyText == "own" && own.field("Content-Type") == "text/plain; charset=utf-8")
        let changed = URLRequest.with(preset) {
            $0.body["b"] = 2
            $0.url = url
        }
        #expect(changed.bodyText == #"{"a":1,"b":2}"#)
        let later = preset.with { $0.url = url }.with { $0.body = .text("own") }
        #expect(URLRequest.with(later) { $0.query["x"] = 1 }.bodyText == "own")
        // Another URL is another destination.
        #expect(later.with { $0.url = URL(string: "https://evil.example") }.refusal.says(.invalidRequest, "body"))
        var direct = URLRequest.Config(host: "https://api.example.com") { ($0.method, $0.body) = (.post, ["a": 1]) }
        direct.url = url
        #expect(direct.refusal.says(.invalidRequest, "body", "one closure"))
        direct.url = URL(string: "https://api.example.com/a")
        #expect(try direct.request().bodyText == #"{"a":1}"#)
    }

    @Test func `a relative URL is resolved by its base, and the scheme may be in upper case`() throws {
        let base = URL(string: "https://api.example.com/v2/users")
        let url = try #require(URL(string: "articles?page=2", relativeTo: base))
        #expect(URLRequest.with(Self.api) { $0.url = url }.urlText == "https://api.example.com/v2/articles?page=2")
        let shouted = try request("HTTPS://api.example.com/a")
        #expect(shouted.urlText == "https://api.example.com/a")
        #expect(shouted.field("Authorization") == "Bearer abc")
    }

    @Test(arguments: [
        ("/users?page=2", "has no scheme; start it with https://"), ("ftp://h.example/a", "other than http and https"),
        ("file:///etc/passwd", "other than http"), ("https:///a", "no host"), ("data:,a", "no scheme"),
        ("https://user@h.example/a", "user name or password; remove it"),
        ("https://user:s3cret@api.example.com/a", "user name or password; remove it"),
        ("https://@h.example/a", "user name or password; remove it"),
    ])
    func `anything but an HTTP URL without user name and password is refused`(text: String, reason: String) throws {
        let url = try #require(URL(string: text))
        let error = try #require(Self.api.with { $0.url = url }.refusal)
        #expect(error.code == .invalidURL)
        #expect(error.reason.hasPrefix("url '") && error.reason.contains(reason), "\(error.reason)")
        #expect(!error.description.contains("s3cret"))
    }

    @Test func `path, query and host of the configuration are ignored, even invalid ones`() throws {
        let request = try request("https://h.example/a", .init(host: "") { $0.path = "/\("..")" })
        #expect(request.urlText == "https://h.example/a")
    }

    @Test(arguments: [("/second", "Bearer abc"), ("https://other.test/x", nil)] as [(String, String?)])
    func `a link that a server gave is followed, with credentials only at its origin`(
        target: String, credentials: String?
    ) async throws {
        let first = try await stubs.get(.text("").field(.init("Link")!, "<\(target)>; rel=\"next\""))
        let preset = stubs.config.with { $0.authorization = .bearer("abc") }
        let next = try #require(first.links["next"]?.target)
        #expect(URLRequest.with(preset) { $0.url = next }.field("Authorization") == credentials)
    }

    @Test func `neither modify nor a body sends credentials to another origin`() throws {
        let body = RequestBody { fields, _ in
            fields[HTTPField.Name("X-Admin-Key")!] = "s3cret"
            return Data("x".utf8)
        }
        let config = URLRequest.Config(host: "https://api.example.com") {
            ($0.method, $0.body) = (.post, body)
            $0.modify = { $0.setValue("Bearer s3cret", forHTTPHeaderField: "Authorization") }
        }
        let foreign = URLRequest.with(config) { ($0.url, $0.body) = (URL(string: "https://evil.example/next"), body) }
        #expect(foreign.bodyText == "x")
        #expect(foreign.allHTTPHeaderFields?.isEmpty == true, "\(foreign.allHTTPHeaderFields ?? [:])")
        let own = URLRequest.with(config) { $0.url = URL(string: "https://api.example.com/next") }
        #expect(own.allHTTPHeaderFields == ["X-Admin-Key": "s3cret", "Authorization": "Bearer s3cret"])
    }

    @Test func `the modify of a preset changes neither the URL nor the body that another origin receives`() throws {
        let preset = URLRequest.Config(host: "https://api.example.com") {
            $0.modify = {
                $0.url?.append(queryItems: [URLQueryItem(name: "sig", value: "s3cret")])
                $0.httpMethod = "PUT"
                $0.httpBody = Data("s3cret".utf8)
                $0.setValue("text/secret", forHTTPHeaderField: "Content-Type")
                $0.setValue("s3cret", forHTTPHeaderField: "X-Upload-Token")
                $0.setValue("de", forHTTPHeaderField: "Accept-Language")
                $0.timeoutInterval = 7
            }
        }
        func request(_ url: String) -> URLRequest {
            .with(preset) {
                $0.url = URL(string: url)
                ($0.method, $0.body) = (.post, .text("own"))
                $0.headers["X-Upload-Token"] = "own"
            }
        }
        let foreign = request("https://evil.example/a")
        #expect(foreign.urlText == "https://evil.example/a")
        #expect(foreign.httpMethod == "POST" && foreign.bodyText == "own" && foreign.timeoutInterval == 7)
        #expect(
            foreign.allHTTPHeaderFields == [
                "Content-Type": "text/plain; charset=utf-8", "X-Upload-Token": "own", "Accept-Language": "de",
            ])
        let home = request("https://api.example.com/a")
        #expect(home.urlText == "https://api.example.com/a?sig=s3cret" && home.bodyText == "s3cret")
        let stream = preset.with { $0.modify = { $0.httpBodyStream = InputStream(data: Data("s3cret".utf8)) } }
        let streamed = URLRequest.with(stream) { ($0.url, $0.method) = (URL(string: "https://evil.example/a"), .post) }
        #expect(streamed.httpBodyStream == nil && streamed.httpBody == nil)
    }

    @Test func `credentials that are set together with the URL go with it, the preset's do not`() throws {
        let url = try #require(URL(string: "https://upload.example/a?x=1#f"))
        let request = URLRequest.with(Self.api) {
            $0.authorization = .basic(username: "u", password: "p")
            $0.headers["X-Upload-Token"] = "own"
            $0.url = url
            $0.modify = { $0.setValue("modified", forHTTPHeaderField: "X-Other-Key") }
        }
        #expect(
            request.allHTTPHeaderFields == [
                "Accept": "application/json", "Idempotency-Key": "1", "X-Upload-Token": "own",
                "Authorization": "Basic dTpw", "X-Other-Key": "modified",
            ])
        let once = Self.api.with { ($0.url, $0.authorization) = (url, .bearer("own")) }
        #expect(try once.request().field("Authorization") == "Bearer own")
        #expect(try once.with { $0.method = .post }.request().field("Authorization") == "Bearer own")
        // Another URL is another destination.
        #expect(URLRequest.with(once) { $0.url = URL(string: "https://evil.example") }.field("Authorization") == nil)
        var direct = URLRequest.Config(host: "https://api.example.com")
        direct.authorization = .bearer("s3cret")
        var copy = direct
        copy.url = url
        #expect(try copy.request().field("Authorization") == nil)
        var keyed = direct.with { $0.headers["X-Api-Key"] = "s3cret" }
        keyed.url = url
        #expect(try keyed.request().allHTTPHeaderFields?.isEmpty != false)
    }

    @Test func `credentials that are set together with the URL are sent without a preset, too`() throws {
        let absolute = try #require(URL(string: "https://api.example.com/a?x=1"))
        let token = "abc"
        let request = URLRequest.with {
            $0.url = absolute
            $0.authorization = .bearer(token)
        }
        #expect(request.urlText == "https://api.example.com/a?x=1")
        #expect(request.field("Authorization") == "Bearer abc")
        let other = URLRequest.with { ($0.authorization, $0.url) = (.bearer(token), absolute) }
        #expect(other.field("Authorization") == "Bearer abc")
    }

    @Test func `query items that are set together with the URL are added to it`() throws {
        func text(_ url: String, _ configure: (inout URLRequest.Config) -> Void) -> String {
            URLRequest.with(Self.api) {
                $0.url = URL(string: url)
                configure(&$0)
            }.urlText
        }
        #expect(text("https://h.example/a") { $0.query["page"] = 2 } == "https://h.example/a?page=2")
        #expect(text("https://h.example/a?b=1#f") { $0.query["c"] = "x y" } == "https://h.example/a?b=1&c=x%20y#f")
        #expect(text("https://h.example/a") { $0.query["page"] = 1 } == "https://h.example/a?page=1")
        #expect(text("https://h.example/a") { $0.query.append(contentsOf: ["z": 1]) } == "https://h.example/a?z=1")
        var config = URLRequest.Config(host: "https://h.example")
        config.url = URL(string: "https://h.example/a")
        config.query["b"] = 1
        #expect(config.refusal.says(.invalidURL, "query", "one closure"))
        #expect(URLRequest.with(config).refusal.says(.invalidURL, "query", "one closure"))
        #expect(URLRequest.with(config) { $0.timeout = .seconds(1) }.refusal.says(.invalidURL, "one closure"))
        // Items that are set later are not lost in silence either.
        var later = Self.api.with { ($0.url, $0.query["page"]) = (URL(string: "https://h.example/a"), 1) }
        #expect(URLRequest.with(later).urlText == "https://h.example/a?page=1")
        later.query["page"] = 2
        #expect(later.refusal.says(.invalidURL, "one closure"))
        #expect(URLRequest.with(later).refusal.says(.invalidURL, "one closure"))
        // Both in one closure, or no items, are clear.
        let clear = URLRequest.with(config) { ($0.url, $0.query["b"]) = (URL(string: "https://h.example/a"), 2) }
        #expect(clear.urlText == "https://h.example/a?b=2")
        later.query = [:]
        #expect(try later.request().urlText == "https://h.example/a")
        #expect(URLRequest.with(later).urlText == "https://h.example/a")
    }

    private static let changes: [(String?, @Sendable (inout URLRequest.Query) -> Void)] = [
        (nil, { _ in }), ("page=1", { $0["page"] = 1 }), ("page=1", { $0.append("page", 1) }),
        ("page=1", { $0 = ["page": 1] }), ("page=1", { $0.append(contentsOf: ["page": 1] as URLRequest.Query) }),
        ("b=1", { $0["b"] = 1 }), ("page=1&b=1", { ($0["b"], $0["page"]) = (1, 1) }),
        (
            "b=1",
            {
                var copy = $0
                copy["b"] = 1
                $0 = copy
            }
        ),
    ]

    @Test(arguments: changes.indices)
    func `an item that the closure sets is added, even if the preset has it, too`(index: Int) {
        let (expected, change) = Self.changes[index]
        let presets = [Self.api, Self.api.with { _ in }, Self.api.with { $0.query = ["page": 1] }]
        for preset in presets {
            let request = URLRequest.with(preset) {
                change(&$0.query)
                $0.url = URL(string: "https://h.example/a")
            }
            #expect(request.url?.query() == expected)
        }
        let table = URLRequest.explain(Self.api) { $0.query["page"] = 1 }
        #expect(table.row("query[\"page\"]") == "1 preset")
    }

    @Test func `items that were set together with the URL are as the last closure has left them`() {
        let first = Self.api.with {
            $0.query["page"] = 1
            $0.url = URL(string: "https://h.example/a")
            $0.query["size"] = 5
        }
        func query(_ preset: URLRequest.Config, _ configure: (inout URLRequest.Config) -> Void) -> String? {
            URLRequest.with(preset, configure).url?.query()
        }
        #expect(query(first) { _ in } == "page=1&size=5")
        #expect(query(first) { $0.query["page"] = 5 } == "page=5&size=5")
        #expect(query(first) { $0.query["page"] = nil } == "size=5")
        #expect(query(first) { $0.query = [:] } == nil)
        #expect(query(first) { $0.query["sort"] = "a" } == "page=1&size=5&sort=a")
        let second = first.with { $0.query["page"] = 3 }
        #expect(query(second) { $0.query["size"] = nil } == "page=3")
        #expect(URLRequest.explain(second).row("query[\"page\"]") == "3 preset")
        // Another URL is another destination.
        #expect(query(second) { ($0.url, $0.query["b"]) = (URL(string: "https://h.example/b"), 2) } == "b=2")
    }

    @Test func `the redaction of the host's preset decides what stays`() async throws {
        let preset = URLSession.Config().with { $0.redaction = .standard.adding("X-Tenant") }
        await URLSession.Config.withHosts(["api.example.com": preset]) {
            let tenant = URLRequest.Config(host: "https://api.example.com") { $0.headers["X-Tenant"] = "s3cret" }
            let request = URLRequest.with(tenant) { $0.url = URL(string: "https://evil.example/next") }
            #expect(request.allHTTPHeaderFields?.isEmpty == true)
        }
    }

    @Test func `an international host is the same in both of its spellings`() {
        let preset = URLRequest.Config(host: "https://xn--bcher-kva.example") { $0.authorization = .bearer("t0k") }
        let request = URLRequest.with(preset) { $0.url = URL(string: "https://b\u{FC}cher.example/x") }
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer t0k")
    }

    @Test func `no URL in place of a server's is refused, and does not lead to the host`() {
        let refusal = URLRequest.with(Self.api) { ($0.url, $0.authorization) = (URL(string: ""), .bearer("t")) }.refusal
        #expect(refusal?.code == .invalidURL && refusal?.reason.hasPrefix("url was set to nil") == true)
        let other = Self.api.with { $0.url = URL(string: "https://other.example/a") }
        #expect(URLRequest.with(other) { $0.url = nil }.refusal == nil)
    }
}
