import Testing
import URLConfigTesting

@testable import URLConfig

/// Users that change while requests are on their way, and clocks and refreshes that cannot be relied on.
@Suite(.inTime) struct TokenAuthenticatorLoginTests {
    private typealias Token = TokenAuthenticator.Token

    private let now = Locked(Date(timeIntervalSince1970: 1000))
    private let refreshed = Recorder<String>()
    private let sent = Recorder<String>()
    private let signOuts = Recorder<Void>()
    private let put = URLRequest.with(.init(host: "https://api.example.com")) { $0.method = .put }

    /// Calls with a transport, which notes the tokens, and at most two attempts, at once.
    private func config(
        _ tokens: TokenAuthenticator, _ respond: @escaping @Sendable () async throws -> Transport.Response
    ) -> URLSession.Config {
        .silent.with {
            $0.transport = Transport { [sent] request in
                sent.note(request.urlRequest.field("Authorization") ?? "none")
                return try await respond()
            }
            ($0.authenticator, $0.retry.attempts, $0.retry.firstDelay) = (tokens, 2, .zero)
            $0.onUnauthorized = { [signOuts] _ in signOuts.note(()) }
        }
    }

    @Test func `a token that was replaced while it was sent signs nobody out`() async throws {
        let tokens = TokenAuthenticator("a") { _ in "b" }
        let config = config(tokens) { [sent] in
            if sent.count == 2 { await tokens.setToken("c") }
            return .init(status: .unauthorized)
        }
        let error = await expectError(.unauthorized) {
            try await URLSession.shared.response(for: put, config: config)
        }
        #expect(error?.reason == "the token was replaced while the request was on its way")
        #expect(sent.entries == ["Bearer a", "Bearer b"])
        #expect(signOuts.count == 0)
        #expect(try await tokens.sent() == "Bearer c")
    }

