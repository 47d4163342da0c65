import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// Promises that hold for one feature, together with another one.
@Suite(.inTime) struct CombinationTests {
    private let request = URLRequest.with { $0.url = URL(string: "https://api.test/a") }
    private let post = URLRequest.with { ($0.method, $0.url) = (.post, URL(string: "https://api.test/a")) }
    private let secret = "hunter2secret99"

    /// The body in two pieces.
    private func body(_ text: String) -> ResponseBody {
        let (head, tail) = (Data(text.utf8.prefix(2)), Data(text.utf8.dropFirst(2)))
        return ResponseBody(
            AsyncStream { pieces in
                for piece in [head, tail] { pieces.yield(piece) }
                pieces.finish()
            })
    }

    private func config(
        _ respond: @escaping @Sendable (Transport.Request) async throws -> Transport.Response
    ) -> URLSession.Config {
        URLSession.Config.silent.with { $0.transport = Transport(respond) }
    }

    @Test func `the secrets of a streamed upload are hidden where the server repeats them`() async throws {
        let directory = TemporaryDirectory()
        let file = try directory.file("a.json", Data(#"{"password": "\#(secret)"}"#.utf8))
        let large = try directory.file("a.bin", Data(count: 3 << 20))
        var form = MultipartForm()
        form.append("film", file: large)
        form.append("password", secret)
        let config = config { [body, secret] _ in
            .init(status: .badRequest, headerFields: [.contentType: "text/plain"], body: body("you sent \(secret)"))
        }
        for source in [UploadSource.file(file), .multipart(form)] {
            let response = try await URLSession.shared.upload(source, for: post, config: config)
            #expect(try response.text().contains(secret))
            #expect(!response.bodyString.contains(secret))
            let error = #expect(throws: RequestError.self) { try response.validated() }
            #expect(error.map { "\($0)" }?.contains(secret) == false)
        }
    }

    @Test func `what the app's transport adds is hidden, too`() async throws {
        let inner = Transport { [body, secret] _ in .init(status: .badRequest, body: body("no \(secret)")) }
        let config = config { [secret] sending in
            var sending = sending
            sending.urlRequest.setValue(secret, forHTTPHeaderField: "X-Api-Key")
            return try await inner.send(sending)
        }
        let response = try await URLSession.shared.response(for: request, config: config)
        #expect(!response.bodyString.contains(secret))
    }

    @Test func `a refusal has its content in streams and downloads, although the authenticator was asked`() async throws
    {
        let config = config { [body] _ in .init(status: .unauthorized, body: body("refused")) }
            // A busy machine may need longer than the second that the content may take.
            .with { ($0.authenticator, $0.clock) = (CountingAuthenticator(renews: false), TestClock()) }
        let target = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        let calls: [() async throws -> Void] = [
            { _ = try await URLSession.shared.stream(for: request, config: config) },
            { _ = try await URLSession.shared.download(for: request, to: target, config: config) },
            { for try await _ in URLSession.shared.events(for: request, config: config) {} },
        ]
        for call in calls {
            let error = await expectError(.unauthorized) { try await call() }
            #expect(error?.response?.data == Data("refused".utf8))
        }
    }

    @Test func `a refusal whose content does not end holds up the renewal for a second at most`() async throws {
        let authenticator = CountingAuthenticator()
        let config = config { sending in
            guard sending.urlRequest.field("Authorization") == "1" else { return .init() }
            return .init(status: .unauthorized, body: ResponseBody(AsyncStream { _ in }))
        }.with { $0.authenticator = authenticator }
        let response = try await URLSession.shared.stream(for: request, config: config)
        #expect(response.head.status == .ok)
    }

    @Test func `a redirect policy cannot give the body of an upload to a method that has none`() async throws {
        let sent = Recorder<String>()
        let config = config { sending in
            if sent.note(sending.urlRequest.httpMethod ?? "") > 1 { return .init() }
            return .init(status: .temporaryRedirect, headerFields: [.location: "/b"])
        }.with {
            $0.redirects = RedirectPolicy { _, next in
                var next = next
                next.httpMethod = "GET"
                return next
            }
        }
        await expectError(.refusedRedirect) {
            try await URLSession.shared.upload(.data(Data("secret".utf8)), for: post, config: config)
        }
        #expect(sent.entries == ["POST"])
    }

    @Test func `an error in a stream's line, and one of a long body, have request, response and attempts`() async throws
    {
        let config = config { [body] _ in .init(body: body("1\n2\nx\n")) }
        let failed = Recorder<String>()
        let response = try await URLSession.shared.stream(for: request, config: config) {
            $0.events = { if case .failed = $0.kind { failed.note("\($0)") } }
        }
        let line = await #expect(throws: RequestError.self) {
            for try await _ in response.values(of: Int.self) {}
        }
        let stream = try await URLSession.shared.stream(for: request, config: config)
        let long = await #expect(throws: RequestError.self) { try await stream.collect(upTo: 3) }
        #expect(long?.response?.data.count == 3)
        let limited = try await URLSession.shared.stream(for: request, config: config) { $0.responseLimit = 3 }
        let overLimit = await #expect(throws: RequestError.self) { try await limited.collect(upTo: 100) }
        #expect(overLimit?.response?.data.count == 3)
        for error in [line, long, overLimit] {
            #expect(error?.request?.url == request.url)
            #expect(error?.response?.status == .ok)
            #expect(error?.attempts.count == 1)
        }
        try await waitUntil("the event") { failed.count == 1 }
    }

    @Test func `a response that a validator has made has the attempts of its call`() async throws {
        let config = config { _ in .init() }.with {
            $0.validators = [ResponseValidator { $0 = DataResponse(request: $0.request, status: .accepted) }]
        }
        let response = try await URLSession.shared.response(for: request, config: config)
        #expect(response.status == .accepted)
        #expect(response.attempts.map(\.status) == [.ok])
    }

    @Test(arguments: [ResponseValidator.contentType(.eventStream), .status([.ok])])
    func `events end with 204, whatever the validators want`(_ validator: ResponseValidator) async throws {
        let config = config { _ in .init(status: .noContent) }.with { $0.validators = [validator] }
        for try await _ in URLSession.shared.events(for: request, config: config) { Issue.record("no event was sent") }
    }

    @Test func `events of a request that cannot be sent again begin and end`() async throws {
        let seen = Recorder<String>()
        let config = config { _ in .init() }.with {
            $0.events = { event in
                switch event.kind {
                case .began: seen.note("began")
                case .failed: seen.note("failed")
                case .ended: seen.note("ended")
                default: seen.note("other")
                }
            }
        }
        await expectError(.invalidRequest) {
            for try await _ in URLSession.shared.events(for: post, config: config) {}
        }
        try await waitUntil("the events") { seen.count == 3 }
        #expect(Set(seen.entries) == ["began", "failed", "ended"])
    }

    @Test func `the response of a fallback is read once as a stream, up to the limit`() async throws {
        let request = request
        let config = config { _ in throw URLError(.notConnectedToInternet) }.with {
            $0.fallback = { _, request in DataResponse(request: request, status: .ok, data: Data("stored".utf8)) }
        }
        let response = try await URLSession.shared.stream(for: request, config: config)
        #expect(response.head.data.isEmpty)
        #expect(try await response.collect(upTo: 100).text() == "stored")
        await expectError(.invalidResponse) { try await response.collect(upTo: 100) }
        let limited = try await URLSession.shared.stream(for: request, config: config) { $0.responseLimit = 2 }
        await expectError(.responseTooLarge) { try await limited.collect(upTo: 100) }
    }

    /// A logger that lets the time pass when a redirect is followed.
    private struct SlowLog: LogHandler {
        let clock: TestClock
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if "\(event.message)".hasPrefix("🔁") { clock.move(by: .seconds(10)) }
        }
    }

