import Testing
import URLConfigTesting

@testable import URLConfig

/// Attempts, with delays by a clock that the test moves, and the attempts in errors.
@Suite(.inTime) struct RetryTests {
    /// A call with retries, by a clock of the test.
    private func call(_ clock: TestClock, firstDelay: Duration = .zero) -> Task<DataResponse, any Error> {
        Task {
            try await stubs.get {
                $0.clock = clock
                $0.retry = .atOnce()
                $0.retry.firstDelay = firstDelay
            }
        }
    }

    @Test(.stubs { $0.get("/", .status(.serviceUnavailable), .status(.tooManyRequests), .text("response 3")) })
    func `each wait is by the clock, and within its bounds`() async throws {
        let clock = TestClock()
        let call = call(clock, firstDelay: .seconds(1))
        for attempt in 1...2 {
            await clock.waitForSleepers()
            #expect(HTTPStubs.requests.count == attempt)
            clock.move(by: .seconds(attempt))
        }
        let response = try await call.valueInTime
        #expect(response.data == Data("response 3".utf8))
        #expect(response.attempts.map(\.status?.code) == [503, 429, 200])
        #expect(response.attempts.map { $0.reason?.hasPrefix("waiting ") } == [true, true, nil])
        #expect(clock.asked.count == 2)
        #expect(zip(clock.asked, 1...2).allSatisfy { $0 > .zero && $0 < .seconds($1) })
    }

    @Test(.stubs { $0.get("/", .status(.serviceUnavailable).field(.retryAfter, "3"), .status(.ok)) })
    func `Retry-After is waited for, to the second`() async throws {
        let clock = TestClock()
        let call = call(clock)
        await clock.waitForSleepers()
        clock.move(by: .milliseconds(2999))
        #expect(clock.sleepers == 1)
        clock.move(by: .milliseconds(1))
        let attempts = try await call.valueInTime.attempts.map(\.description)
        #expect(attempts == ["503 after 0 ms, waiting 3.0 s: Retry-After", "200 after 0 ms"])
        #expect(clock.asked == [.seconds(3)])
    }

    @Test(.stubs { $0.post("/", .status(.serviceUnavailable), .status(.internalServerError), .status(.ok)) })
    func `every attempt has the same key and the same body`() async throws {
        let request = stubs.request {
            $0.method = .post
            $0.idempotencyKey = .automatic
            $0.body["title"] = "some"
        }
        try await stubs.response(for: request) { $0.retry = .standard }
        #expect(HTTPStubs.fields("Idempotency-Key") == Array(repeating: request.field("Idempotency-Key"), count: 3))
        #expect(HTTPStubs.bodies == Array(repeating: #"{"title":"some"}"#, count: 3))
    }

    @Test(
        .stubs {
            let busy = HTTPStubs.Response.status(.serviceUnavailable)
            $0.get("/", busy, .status(.unauthorized), busy, .status(.ok))
        })
    func `every attempt is authorized, and refused credentials are renewed once`() async throws {
        let (authenticator, validated) = (CountingAuthenticator(), Recorder<Int>())
        let response = try await stubs.get {
            $0.authenticator = authenticator
            $0.onUnauthorized = { _ in Issue.record("the credentials were renewed") }
            $0.validators = [ResponseValidator { validated.note($0.status.code) }]
            $0.retry = .atOnce()
        }
        #expect(HTTPStubs.fields("Authorization") == ["1", "2", "3", "4"])
        #expect(response.attempts.map(\.reason) == ["waiting 0 ms", "credentials refreshed", "waiting 0 ms", nil])
        #expect(authenticator.refused == 1)
        #expect(validated.entries == [200])
    }