    @Test(
        arguments: [.unauthorized, .serviceUnavailable] as [HTTPResponse.Status],
        [.post, .put] as [HTTPRequest.Method])
    func `what one user began is not sent with the token of the next one`(
        status: HTTPResponse.Status, method: HTTPRequest.Method
    ) async throws {
        let tokens = TokenAuthenticator(nil) { [refreshed] in
            refreshed.note($0.value)
            return nil
        }
        await tokens.setToken("ada")
        let config = config(tokens) {
            await tokens.replaceUser(by: "bob")
            return .init(status: status)
        }
        let request = URLRequest.with(.init(host: "https://api.example.com")) {
            ($0.method, $0.body) = (method, .data(Data("Ada's".utf8)))
        }
        let error = await #expect(throws: RequestError.self) {
            try await URLSession.shared.response(for: request, config: config) { $0.validators = [.success] }
        }
        #expect(sent.entries == ["Bearer ada"])
        #expect(signOuts.count == 0 && refreshed.count == 0)
        let isRetried = status == .unauthorized || method == .put
        #expect(error?.reason.contains("has signed out since") == isRetried)
        #expect(try await tokens.sent() == "Bearer bob")
    }

    @Test func `a retry that waits for a refresh is not sent with the token of the next user`() async throws {
        let gate = Gate()
        let tokens = await authenticator("ada") { _ in
            await gate.pass()
            return "ada-2"
        }
        let refusal = Locked(Task<Bool, any Error>?.none)
        let config = config(tokens) {
            refusal.set(\.self, Task { try await tokens.refuse("ada") })
            await gate.waitForArrivals()
            return .init(status: .serviceUnavailable)
        }
        let call = Task { try await URLSession.shared.response(for: put, config: config) }
        await tokens.waitForWaiters(2)
        await tokens.replaceUser(by: "bob")
        await expectError(.unauthorized) { try await call.valueInTime }
        #expect(sent.entries == ["Bearer ada"])
        // An authenticator of the app may forward to this one.
        #expect(try await refusal.withLock { $0 }?.valueInTime == false)
        gate.open()
        #expect(try await tokens.sent() == "Bearer bob")
    }

    @Test func `a download does not go on with the token of the next user`() async throws {
        let tokens = TokenAuthenticator("ada") { _ in nil }
        let config = config(tokens) {
            let pieces = AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("ada's".utf8))
                Task {
                    await tokens.replaceUser(by: "bob")
                    continuation.finish(throwing: URLError(.networkConnectionLost))
                }
            }
            return .init(headerFields: [.eTag: "\"0123456789abcdef\"", .contentLength: "10"], body: .init(pieces))
        }
        let folder = TemporaryDirectory()
        let target = folder.url.appending(path: "file")
        await expectError(.unauthorized) {
            try await URLSession.shared.download(
                for: .with(.init(host: "https://api.example.com")), to: target, config: config)
        }
        #expect(sent.entries == ["Bearer ada"])
        #expect(!FileManager.default.fileExists(atPath: target.path()))
    }

    @Test func `if a refresh before a retry returns nil, the server refuses the retry, and the app is told`()
        async throws
    {
        let tokens = await authenticator(Token("ada", expiry: Date(timeIntervalSince1970: 1100))) { _ in nil }
        let config = config(tokens) { [now, sent] in
            now.withLock { $0 += 95 }
            return .init(status: sent.count == 1 ? .serviceUnavailable : .unauthorized)
        }
        await expectError(.unauthorized) { try await URLSession.shared.response(for: put, config: config) }
        #expect(sent.entries == ["Bearer ada", "none"])
        #expect(signOuts.count == 1)
    }

    @Test(arguments: [
        "events", "events after a redirect", "events after no network", "pages", "own pages after a redirect",
    ])
    func `a loop that one user began does not go on with the token of the next one`(kind: String) async throws {
        let clock = TestClock()
        let tokens = TokenAuthenticator("ada") { [refreshed] in
            refreshed.note($0.value)
            throw URLError(.notConnectedToInternet)
        }
        let transport = Transport { [sent] request in
            let url = request.urlRequest.url
            if url?.host() == "api.example.com" {
                sent.note(request.urlRequest.field("Authorization") ?? "none")
                // Otherwise the test would not end.
                if sent.count > 2 { throw CocoaError(.featureUnsupported) }
                switch kind {
                case "events after no network": await tokens.setToken(Token("ada-2", expiry: .distantPast))
                case _ where sent.count == 2: await tokens.replaceUser(by: "bob")
                // A new token of the same user is no reason to end.
                default: await tokens.setToken("ada-2")
                }
                if sent.count == 2, kind.hasSuffix("after a redirect") {
                    return .init(status: .temporaryRedirect, headerFields: [.location: "https://edge.example/"])
                }
            }
            let fields: HTTPFields = [
                .contentType: "text/event-stream", HTTPField.Name("Link")!: "<?\(sent.count)>; rel=next",
            ]
            return .init(headerFields: fields, body: .init(Data("id: 1\ndata: a\n\n".utf8)))
        }
        let request = URLRequest.with(.init(host: "https://api.example.com"))
        let config = URLSession.Config.silent.with {
            ($0.authenticator, $0.transport, $0.clock) = (tokens, transport, clock)
        }
        let loop = Task { [sent] in
            if kind.hasPrefix("events") {
                for try await _ in URLSession.shared.events(for: request, config: config) {}
            } else if kind == "pages" {
                for try await _ in URLSession.shared.pages(for: request, config: config) {}
            } else {
                let pages = URLSession.shared.pages(
                    for: request, config: config,
                    next: { _ in
                        var next = request
                        next.url?.append(queryItems: [URLQueryItem(name: "page", value: "\(sent.count)")])
                        return next
                    })
                for try await _ in pages {}
            }
        }
        let time = Task {
            while !Task.isCancelled {
                if refreshed.count > 0 { await tokens.replaceUser(by: "bob") }
                clock.move(by: .seconds(60))
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        let error = await #expect(throws: RequestError.self) { try await loop.valueInTime }
        time.cancel()
        #expect(error?.code == .unauthorized)
        #expect(error?.reason.contains("has signed out since") == true)
        #expect(sent.entries == (kind == "events after no network" ? ["Bearer ada"] : ["Bearer ada", "Bearer ada-2"]))
    }

    @Test func `a token that the app replaces without a sign-out is for the requests of the same user`() async throws {
        let tokens = TokenAuthenticator("first") { _ in nil }
        #expect(try await tokens.sent() == "Bearer first")
        await tokens.setToken("second")
        #expect(try await tokens.refuse("first"))
        // Nothing of before the sign-out is sent again.
        await tokens.setToken(nil)
        await tokens.setToken("second")
        #expect(try await tokens.refuse("first") == false)
        await tokens.setToken("first")
        #expect(try await tokens.refuse("second"))
    }

    @Test func `with a clock that is ahead, a new token is used until it is refused`() async throws {
        let tokens = await authenticator("old") { number in
            Token("new-\(number)", expiry: Date(timeIntervalSince1970: 500))
        }
        #expect(try await tokens.sent() == "Bearer old")
        #expect(try await tokens.refuse("old"))
        for _ in 0..<3 { #expect(try await tokens.sent() == "Bearer new-1") }
        #expect(try await tokens.refuse("new-1"))
        #expect(try await tokens.sent() == "Bearer new-2")
        // A token that is stored may be old.
        await tokens.setToken(Token("stored", expiry: Date(timeIntervalSince1970: 900)))
        #expect(try await tokens.sent() == "Bearer new-3")
    }

    @Test func `the present token, set again, does not end its refresh`() async throws {
        let gate = Gate()
        let tokens = await authenticator("old") { _ in
            await gate.pass()
            return "new"
        }
        #expect(try await tokens.sent() == "Bearer old")
        let refusal = Task { try await tokens.refuse("old") }
        await gate.waitForArrivals()
        await tokens.setToken("old")
        gate.open()
        #expect(try await refusal.valueInTime)
        #expect(try await tokens.sent() == "Bearer new")
        #expect(refreshed.count == 1)
    }

    @Test func `a refresh that does not return is not begun again while the token is good`() async throws {
        let (clock, gate) = (TestClock(), Gate())
        let tokens = await authenticator(
            Token("good", expiry: Date(timeIntervalSince1970: 1400)), leeway: .seconds(300), clock: clock
        ) { _ in
            await gate.pass()
            return "new"
        }
        #expect(try await tokens.sent() == "Bearer good")
        now.withLock { $0 += 250 }
        let first = Task { try await tokens.sent() }
        await gate.waitForArrivals()
        await clock.waitForSleepers()
        clock.move(by: .seconds(30))
        #expect(try await first.valueInTime == "Bearer good")
        for _ in 0..<5 { #expect(try await tokens.sent() == "Bearer good") }
        #expect(refreshed.count == 1)
        // Its token is used when it comes.
        gate.open()
        try await waitUntil { try await tokens.sent() == "Bearer new" }
        #expect(refreshed.count == 1)
    }

    @Test func `without refresh, a late result of load does not end the wait after a refusal`() async throws {
        let (clock, late, last) = (TestClock(), Gate(), Gate())
        let loads = Recorder<Void>()
        let old = Token("old", expiry: Date(timeIntervalSince1970: 1100))
        let tokens = TokenAuthenticator(hosts: ["api.example.com"]) {
            let number = loads.note(())
            if number == 2 { await late.pass() }
            if number == 3 { await last.pass() }
            return number < 3 ? old : "new"
        }
        await tokens.set(clock: clock) { [now] in now.withLock { $0 } }
        #expect(try await tokens.sent() == "Bearer old")
        now.withLock { $0 += 80 }
        let due = Task { try await tokens.sent() }
        await late.waitForArrivals()
        await clock.waitForSleepers()
        clock.move(by: .seconds(30))
        #expect(try await due.valueInTime == "Bearer old")
        let refusal = Task { try await tokens.refuse("old") }
        await last.waitForArrivals()
        late.open()
        try await waitUntil { await !tokens.hasLateRenewal }
        #expect(await tokens.waiting == 1)
        last.open()
        #expect(try await refusal.valueInTime)
        #expect(try await tokens.sent() == "Bearer new")
    }

    /// An authenticator whose `refresh` receives the number of the call.
    private func authenticator(
        _ loaded: Token, leeway: Duration = .seconds(30), clock: any Clock<Duration> = ContinuousClock(),
        refresh: @escaping @Sendable (Int) async throws -> Token?
    ) async -> TokenAuthenticator {
        await TokenAuthenticator(
            leeway: leeway, clock: clock, now: { now.withLock { $0 } }, load: { loaded },
            refresh: { try await refresh(refreshed.note($0.value)) })
    }
}

extension TokenAuthenticator {
    /// At one time, so that no request is between.
    fileprivate func replaceUser(by token: Token) async {
        await setToken(nil)
        await setToken(token)
    }

    fileprivate var hasLateRenewal: Bool { state.late != nil }

    fileprivate func set(clock: any Clock<Duration>, now: @escaping @Sendable () -> Date) {
        (self.clock, self.now) = (clock, now)
    }
}
