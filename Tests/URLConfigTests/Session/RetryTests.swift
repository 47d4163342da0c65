import FlyingFox
import Testing

@testable import URLConfig

/// Attempts over a real socket, with delays by a clock that the test moves.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RetryTests {
    /// Responds with one status after the other, repeats the last one, and records the requests.
    private func serving(
        _ statuses: [Int], retryAfter: String? = nil,
        _ body: (Loopback, _ seen: @escaping @Sendable () -> [Loopback.Request]) async throws -> Void
    ) async throws {
        let requests = Locked<[Loopback.Request]>([])
        try await Loopback.serving { request in
            var request = request
            request.setBodyData(try await request.bodyData)
            let count = requests.withLock { requests in
                requests.append(request)
                return requests.count
            }
            let status = statuses[min(count, statuses.count) - 1]
            var fields = HTTPHeaders([.contentType: "text/plain"])
            if status != 200 { fields[HTTPHeader("Retry-After")] = retryAfter }
            return .init(
                statusCode: .init(status, phrase: "Some"), headers: fields, body: Data("answer \(count)".utf8))
        } _: { server in
            try await body(server) { requests.withLock { $0 } }
        }
    }

    @Test func `each wait is by the clock, and within its bounds`() async throws {
        let clock = TestClock()
        try await serving([503, 429, 200]) { server, seen in
            let call = Task {
                try await server.get {
                    $0.clock = clock
                    $0.retry = .atOnce()
                    $0.retry.firstDelay = .seconds(1)
                }
            }
            for attempt in 1...2 {
                await clock.waitForSleepers()
                #expect(seen().count == attempt)
                clock.advance(by: .seconds(attempt))
            }
            let response = try await call.valueInTime
            #expect(response.data == Data("answer 3".utf8))
            #expect(response.attempts.map(\.status?.code) == [503, 429, 200])
            #expect(response.attempts.map { $0.reason?.hasPrefix("waiting ") } == [true, true, nil])
        }
        #expect(clock.asked.count == 2)
        #expect(zip(clock.asked, 1...2).allSatisfy { $0 > .zero && $0 < .seconds($1) })
    }

    @Test func `Retry-After is waited for, to the second`() async throws {
        let clock = TestClock()
        try await serving([503, 200], retryAfter: "3") { server, seen in
            let call = Task {
                try await server.get {
                    $0.clock = clock
                    $0.retry = .atOnce()
                }
            }
            await clock.waitForSleepers()
            clock.advance(by: .milliseconds(2999))
            #expect(clock.sleepers == 1)
            clock.advance(by: .milliseconds(1))
            let response = try await call.valueInTime
            #expect(response.isSuccess)
            #expect(
                response.attempts.map(\.description) == [
                    "503 after 0 ms, waiting 3.0 s: Retry-After", "200 after 0 ms",
                ])
        }
        #expect(clock.asked == [.seconds(3)])
    }

    @Test func `an answer that does not get better is the answer`() async throws {
        try await serving([503]) { server, seen in
            let response = try await server.get {
                $0.retry = .atOnce()
            }
            #expect(response.status == .serviceUnavailable)
            #expect(response.data == Data("answer 3".utf8))
            #expect(response.attempts.map(\.status?.code) == [503, 503, 503])
            #expect(response.attempts.last?.reason == nil)
            #expect(seen().count == 3)
        }
    }

    @Test(arguments: ["none", "post", "budget", "retryAfter", "stream"])
    func `what must not be sent again is not`(why: String) async throws {
        let budget = RetryBudget()
        // In the future, so that it gains nothing if other tests delay this one.
        if why == "budget" { while budget.spend("127.0.0.1", at: .now + .seconds(3600)) {} }
        try await serving([503, 200], retryAfter: why == "retryAfter" ? "61" : nil) { server, seen in
            let request = server.request {
                if why == "post" { $0.method = .post }
                if why == "stream" {
                    $0.method = .put
                    $0.modify = { $0.httpBodyStream = InputStream(data: Data("content".utf8)) }
                }
            }
            let response = try await server.response(for: request) {
                $0.retry = why == "none" ? .none : .atOnce(budget: budget)
                if why == "budget" { $0.retry.budget = budget }
            }
            #expect(response.status == .serviceUnavailable)
            #expect(seen().count == 1)
        }
    }

    @Test func `every attempt has the same key and the same body`() async throws {
        try await serving([503, 500, 200]) { server, seen in
            let request = server.request {
                $0.method = .post
                $0.idempotencyKey = .automatic
                $0.body["title"] = "some"
            }
            try await server.response(for: request) {
                $0.retry = .atOnce()
            }
            let keys = seen().map { $0.headers[HTTPHeader("Idempotency-Key")] }
            #expect(keys == Array(repeating: request.field("Idempotency-Key"), count: 3))
            for request in seen() {
                let body = try await request.bodyData
                #expect(body == Data(#"{"title":"some"}"#.utf8))
            }
        }
    }

    @Test func `every attempt is authorized anew, and a refusal in between is renewed once`() async throws {
        let authenticator = CountingAuthenticator()
        let journal = Journal()
        try await serving([503, 401, 503, 200]) { server, seen in
            let response = try await server.get {
                $0.authenticator = authenticator
                $0.onUnauthorized = { _ in await journal.note("refused") }
                $0.validators = [ResponseValidator { await journal.note("validated \($0.status.code)") }]
                $0.retry = .atOnce()
            }
            #expect(seen().map { $0.headers[.authorization] } == ["1", "2", "3", "4"])
            #expect(
                response.attempts.map(\.reason) == ["waiting 0 ms", "credentials refreshed", "waiting 0 ms", nil])
        }
        #expect(authenticator.refused == 1)
        #expect(await journal.entries == ["validated 200"])
    }

    @Test func `cancelled while it waits, it sends no more`() async throws {
        let clock = TestClock()
        try await serving([503]) { server, seen in
            let call = Task {
                try await server.get {
                    $0.clock = clock
                    $0.retry = .atOnce()
                    $0.retry.firstDelay = .seconds(1)
                }
            }
            await clock.waitForSleepers()
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.valueInTime }
            #expect(seen().count == 1)
        }
    }

    @Test func `a method that an authenticator sets is not repeated`() async throws {
        struct Posting: Authenticator {
            func authorize(_ request: inout URLRequest) { request.httpMethod = "POST" }
        }
        let sent = Locked<[String]>([])
        let transport = Transport { request in
            sent.withLock { $0.append(request.urlRequest.httpMethod ?? "") }
            return .init(status: .serviceUnavailable)
        }
        let config = URLSession.Config.silent.with {
            $0.transport = transport
            $0.authenticator = Posting()
            $0.retry = .standard
        }
        let response = try await URLSession.shared.response(
            for: .with(.init(host: "https://api.example.com")), config: config)
        #expect(response.status == .serviceUnavailable)
        #expect(sent.withLock { $0 } == ["POST"])
    }
}
