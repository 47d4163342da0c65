import FlyingFox
import Testing

@testable import URLConfig

/// Requests that URLConfig did not build, or that were changed later.
@Suite struct HandMadeRequestTests {
    /// The error of `response(for:)` for a request, without a network.
    private func refusal(of request: URLRequest) async -> RequestError? {
        await #expect(throws: RequestError.self) {
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

    @Test(arguments: [
        "ftp://127.0.0.1:1/", "file:///etc/hosts", "data:,hi", "mailto:a@b.c", "/relative", "http:///path",
        "http://:8124/", "http://127.0.0.1:65536/", "http://a%0Ab/",
    ])
    func `only http URLs with a host are sent`(url: String) async throws {
        let error = await refusal(of: try request { $0.url = URL(string: url) })
        #expect(error?.code == .invalidURL)
    }

    @Test func `no URL, a body for GET, and framing by hand are refused`() async throws {
        #expect(await refusal(of: try request { $0.url = nil })?.code == .invalidURL)
        #expect(await refusal(of: try request { $0.httpBody = Data("a".utf8) })?.code == .invalidRequest)
        for name in ["Content-Length", "transfer-encoding"] {
            let framed = try request {
                $0.httpMethod = "POST"
                $0.httpBody = Data("hello".utf8)
                $0.setValue("2", forHTTPHeaderField: name)
            }
            #expect(await refusal(of: framed)?.code == .invalidRequest)
        }
    }

    @Test func `line breaks reach no request line and no field`() async throws {
        #expect(await refusal(of: try request { $0.httpMethod = "GET\r\nX-Evil: 2" })?.code == .invalidRequest)
        let named = try request { $0.allHTTPHeaderFields = ["X-A: 1\r\nX-Injected": "evil"] }
        #expect(await refusal(of: named)?.code == .invalidRequest)
        let split = try request { $0.allHTTPHeaderFields = ["Authorization": "Bearer t\r\nX-Evil: 1"] }
        #expect(await refusal(of: split)?.code == .invalidRequest)
    }

    @Test(arguments: ["Host", "host", "HOST"])
    func `the host is that of the URL`(name: String) async throws {
        let error = await refusal(of: try request { $0.setValue("evil.example", forHTTPHeaderField: name) })
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.lowercased() == "header field host is set by the session, from url and body; remove it")
    }

    @Test(arguments: ["a\u{0}", "\u{1}", "a\rb", "a\nb", "\u{8}", "\u{B}b", "\u{1B}[0m", "\u{1F}", "\u{7F}"])
    func `a control character in a field is refused, and not shown`(value: String) async throws {
        let error = await refusal(of: try request { $0.allHTTPHeaderFields = ["X-A": "s3cret" + value] })
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason == "header field X-A contains a control character; remove it")
    }

    @Test(arguments: ["", "x", "+5", "-1", "0x5", "5.0", "5 ", "5, 5", "1e3", "\u{665}", "9223372036854775808"])
    func `a length that is no number of bytes is refused`(length: String) async throws {
        let streamed = try request {
            $0.httpMethod = "POST"
            $0.httpBodyStream = InputStream(data: Data("hello".utf8))
            $0.setValue(length, forHTTPHeaderField: "content-length")
        }
        let error = await refusal(of: streamed)
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.contains("is not a number of bytes") == true)
    }

    @Test(arguments: ["0", "5", "005", "9223372036854775807"])
    func `a length in digits is not refused`(length: String) throws {
        let streamed = try request {
            $0.httpMethod = "POST"
            $0.httpBodyStream = InputStream(data: Data("hello".utf8))
            $0.setValue(length, forHTTPHeaderField: "Content-Length")
        }
        try streamed.checkSendable()
    }

    @Test(arguments: ["GET", "HEAD", "TRACE"])
    func `a stream has no place where a body has none`(method: String) async throws {
        let streamed = try request {
            $0.httpMethod = method
            $0.httpBodyStream = InputStream(data: Data("hello".utf8))
        }
        let error = await refusal(of: streamed)
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.contains(method) == true)
    }

    @Test func `a request has a body or a stream, not both`() throws {
        var request = try request { $0.httpBody = Data("a".utf8) }
        request.httpBodyStream = InputStream(data: Data("b".utf8))
        #expect(request.httpBody == nil)
        request.httpBody = Data("a".utf8)
        #expect(request.httpBodyStream == nil)
    }

    #if canImport(FoundationNetworking)
    @Test(.urlSessionOnly, arguments: ["http://[::1]:1/", "https://[2001:db8::7]/a", "HTTP://[::ffff:127.0.0.1]:1"])
    func `an IPv6 address is refused, since Foundation on Linux would say no more than that the URL is bad`(
        url: String
    ) async throws {
        let error = await refusal(of: try request { $0.url = URL(string: url) })
        #expect(error?.code == .invalidURL)
        #expect(error?.reason.contains("IPv6 address") == true)
        let stock = await #expect(throws: URLError.self) {
            _ = try await URLSession.shared.data(from: try #require(URL(string: url.lowercased())))
        }
        #expect(stock?.code == .badURL)
    }
    #endif

    @Test func `what an authenticator makes of a request is looked at too`() async throws {
        struct Spoiling: Authenticator {
            func authorize(_ request: inout URLRequest) async throws { request.httpBody = Data("a".utf8) }
        }
        let request = URLRequest.with(.init(host: "http://127.0.0.1:1"))
        let error = await #expect(throws: RequestError.self) {
            try await URLSession.shared.response(for: request, config: .silent) {
                $0.authenticator = Spoiling()
            }
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: [TimeInterval.infinity, -.infinity, .nan, 1e300, 0, -1])
    func `a time limit without sense neither traps nor fires`(limit: TimeInterval) async throws {
        try await Loopback.serving { _ in
            .json("{}")
        } _: { server in
            var request = server.request()
            request.timeoutInterval = limit
            let response = try await server.response(for: request)
            #expect(response.isSuccess)
        }
    }

    @Test func `a stream is not sent twice, when it is empty, and nobody is signed out`() async throws {
        let authenticator = CountingAuthenticator()
        let journal = Journal()
        try await Loopback.serving { request in
            await journal.note(String(decoding: try await request.bodyData, as: UTF8.self))
            return .status(.unauthorized)
        } _: { server in
            var request = server.request { $0.method = .post }
            request.httpBodyStream = InputStream(data: Data("streamed".utf8))
            let stream = request
            let error = await #expect(throws: RequestError.self) {
                try await server.response(for: stream) {
                    $0.authenticator = authenticator
                    $0.onUnauthorized = { _ in Issue.record("there are new credentials") }
                }
            }
            #expect(error?.code == .unauthorized)
        }
        #expect(await journal.entries == ["streamed"])
        #expect(authenticator.refused == 1)
    }

    @Test func `a refusal survives what a caller does to its URL`() async throws {
        var request = URLRequest.with(.init(host: "https://h")) { $0.path = "/../x" }
        let reason = request.refusal?.reason
        request.url?.append(path: "more")
        #expect(await refusal(of: request)?.code == .invalidURL)
        #expect(request.refusal?.reason == reason)
    }
}
