import Testing

@testable import URLConfig

/// Presets and the native fields.
@Suite(.inTime) struct URLRequestConfigTests {
    private static let api = URLRequest.Config(host: "https://h.example/v2") {
        $0.headers[.accept] = "application/json"
        $0.query["k"] = 1
    }

    @Test func `a call that changes, adds or removes header fields of a preset does not change the preset`() {
        let preset = URLRequest.Config(host: "https://h.example/v2") {
            $0.headers[.accept] = "text/plain"
            $0.headers[.authorization] = "Bearer preset"
            $0.query["k"] = 1
        }
        let all = ["Accept": "text/plain", "Authorization": "Bearer preset"]
        func fields(_ change: (inout HTTPFields) -> Void) -> [String: String]? {
            URLRequest.with(preset) { change(&$0.headers) }.allHTTPHeaderFields
        }
        #expect(fields { $0[.accept] = "text/html" } == all.merging(["Accept": "text/html"]) { $1 })
        #expect(fields { $0[.userAgent] = "a" } == all.merging(["User-Agent": "a"]) { $1 })
        #expect(fields { $0[.authorization] = nil } == ["Accept": "text/plain"])
        #expect(fields { $0 = [:] } ?? [:] == [:])
        let admin = preset.with { ($0.headers[.authorization], $0.query["as"]) = (nil, "admin") }
        let request = URLRequest.with(admin) { ($0.path, $0.method) = ("a", .delete) }
        #expect(request.urlText == "https://h.example/v2/a?k=1&as=admin" && request.httpMethod == "DELETE")
        #expect(request.allHTTPHeaderFields == ["Accept": "text/plain"])
        let plain = URLRequest.with(preset)
        #expect(plain.urlText == "https://h.example/v2?k=1" && plain.httpMethod == "GET")
        #expect(plain.allHTTPHeaderFields == all)
    }

    private struct Failure: Error {}

    @Test func `the error of a closure is rethrown`() {
        #expect(throws: Failure.self) { try URLRequest.with(Self.api) { _ in throw Failure() } }
        #expect(throws: Failure.self) { _ = try Self.api.with { _ in throw Failure() } }
        #expect(throws: Failure.self) { _ = try URLRequest.Config(host: "") { _ in throw Failure() } }
    }

    @Test func `a configuration for a host sets only the host; all else is as in a new request`() throws {
        let config = URLRequest.Config(host: "https://h.example")
        #expect(config.headers.isEmpty && config.authorization == nil)
        #expect(config.method == .get && config.path == "" && config.timeout == nil && config.modify == nil)
        #expect(URLRequest.with(config) == URLRequest(url: try #require(URL(string: "https://h.example"))))
    }

    @Test func `native fields reach the request, and modify has the last word`() {
        let config = Self.api.with {
            $0.cachePolicy = .reloadIgnoringLocalCacheData
            $0.modify = { $0.allowsCellularAccess = false }
            $0.timeout = .seconds(7)
        }
        let request = URLRequest.with(config)
        #expect(request.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(!request.allowsCellularAccess && request.timeoutInterval == 7)
        let modified = URLRequest.with(config) {
            $0.modify = {
                $0.url = URL(string: "https://other.example")
                $0.httpMethod = "PROPFIND"
                $0.setValue("a/b", forHTTPHeaderField: "Accept")
                $0.httpBody = Data("x".utf8)
                $0.timeoutInterval = 3
            }
            $0.headers[.accept] = "c/d"
        }
        #expect(modified.urlText == "https://other.example" && modified.httpMethod == "PROPFIND")
        #expect(modified.field("Accept") == "a/b" && modified.bodyText == "x")
        #expect(modified.timeoutInterval == 3 && modified.allowsCellularAccess)
    }

    @Test func `equal configurations give equal requests`() {
        let make = {
            URLRequest.with(Self.api) {
                $0.method = .post
                $0.body["b"] = 1
                $0.body["a"] = ["z": 1, "y": [true, nil]]
            }
        }
        #expect((0..<50).allSatisfy { _ in make() == make() && make().httpBody == make().httpBody })
    }

    @Test func `changing the encoder changes it for one configuration only`() {
        struct Model: Encodable, Sendable { var myKey = 1 }
        let plain = URLRequest.Config(host: "https://h") { $0.method = .post }
        let snake = plain.with { $0.encoder.keyEncodingStrategy = .convertToSnakeCase }
        let pretty = snake.with { $0.encoder.outputFormatting = .prettyPrinted }
        let bodies = [plain, snake, pretty].map { preset in
            URLRequest.with(preset) { $0.bodyModel = Model() }.bodyText
        }
        #expect(bodies == [#"{"myKey":1}"#, #"{"my_key":1}"#, "{\n  \"my_key\" : 1\n}"])
    }

    // Requests that cannot be built: nothing traps, nothing is sent, and every copy has the reason.

    private static func bad(_ configure: (inout URLRequest.Config) -> Void = { _ in }) -> URLRequest.Config {
        .init(host: "https://h.example", configure)
    }

    private static let inputs: [(String, URLRequest.Config, RequestError.Code)] = [
        ("host", bad { $0.host = "" }, .invalidURL),
        ("scheme", bad { $0.host = "ftp://h.example" }, .invalidURL),
        ("hostile host", bad { $0.host = "https://\u{0}\n%zz\u{1F600}[" }, .invalidURL),
        ("path", bad { ($0.path, $0.method) = ("/a/\("..")/\u{E9} '?#&", .post) }, .invalidURL),
        ("empty value", bad { $0.path = "/a/\("")/b" }, .invalidURL),
        ("query", bad { $0.query.append(contentsOf: [[1]]) }, .invalidURL),
        ("field", bad { $0.headers[.contentLength] = "1" }, .invalidRequest),
        ("token", bad { $0.authorization = .bearer("a\nb") }, .invalidRequest),
        ("own credentials", bad { $0.authorization = Authorization { _ in throw Failure() } }, .invalidRequest),
        ("body of a GET", bad { $0.body["a"] = 1 }, .invalidRequest),
        ("number", bad { $0.body["a"] = Double.nan }, .invalidRequest),
        ("own body", bad { $0.body = RequestBody { _, _ in throw Failure() } }, .invalidRequest),
    ]