    @Test(.stubs { $0.any("/*", .status(.serviceUnavailable).field(.retryAfter, "3")) })
    func `the last attempt says why a failure was not retried, and the request is sent once`() async throws {
        func reasons(_ request: URLRequest, deadline: Duration? = nil) async throws -> [String?] {
            try await stubs.response(for: request) {
                $0.retry = .standard
                $0.deadline = deadline
            }.attempts.map(\.reason)
        }
        let post = stubs.request { $0.method = .post }
        #expect(try await reasons(post) == ["not retried: POST without idempotencyKey"])

        let once = "not retried: the body can be sent once, and was sent"
        var put = stubs.request { $0.method = .put }
        let pieces = AsyncStream<Data> { continuation in
            continuation.yield(Data("content".utf8))
            continuation.finish()
        }
        let uploaded = try await stubs.session.upload(.sequence(pieces), for: put, config: .silent) {
            $0.retry = .standard
        }
        #expect(uploaded.attempts.map(\.reason) == [once])
        put.httpBodyStream = InputStream(data: Data("content".utf8))
        #expect(try await reasons(put) == [once])

        let late = "not retried: the deadline would pass before the delay, 3.0 s: Retry-After"
        #expect(try await reasons(stubs.request(), deadline: .seconds(2)) == [late])
        #expect(HTTPStubs.requests.count == 4)
    }

    @Test(.stubs { $0.get("/", .status(.serviceUnavailable)) })
    func `cancelled while it waits, it sends no more`() async throws {
        let clock = TestClock()
        let call = call(clock, firstDelay: .seconds(1))
        await clock.waitForSleepers()
        await call.expectCancelled()
        #expect(HTTPStubs.requests.count == 1)
    }

    // The attempts in the error of a failed call.

    /// Sends a request with a secret to an address where nothing listens.
    private static func refused(
        _ configure: (inout URLSession.Config) -> Void = { $0.retry = .atOnce() }
    ) async throws -> DataResponse {
        let request = URLRequest.with(.init(host: "http://127.0.0.1:1")) { $0.query["token"] = "s3cret" }
        return try await URLSession.shared.response(for: request, config: .silent, configure)
    }

    @Test func `a connection that is refused is tried again, and no attempt shows a secret of the URL`() async throws {
        let error = try #require(await expectError(.cannotConnectToHost) { try await Self.refused() })
        let codes = error.attempts.map { ($0.error as? URLError)?.code }
        #expect(codes == Array(repeating: .cannotConnectToHost, count: 3))
        #expect(error.attempts.map(\.reason) == ["waiting 0 ms", "waiting 0 ms", nil])
        #expect(error.failingURL?.absoluteString == "http://127.0.0.1:1?token=***")
        var text = "\(error) \(String(reflecting: error)) \(error.attempts) \(String(reflecting: error.attempts))"
        dump(error.attempts, to: &text)
        for attempt in error.attempts { text += String(reflecting: attempt.error) }
        #expect(text.contains("waiting 0 ms"))
        #expect(!text.contains("s3cret"))
        #expect(URLError(.badURL).attempts.isEmpty)
    }

    @Test(.stubs { $0.get("/x") { .text("response \($0.attempt)", status: .serviceUnavailable) } })
    func `if no attempt succeeds, the last response is returned, or its error names the attempts, one a line`()
        async throws
    {
        let response = try await stubs.get("/x") { $0.retry = .atOnce() }
        #expect(response.data == Data("response 3".utf8))
        #expect(response.attempts.map(\.status) == Array(repeating: .serviceUnavailable, count: 3))
        let error = try #require(expectThrown(.unacceptableStatus) { try response.validated() })
        #expect(error.attempts.count == 3 && error.response?.attempts.count == 3)
        let lines = error.description.split(separator: "\n")
        #expect(lines.first?.hasPrefix("unacceptableStatus: GET https://api.test/x (503): ") == true)
        let waiting = "503 after 0 ms, waiting 0 ms"
        #expect(lines.dropFirst() == ["  1. \(waiting)", "  2. \(waiting)", "  3. 503 after 0 ms"])
    }

    @Test(
        .stubs {
            $0.get("https://api.test/", .status(.notFound))
            $0.any("/*", .error(.cannotConnectToHost))
        })
    func `an error of another call keeps that call's attempts`() async throws {
        let transport = await expectError(.cannotConnectToHost) {
            try await stubs.get {
                $0.validators = [.success]
                $0.fallback = { _, _ in try await Self.refused() }
            }
        }
        #expect(transport?.attempts.count == 3)
        let status = await expectError(.unacceptableStatus) {
            try await Self.refused {
                $0.retry = .atOnce()
                $0.fallback = { _, _ in try await stubs.get().validated() }
            }
        }
        #expect(status?.attempts.map(\.status) == [.notFound])
        #expect(status?.response?.attempts.count == 1)
    }
}
