import FlyingFox
import Testing
import URLConfigTesting

@testable import URLConfig

/// Requests that URLConfig did not build, or that were changed later.
@Suite(.inTime) struct HandMadeRequestTests {
    /// The error of `response(for:)` for a request that is not sent, although there is a fallback.
    @discardableResult
    private func expectRefusal(
        _ code: RequestError.Code = .invalidRequest, sourceLocation: SourceLocation = #_sourceLocation,
        of change: (inout URLRequest) -> Void
    ) async throws -> RequestError? {
        let request = try request(change)
        return await expectError(code, sourceLocation: sourceLocation) {
            try await URLSession.shared.response(for: request, config: .silent) {
                $0.fallback = { _, request in DataResponse(request: request) }
            }
        }
    }

    private func request(_ change: (inout URLRequest) -> Void) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        change(&request)
        return request
    }

    private static func stream(_ text: String = "hello") -> InputStream { InputStream(data: Data(text.utf8)) }

    @Test(arguments: [
        "ftp://127.0.0.1:1/", "file:///etc/hosts", "data:,hi", "mailto:a@b.c", "/relative", "http:///path",
        "http://:8124/", "http://127.0.0.1:65536/", "http://a%0Ab/", nil,
    ])
    func `only http URLs with a host are sent`(url: String?) async throws {
        try await expectRefusal(.invalidURL) { $0.url = url.flatMap { URL(string: $0) } }
    }

    /// A method, fields and a body that cannot be sent, and a part of the reason.
    static let refusals: [(method: String, fields: [String: String], body: String?, reason: String)] =
        [
            ("GET", [:], "a", "GET"), ("POST", ["Content-Length": "2"], "hello", "Content-Length"),
            ("POST", ["transfer-encoding": "2"], "hello", "transfer-encoding"),
            ("GET\r\nX-Evil: 2", [:], nil, "method"), ("GET", ["X-A: 1\r\nX-Injected": "evil"], nil, "header field"),
            ("GET", ["Authorization": "Bearer t\r\nX-Evil: 1"], nil, "contains a control character; remove it"),
        ]
        + ["Host", "host", "HOST"].map {
            ("GET", [$0: "evil.example"], nil, "header field \($0) is set by the session, from url and body; remove it")
        }
        + ["a\u{0}", "\u{1}", "a\rb", "a\nb", "\u{8}", "\u{B}b", "\u{1B}[0m", "\u{1F}", "\u{7F}"].map {
            ("GET", ["X-A": "s3cret" + $0], nil, "header field X-A contains a control character; remove it")
        }

    @Test(arguments: refusals.indices)
    func `a value that would change the framing or another field is refused, and not shown`(index: Int) async throws {
        let (method, fields, body, reason) = Self.refusals[index]
        let error = try await expectRefusal {
            $0.httpMethod = method
            $0.allHTTPHeaderFields = fields
            $0.httpBody = body.map { Data($0.utf8) }
        }
        #expect(error?.reason.localizedCaseInsensitiveContains(reason) == true, "\(error?.reason ?? "")")
        #expect(error?.reason.contains("s3cret") == false)
    }

    @Test(
        arguments: ["", "x", "+5", "-1", "0x5", "5.0", "5 ", "5, 5", "1e3", "\u{665}", "9223372036854775808"]
            .map { ($0, false) } + ["0", "5", "005", "9223372036854775807"].map { ($0, true) })
    func `only digits are a length`(length: String, isValid: Bool) async throws {
        let change: (inout URLRequest) -> Void = {
            $0.httpMethod = "POST"
            $0.httpBodyStream = Self.stream()
            $0.setValue(length, forHTTPHeaderField: "content-length")
        }
        if isValid { return try request(change).checkSendable() }
        let error = try await expectRefusal(of: change)
        #expect(error?.reason.contains("is not a number of bytes") == true)
    }

    @Test(arguments: ["GET", "HEAD", "TRACE"])
    func `a stream is refused for a method that has no body`(method: String) async throws {
        let error = try await expectRefusal {
            $0.httpMethod = method
            $0.httpBodyStream = Self.stream()
        }
        #expect(error?.reason.contains(method) == true)
    }

    @Test func `a request has a body or a stream, not both`() throws {
        var request = try request { $0.httpBody = Data("a".utf8) }
        request.httpBodyStream = Self.stream()
        #expect(request.httpBody == nil)
        request.httpBody = Data("a".utf8)
        #expect(request.httpBodyStream == nil)
    }

    #if canImport(FoundationNetworking)
    @Test(.urlSessionOnly, arguments: ["http://[::1]:1/", "https://[2001:db8::7]/a", "HTTP://[::ffff:127.0.0.1]:1"])
    func `an IPv6 address is refused, because Foundation on Linux cannot send it`(url: String) async throws {
        let error = try await expectRefusal(.invalidURL) { $0.url = URL(string: url) }
        #expect(error?.reason.contains("IPv6 address") == true)
        await expectError(.badURL) {
            try await URLSession.shared.data(from: try #require(URL(string: url.lowercased())))
        }
    }
    #endif

    @Test func `a request that an authenticator has changed is also checked`() async throws {
        let spoiling = TestAuthenticator { $0.httpBody = Data("a".utf8) }
        await expectError(.invalidRequest) { try await stubs.get { $0.authenticator = spoiling } }
    }

    @Test(arguments: [.infinity, -.infinity, .nan, 1e300, .greatestFiniteMagnitude, 0, -1] as [TimeInterval])
    func `an invalid time limit neither traps nor expires`(limit: TimeInterval) async throws {
        try await Loopback.serving(.json("{}")) { server in
            var request = server.request()
            request.timeoutInterval = limit
            try await server.response(for: request).validated()
        }
    }

    @Test(.stubs { $0.post("/", .status(.unauthorized)) })
    func `a stream is not sent twice, when it is empty, and nobody is signed out`() async throws {
        let authenticator = CountingAuthenticator()
        let request = stubs.request {
            $0.method = .post
            $0.modify = { $0.httpBodyStream = Self.stream("streamed") }
        }
        await expectError(.unauthorized) {
            try await stubs.response(for: request) {
                $0.authenticator = authenticator
                $0.onUnauthorized = { _ in Issue.record("there are new credentials") }
            }
        }
        #expect(HTTPStubs.bodies == ["streamed"])
        #expect(authenticator.refused == 1)
    }

    @Test func `a refusal is kept when a caller changes its URL`() async throws {
        let refused = URLRequest.with(.init(host: "https://h")) { $0.path = "/../x" }
        let error = try await expectRefusal(.invalidURL) {
            $0 = refused
            $0.url?.append(path: "more")
        }
        #expect(error?.reason == refused.refusal?.reason)
    }
}