    @Test func `a deadline that passes between two attempts leaves the second one out everywhere`() async throws {
        let (clock, events, sent) = (TestClock(), Recorder<CallEvent>(), Recorder<Void>())
        let config = config { _ in
            sent.note(())
            return .init(status: .found, headerFields: [.location: "/b"])
        }
        let error = await #expect(throws: RequestError.self) {
            try await URLSession.shared.response(for: request, config: config) {
                ($0.clock, $0.deadline) = (clock, .seconds(5))
                $0.logger = Logger(label: "test") { _ in SlowLog(clock: clock) }
                $0.events = { events.note($0) }
            }
        }
        #expect(error?.code == .deadlineExceeded)
        #expect(error?.attempts.count == 1 && sent.count == 1)
        try await waitUntil { if case .ended = events.entries.last?.kind { true } else { false } }
        #expect(events.entries.map(\.attempt).max() == 1)
    }

    @Test(.stubs { $0.get("/a").optional() })
    func `stubs do not send a request for a stored response only, as no transport does`() async throws {
        var request = request
        request.cachePolicy = .returnCacheDataDontLoad
        await expectError(.resourceUnavailable) {
            try await URLSession.shared.response(for: request, config: .silent)
        }
        #expect(HTTPStubs.requests.isEmpty)
    }
}
