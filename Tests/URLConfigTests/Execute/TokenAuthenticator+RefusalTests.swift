import Testing
import URLConfigTesting

@testable import URLConfig

/// Refusals by a server: their reasons, whose credentials were refused, and when the user is signed out.
@Suite(.inTime, .stubs { $0.any("/*", .status(.unauthorized)).optional() })
struct TokenAuthenticatorRefusalTests {
    private typealias Token = TokenAuthenticator.Token

    /// The `Authorization` of the refusals that sign the user out.
    private let signOuts = Recorder<String>()

    /// An authenticator that must not refresh its token.
    private func authenticator(
        hosts: Set<String> = ["api.test"],
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) }, _ token: Token? = "t0k3n"
    ) -> TokenAuthenticator {
        TokenAuthenticator(token, hosts: hosts, authorization: authorization) { _ in
            Issue.record("no token was refused")
            return nil
        }
    }

    /// An authenticator that finds no new token, when the gate is opened.
    private static func waiting(at gate: Gate) -> TokenAuthenticator {
        TokenAuthenticator("old") { _ in
            await gate.pass()
            return nil
        }
    }

    @Test func `a request to another host says that no credentials were sent, and signs nobody out`() async throws {
        for hosts: Set<String> in [
            ["api.example.com"], ["b.example", "a.example"], ["api.test:1"], ["evil@api.test"],
        ] {
            let names = hosts == ["evil@api.test"] ? "no host" : hosts.sorted().joined(separator: ", ")
            let error = await stubs.refusal(authenticator(hosts: hosts), signOuts)
            #expect(
                error?.reason
                    == "no credentials were sent: api.test is not one of the authenticator's hosts (\(names))")
        }
        let refused = await stubs.refusal(authenticator(hosts: ["api.example.com"]), signOuts) {
            $0.authorization = .bearer("own")
        }
        #expect(refused?.reason.hasPrefix("the server refused the request's own Authorization") == true)
        #expect(signOuts.entries == [])
    }

    @Test func `a refusal by another host does not keep the user from being signed out`() async throws {
        let authenticator = TokenAuthenticator(nil) { _ in nil }
        await Stubs(host: "https://other.test").refusal(authenticator, signOuts)
        await stubs.refusal(authenticator, signOuts)
        #expect(signOuts.entries == ["none"])
    }

    @Test(arguments: [true, false])
    func `own credentials that are refused while nobody is signed in are no sign-out, and ask for no token`(
        isSignedOut: Bool
    ) async throws {
        let authenticator = TokenAuthenticator(
            hosts: ["api.test"], load: { throw Unreachable() }, refresh: { _ in nil })
        if isSignedOut { await authenticator.setToken(nil) }
        let error = await stubs.refusal(authenticator, signOuts) {
            $0.authorization = .basic(username: "ada", password: "wrong")
        }
        #expect(error?.reason.hasPrefix("the server refused the request's own Authorization") == true)
        #expect(signOuts.entries == [])
    }

    @Test(arguments: ["other", "t0k3n"])
    func `the request's own credentials are sent, and their refusal is not the token's`(own: String) async throws {
        // Before and after the authenticator has written a token.
        let authenticator = authenticator()
        for _ in 0..<2 {
            let error = await stubs.refusal(authenticator, signOuts) { $0.authorization = .bearer(own) }
            let field = "the request's own Authorization"
            #expect(error?.reason == "the server refused \(field), which the authenticator does not replace")
            #expect(error?.attempts.count == 1)
        }
        #expect(try await authenticator.sent(host: stubs.host) == "Bearer t0k3n")
        #expect(HTTPStubs.fields("Authorization") == ["Bearer \(own)", "Bearer \(own)"])
        #expect(signOuts.entries == [])
    }

    @Test(.stubs { $0.get("/") })
    func `own credentials are those in the field that the authenticator writes`() async throws {
        let name = HTTPField.Name("X-Api-Key")!
        let authenticator = authenticator { key in Authorization { $0[name] = key } }
        for field in [name, .authorization] {
            let request = stubs.request { $0.headers[field] = "own" }
            let response = try await stubs.response(for: request) { $0.authenticator = authenticator }
            #expect(response.isSuccess)
        }
        #expect(HTTPStubs.fields("X-Api-Key") == ["own", "t0k3n"])
        #expect(HTTPStubs.fields("Authorization") == [nil, "own"])
    }

    @Test(
        .stubs {
            $0.get("/*", .redirect(to: "/next"), .status(.serviceUnavailable), .status(.unauthorized), .status(.ok))
        })
    func `fields of an authenticator are not the request's own after a redirect or a retry`() async throws {
        let response = try await stubs.get {
            $0.authenticator = TokenAuthenticator("old") { _ in "new" }
            $0.retry = .standard
        }
        #expect(response.isSuccess)
        #expect(HTTPStubs.fields("Authorization") == ["Bearer old", "Bearer old", "Bearer old", "Bearer new"])
    }

    @Test(.stubs { $0.get("/").field(.authorization, "Basic YTpi") })
    func `a request with credentials of its own does not wait for a refresh`() async throws {
        let gate = Gate()
        let authenticator = Self.waiting(at: gate)
        async let refused = stubs.refusal(authenticator)
        await gate.waitForArrivals()
        let request = stubs.request { $0.authorization = .basic(username: "a", password: "b") }
        let response = try await stubs.response(for: request) { $0.authenticator = authenticator }
        #expect(response.isSuccess)
        gate.open()
        _ = await refused
    }

    @Test func `a request without a token says why there was none`() async throws {
        let signedOut = authenticator()
        await signedOut.setToken(nil)
        let stale = TokenAuthenticator("old") { _ in nil }
        #expect(await stubs.refusal(stale)?.reason == "the server refused the credentials")
        for (authenticator, reason) in [
            (authenticator(nil), "the authenticator's 'load' returned no token"),
            (signedOut, "setToken(nil) has signed the user out"),
            (stale, "the authenticator's 'refresh' and 'load' returned no new token"),
        ] {
            let error = try #require(await stubs.refusal(authenticator))
            #expect(error.reason == "no credentials were sent: \(reason)")
            #expect("\(error)" == "unauthorized: GET \(stubs.host) (401): \(error.reason)")
        }
    }

    @Test func `without an authenticator, a request without Authorization says so`() async throws {
        #expect(
            await stubs.refusal(nil)?.reason == "the request has no Authorization, and the call has no authenticator")
        let error = await stubs.refusal(nil) { $0.authorization = .bearer("abc") }
        #expect(error?.reason == "the server refused the credentials")
    }

    @Test func `without an authenticator, a refusal names the origins if a preset's credentials were left out`()
        async throws
    {
        let preset = stubs.config.with { $0.authorization = .bearer("t0k3n") }
        let request = URLRequest.with(preset) { $0.url = URL(string: "https://refusing.test:8443/1") }
        let error = await expectError(.unauthorized) {
            try await stubs.response(for: request) { $0.onUnauthorized = { _ in } }
        }
        let words =
            "; the preset's may have been left out, because "
            + "https://refusing.test:8443 is another origin than https://api.test:443"
        #expect(error?.reason == "the request has no Authorization, and the call has no authenticator" + words)
        #expect(HTTPStubs.fields("Authorization") == [nil])
    }

    @Test(
        .stubs {
            $0.get("/token", .json(#"{"token":"new"}"#)).field(.authorization, nil)
            $0.get("/me").field(.authorization, "Bearer new")
        })
    func `a request within refresh does not wait for itself`() async throws {
        let config = Locked(URLSession.Config.silent)
        let authenticator = TokenAuthenticator("old") { _ in
            let response = try await stubs.get("/token", config: config.withLock { $0 })
            let tokens: [String: String] = try response.validated().decode()
            return tokens["token"].map { Token($0) }
        }
        config.withLock { $0.authenticator = authenticator }
        let response = try await stubs.get("/me", config: config.withLock { $0 })
        #expect(response.isSuccess)
    }

    @Test func `a call that cannot tell the app leaves it to the next one`() async throws {
        let authenticator = TokenAuthenticator("old") { _ in nil }
        await expectError(.unauthorized) { try await stubs.get { $0.authenticator = authenticator } }
        for _ in 0..<2 { _ = await stubs.refusal(authenticator, signOuts) }
        #expect(signOuts.count == 1)
    }

    @Test func `a request within refresh asks for no credentials, though who began it was cancelled`() async throws {
        let (journal, gate) = (signOuts, Gate())
        let config = Locked(URLSession.Config.silent)
        let authenticator = TokenAuthenticator("old") { _ in
            await gate.pass()
            let response = try await stubs.get(config: config.withLock { $0 })
            journal.note("refresh: \(response.status.code)")
            return nil
        }
        config.withLock {
            $0.authenticator = authenticator
            $0.onUnauthorized = { _ in journal.note("signed out") }
        }
        let starter = Task { try await stubs.get(config: config.withLock { $0 }) }
        await gate.waitForArrivals()
        await starter.expectCancelled()
        async let waiting = stubs.refusal(authenticator, journal)
        await authenticator.waitForWaiters(1)
        gate.open()
        _ = await waiting
        #expect(journal.entries == ["refresh: 401", "none"])
    }

    @Test(.stubs { $0.get("/", .text("fine")).field(.authorization, "Bearer new") })
    func `a task that load leaves behind waits for a refresh like any other`() async throws {
        let (left, gate) = (Locked<Task<String, any Error>?>(nil), Gate())
        let box = Locked<TokenAuthenticator?>(nil)
        let call = { @Sendable in
            try await stubs.get {
                $0.authenticator = box.withLock { $0 }
                $0.onUnauthorized = { _ in Issue.record("nobody is signed out") }
            }.text()
        }
        let authenticator = TokenAuthenticator(hosts: ["api.test"]) {
            left.set(
                \.self,
                Task {
                    await gate.pass()
                    return try await call()
                })
            return "old"
        } refresh: { _ in
            gate.open()
            await box.withLock { $0 }?.waitForWaiters(2)
            return "new"
        }
        box.set(\.self, authenticator)
        let first = try await call()
        let later = try await left.withLock { $0 }?.value
        #expect((first, later) == ("fine", "fine"))
    }

    @Test func `who waits for a token that cannot be had signs out no second time`() async throws {
        let gate = Gate()
        let authenticator = Self.waiting(at: gate)
        // One request is refused, another one waits for its token.
        async let refused = stubs.refusal(authenticator, signOuts)
        await gate.waitForArrivals()
        async let waiting = stubs.refusal(authenticator, signOuts)
        await authenticator.waitForWaiters(2)
        gate.open()
        _ = await (refused, waiting)
        let token = try await authenticator.sent(host: stubs.host)
        #expect(token == nil)
        await stubs.refusal(authenticator, signOuts)
        #expect(signOuts.count == 1)
        // After a new sign-in, it is reported again.
        await authenticator.setToken("old")
        await stubs.refusal(authenticator, signOuts)
        #expect(signOuts.count == 2)
    }

    @Test func `who was found signed in since can be signed out again`() async throws {
        let stored = Locked<Token?>(nil)
        let authenticator = TokenAuthenticator(
            hosts: ["api.test"], load: { stored.withLock { $0 } }, refresh: { _ in nil })
        for (token, count) in [(nil, 1), (nil, 1), ("a", 2), ("a", 2), ("b", 3), (nil, 3)] as [(Token?, Int)] {
            stored.set(\.self, token)
            await stubs.refusal(authenticator, signOuts)
            #expect(signOuts.count == count)
        }
    }

    @Test(.stubs { $0.get("/", .text("fine")).field(.authorization, "Bearer new") })
    func `a thousand requests, refused or waiting, cause one refresh`() async throws {
        let refreshes = Recorder<Void>()
        let box = Locked<TokenAuthenticator?>(nil)
        // On a busy machine, it takes long until all wait.
        let authenticator = TokenAuthenticator(hosts: ["api.test"], renewalLimit: .seconds(600)) {
            "old"
        } refresh: { _ in
            refreshes.note(())
            await box.withLock { $0 }?.waitForWaiters(1_000)
            return "new"
        }
        box.set(\.self, authenticator)
        try await concurrently(1_000) { _ in
            let response = try await stubs.get { $0.authenticator = authenticator }
            #expect(response.isSuccess)
        }
        #expect(refreshes.count == 1)
    }

    @Test func `a refresh that returns the refused token is one refresh for all of its refusals`() async throws {
        let refreshes = Recorder<Void>()
        let now = Locked(Date(timeIntervalSince1970: 1000))
        let authenticator = await TokenAuthenticator {
            now.withLock { $0 }
        } load: {
            "same"
        } refresh: { refused in
            refreshes.note(())
            return refused
        }
        for (seconds, count, expected) in [(0.0, 200, 1), (9, 1, 1), (2, 2, 2)] {
            now.withLock { $0 += seconds }
            try await concurrently(count) { _ in
                let error = await stubs.refusal(authenticator, signOuts)
                #expect(error?.attempts.count == 2)
            }
            #expect(refreshes.count == expected)
        }
        #expect(signOuts.entries == ["Bearer same"])
    }

    @Test func `a credential that is refused for good signs out once, however many waited`() async throws {
        let authenticator = TokenAuthenticator("old") { _ in "no-better" }
        func refused(_ count: Int) async throws {
            try await concurrently(count) { _ in await stubs.refusal(authenticator, signOuts) }
        }
        try await refused(200)
        #expect(signOuts.entries == ["Bearer no-better"])
        // The app signs the user out for it.
        await authenticator.setToken(nil)
        try await refused(20)
        #expect(signOuts.entries == ["Bearer no-better"])
        await authenticator.setToken("no-better")
        try await refused(20)
        #expect(signOuts.entries == ["Bearer no-better", "Bearer no-better"])
        // The user signs out, and nobody was told before.
        await authenticator.setToken("good")
        await authenticator.setToken(nil)
        try await refused(20)
        #expect(signOuts.entries == ["Bearer no-better", "Bearer no-better", "none"])
    }

    @Test func `an app that signs the user out when it is told is told once`() async throws {
        let told = Recorder<Void>()
        let authenticator = TokenAuthenticator("old") { _ in nil }
        for _ in 0..<3 {
            try await concurrently(20) { _ in
                await expectError(.unauthorized) {
                    try await stubs.get {
                        $0.authenticator = authenticator
                        $0.onUnauthorized = { _ in
                            told.note(())
                            await authenticator.setToken(nil)
                        }
                    }
                }
            }
        }
        #expect(told.count == 1)
    }
}