    @Test(arguments: inputs.indices)
    func `bad input gives a request that keeps the reason in every copy, and that a plain session refuses`(
        index: Int
    ) async throws {
        let (name, config, code) = Self.inputs[index]
        let thrown = try #require(config.refusal, "\(name)")
        let request = URLRequest.with(config)
        var changed = request
        changed.setValue("a/b", forHTTPHeaderField: "Accept")
        changed.httpBody = Data("x".utf8)
        for copy in [request, changed, (changed as NSURLRequest) as URLRequest] {
            let refusal = try #require(copy.refusal, "\(name)")
            #expect(thrown.code == code && refusal.code == code && copy.httpMethod == config.method.rawValue)
            #expect(refusal.reason == thrown.reason && !thrown.reason.isEmpty)
            #expect(refusal.description == thrown.description)
        }
        await expectError(.unsupportedURL) { try await URLSession.shared.data(for: request) }
    }

    @Test func `no other request has a refusal`() throws {
        #expect(URLRequest.with(.init(host: "https://h.example")) { _ in }.refusal == nil)
        let urls = ["https://h.example", "file:///a", "data:,a", "unsendable:a", "a/b"]
        for url in urls { #expect(URLRequest(url: try #require(URL(string: url))).refusal == nil) }
    }

    @Test func `a hostile reason does not break the carrying URL, which has no secret of the request`() throws {
        let name = "a?b#c&d=%zz/\u{0}\r\n\u{1F600}'\""
        let config = Self.bad {
            $0.authorization = .bearer("s3cret")
            $0.query["token"] = "s3cret"
            $0.body = .text("s3cret")
            $0.body[name] = "s3cret"
        }
        let request = URLRequest.with(config)
        let refusal = try #require(request.refusal)
        #expect(refusal.reason.contains(name) && !refusal.description.contains("\u{0}"))
        #expect(!(refusal.description + request.urlText).contains("s3cret"))
        let get = Self.bad { ($0.authorization, $0.body["password"]) = (.bearer("s3cret"), "s3cret") }
        #expect(get.refusal?.description.contains("s3cret") == false)
    }

    // Time limits of any length.

    private func seconds(_ configure: (inout URLRequest.Config) -> Void) -> TimeInterval {
        URLRequest.with(.init(host: "https://h.example"), configure).timeoutInterval
    }

    @Test(
        arguments: [
            (.seconds(30), 30), (.milliseconds(250), 0.25), (nil, 60), (.nanoseconds(1), 1e-9),
            (Duration(secondsComponent: 0, attosecondsComponent: 1), 1e-18),
        ] as [(Duration?, TimeInterval)])
    func `the request has the time limit, even one in seconds; without one it is a minute`(
        timeout: Duration?, expected: TimeInterval
    ) {
        #expect(seconds { $0.timeout = timeout } == expected)
        #expect(seconds { $0.timeoutInterval = timeout.map { _ in expected } } == expected)
    }

    private func expectRefusal(_ configure: (inout URLRequest.Config) -> Void) {
        let config = URLRequest.Config(host: "https://h.example").with(configure)
        let error = expectThrown(.invalidRequest) { try config.request() }
        #expect(error?.reason.contains("s; set more than zero") == true)
        #expect(URLRequest.with(config).url?.scheme == "unsendable-request")
    }

    @Test func `a time limit that is not a number of more than zero is refused`() {
        for timeout in [.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1)] as [Duration] {
            #expect(timeout.timeoutInterval == nil)
            expectRefusal { $0.timeout = timeout }
        }
        let seconds: [TimeInterval] = [
            0, -0.0, -1, .nan, -.infinity, -.nan, .leastNonzeroMagnitude, -.greatestFiniteMagnitude,
        ]
        for interval in seconds {
            expectRefusal { $0.timeoutInterval = interval }
            #expect(interval > 0 || Duration(timeoutInterval: interval) == nil)
        }
    }

    @Test func `a very long time limit is finite and safe for the system`() {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
        for timeout in [.seconds(Int64.max), longest] { #expect(seconds { $0.timeout = timeout } == 1e9) }
        for interval in [.infinity, .greatestFiniteMagnitude, 1e30, 1e10] as [TimeInterval] {
            #expect(seconds { $0.timeoutInterval = interval } == 1e9)
        }
    }

    @Test(arguments: [0.001, 0.5, 1, 86_400, 1e9] as [TimeInterval])
    func `each of the two fields returns what was set by the other`(seconds: TimeInterval) throws {
        let duration = try #require(Duration(timeoutInterval: seconds))
        #expect(abs((duration.timeoutInterval ?? 0) - seconds) <= seconds * 1e-12)
        var config = URLRequest.Config(host: "https://h.example")
        #expect(config.timeoutInterval == nil)
        config.timeoutInterval = seconds
        #expect(config.timeout == duration)
        config.timeout = .milliseconds(1500)
        #expect(config.timeoutInterval == 1.5)
        config.timeoutInterval = .nan
        #expect(config.timeout == .zero)
        config.timeout = .seconds(Int64.max)
        #expect(config.timeoutInterval?.isFinite == true)
    }
}
