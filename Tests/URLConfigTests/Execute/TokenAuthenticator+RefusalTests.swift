import FlyingFox
import Testing

@testable import URLConfig

/// Refusals by a server: their reasons, whose credentials were refused, and when the user is signed out.
@Suite(.timeLimit(.minutes(10))) struct TokenAuthenticatorRefusalTests {
    private typealias Token = TokenAuthenticator.Token

    /// The `Authorization` of the refusals that sign the user out.
    private let signOuts = Recorder<String>()

    private func refusing(_ body: (Loopback) async throws -> Void) async throws {
        try await Loopback.serving({ _ in .status(.unauthorized) }, body)
    }

    /// An authenticator that must not refresh its token.
    private func authenticator(
        hosts: Set<String> = ["127.0.0.1"],
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) }, _ token: Token? = "t0k3n"
    ) -> TokenAuthenticator {
        TokenAuthenticator(token, hosts: hosts, authorization: authorization) { _ in
            Issue.record("no token was refused")
            return nil
        }
    }

    @Test func `a request to another host says that no credentials were sent, and signs nobody out`() async throws {
        try await refusing { server in
            for hosts: Set<String> in [
                ["api.example.com"], ["b.example", "a.example"], ["127.0.0.1:1"], ["evil@127.0.0.1"],
            ] {
                let names = hosts == ["evil@127.0.0.1"] ? "no host" : hosts.sorted().joined(separator: ", ")
                let error = await server.refusal(authenticator(hosts: hosts), signOuts)
                #expect(
                    error?.reason
                        == "no credentials were sent: 127.0.0.1 is not one of the authenticator's hosts (\(names))")
            }
        }
        #expect(signOuts.entries == [])
    }

    @Test func `a refusal by another host does not keep the user from being signed out`() async throws {
        try await refusing { server in
            let authenticator = TokenAuthenticator(nil) { _ in nil }
            await server.asLocalhost.refusal(authenticator, signOuts)
            await server.refusal(authenticator, signOuts)
        }
        #expect(signOuts.entries == ["none"])
    }

    @Test(arguments: [true, false])
    func `own credentials that are refused while nobody is signed in are no sign-out, and ask for no token`(
        isSignedOut: Bool
    ) async throws {
        let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
            throw Unreachable()
        } refresh: { _ in
            nil
        }
        if isSignedOut { await authenticator.setToken(nil) }
        try await refusing { server in
            let error = await server.refusal(authenticator, signOuts) {
                $0.authorization = .basic(username: "ada", password: "wrong")
            }
            #expect(error?.reason.hasPrefix("the server refused the request's own Authorization") == true)
        }
        #expect(signOuts.entries == [])
    }

    @Test(arguments: ["other", "t0k3n"])
    func `the request's own credentials are sent, and their refusal is not the token's`(own: String) async throws {
        let sent = Recorder<String?>()
        try await Loopback.serving { request in
            sent.note(request.headers[.authorization])
            return .status(.unauthorized)
        } _: { server in
            // Before and after the authenticator has written a token.
            let authenticator = authenticator()
            for _ in 0..<2 {
                let error = await server.refusal(authenticator, signOuts) { $0.authorization = .bearer(own) }
                let field = "the request's own Authorization"
                #expect(error?.reason == "the server refused \(field), which the authenticator does not replace")
                #expect(error?.attempts.count == 1)
            }
            let later = try await authenticator.sent(host: server.host)
            #expect(later == "Bearer t0k3n")
        }
        #expect(sent.entries == ["Bearer \(own)", "Bearer \(own)"])
        #expect(signOuts.entries == [])
    }

    @Test func `own credentials are those in the field that the authenticator writes`() async throws {
        let name = HTTPField.Name("X-Api-Key")!
        let sent = Recorder<[String?]>()
        try await Loopback.serving { request in
            sent.note([request.headers[HTTPHeader("X-Api-Key")], request.headers[.authorization]])
            return .status(.ok)
        } _: { server in
            let authenticator = authenticator { key in Authorization { $0[name] = key } }
            for field in [name, .authorization] {
                let request = server.request { $0.headers[field] = "own" }
                let response = try await server.response(for: request) { $0.authenticator = authenticator }
                #expect(response.isSuccess)
            }
        }
        #expect(sent.entries == [["own", nil], ["t0k3n", "own"]])
    }

    @Test func `what an authenticator has put on a request is not its own after a redirect or a retry`() async throws {
        let sent = Recorder<String>()
        try await Loopback.serving { request in
            switch sent.note(request.headers[.authorization] ?? "none") {
            case 1: .redirect(to: "/next")
            case 2: .status(.serviceUnavailable)
            case 3: .status(.unauthorized)
            default: .json("{}")
            }
        } _: { server in
            let response = try await server.get {
                $0.authenticator = TokenAuthenticator("old") { _ in "new" }
                $0.retry = .atOnce()
            }
            #expect(response.isSuccess)
        }
        #expect(sent.entries == ["Bearer old", "Bearer old", "Bearer old", "Bearer new"])
    }

    @Test func `a request with credentials of its own does not wait for a refresh`() async throws {
        let gate = Gate()
        try await Loopback.serving { request in
            .status(request.headers[.authorization] == "Basic YTpi" ? .ok : .unauthorized)
        } _: { server in
            let authenticator = TokenAuthenticator("old") { _ in
                await gate.pass()
                return nil
            }
            async let refused = server.refusal(authenticator)
            await gate.waitForArrivals()
            let request = server.request { $0.authorization = .basic(username: "a", password: "b") }
            let response = try await server.response(for: request) { $0.authenticator = authenticator }
            #expect(response.isSuccess)
            gate.open()
            _ = await refused
        }
    }

    @Test func `a request without a token says why there was none`() async throws {
        try await refusing { server in
            let signedOut = authenticator()
            await signedOut.setToken(nil)
            let stale = TokenAuthenticator("old") { _ in nil }
            #expect(await server.refusal(stale)?.reason == "the server refused the credentials")
            for (authenticator, reason) in [
                (authenticator(nil), "the authenticator's 'load' returned no token"),
                (signedOut, "setToken(nil) has signed the user out"),
                (stale, "the authenticator's 'refresh' returned no new token, nor did 'load'"),
            ] {
                let error = try #require(await server.refusal(authenticator))
                #expect(error.reason == "no credentials were sent: \(reason)")
                #expect("\(error)" == "unauthorized: GET \(server.host) answered 401: \(error.reason)")
            }
        }
    }

    @Test func `without an authenticator, a request without Authorization says so`() async throws {
        try await refusing { server in
            #expect(
                await server.refusal(nil)?.reason
                    == "the request has no Authorization, and the call has no authenticator; "
                    + "credentials of a preset are left out if `url` has another origin")
            let error = await server.refusal(nil) { $0.authorization = .bearer("abc") }
            #expect(error?.reason == "the server refused the credentials")
        }
    }

    @Test func `a request within refresh does not wait for itself`() async throws {
        try await Loopback.serving { request in
            switch (request.path, request.headers[.authorization]) {
            case ("/token", nil): .json(#"{"token":"new"}"#)
            case ("/me", "Bearer new"): .json("{}")
            default: .status(.unauthorized)
            }
        } _: { server in
            let config = Locked(URLSession.Config.silent)
            let authenticator = TokenAuthenticator("old") { _ in
                let response = try await server.get("/token", config: config.withLock { $0 })
                let tokens: [String: String] = try response.validated().decode()
                return tokens["token"].map { Token($0) }
            }
            config.withLock { $0.authenticator = authenticator }
            let response = try await server.get("/me", config: config.withLock { $0 })
            #expect(response.isSuccess)
        }
    }

    @Test func `a request within refresh asks for no credentials, though who began it was cancelled`() async throws {
        let (journal, gate) = (signOuts, Gate())
        try await refusing { server in
            let config = Locked(URLSession.Config.silent)
            let authenticator = TokenAuthenticator("old") { _ in
                await gate.pass()
                let response = try await server.get(config: config.withLock { $0 })
                journal.note("refresh: \(response.status.code)")
                return nil
            }
            config.withLock {
                $0.authenticator = authenticator
                $0.onUnauthorized = { _ in journal.note("signed out") }
            }
            let starter = Task { try await server.get(config: config.withLock { $0 }) }
            await gate.waitForArrivals()
            starter.cancel()
            await #expect(throws: CancellationError.self) { try await starter.value }
            async let waiting = server.refusal(authenticator, journal)
            await authenticator.waitForWaiters(1)
            gate.open()
            _ = await waiting
            #expect(journal.entries == ["refresh: 401", "none"])
        }
    }

    @Test func `a task that load leaves behind waits for a refresh like any other`() async throws {
        let (left, gate) = (Locked<Task<String, any Error>?>(nil), Gate())
        let box = Locked<TokenAuthenticator?>(nil)
        try await Loopback.serving { request in
            request.headers[.authorization] == "Bearer new" ? .json("fine") : .status(.unauthorized)
        } _: { server in
            let call = { @Sendable in
                try await server.get {
                    $0.authenticator = box.withLock { $0 }
                    $0.onUnauthorized = { _ in Issue.record("nobody is signed out") }
                }.text()
            }
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
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
    }

    @Test func `who waits for a token that cannot be had signs out no second time`() async throws {
        let gate = Gate()
        try await refusing { server in
            let authenticator = TokenAuthenticator("old") { _ in
                await gate.pass()
                return nil
            }
            // One request is refused, another one waits for its token.
            async let refused = server.refusal(authenticator, signOuts)
            await gate.waitForArrivals()
            async let waiting = server.refusal(authenticator, signOuts)
            await authenticator.waitForWaiters(2)
            gate.open()
            _ = await (refused, waiting)
            let token = try await authenticator.sent(host: server.host)
            #expect(token == nil)
            await server.refusal(authenticator, signOuts)
            #expect(signOuts.count == 1)
            // After a new sign-in, it is reported again.
            await authenticator.setToken("old")
            await server.refusal(authenticator, signOuts)
            #expect(signOuts.count == 2)
        }
    }

    @Test func `who was found signed in since can be signed out again`() async throws {
        let stored = Locked<Token?>(nil)
        try await refusing { server in
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                stored.withLock { $0 }
            } refresh: { _ in
                nil
            }
            for (token, count) in [(nil, 1), (nil, 1), ("a", 2), ("a", 2), ("b", 3), (nil, 3)] as [(Token?, Int)] {
                stored.set(\.self, token)
                await server.refusal(authenticator, signOuts)
                #expect(signOuts.count == count)
            }
        }
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
        try await refusing { server in
            for (seconds, count, expected) in [(0.0, 200, 1), (9, 1, 1), (2, 2, 2)] {
                now.withLock { $0 += seconds }
                await withTaskGroup { group in
                    for _ in 0..<count {
                        group.addTask {
                            let error = await server.refusal(authenticator, signOuts)
                            #expect(error?.attempts.count == 2)
                        }
                    }
                }
                #expect(refreshes.count == expected)
            }
        }
        #expect(signOuts.entries == ["Bearer same"])
    }

    @Test func `a credential that is refused for good signs out once, however many waited`() async throws {
        try await refusing { server in
            let authenticator = TokenAuthenticator("old") { _ in "no-better" }
            func refused(_ count: Int) async {
                await withTaskGroup { group in
                    for _ in 0..<count { group.addTask { await server.refusal(authenticator, signOuts) } }
                }
            }
            await refused(200)
            #expect(signOuts.entries == ["Bearer no-better"])
            await authenticator.setToken(nil)
            await refused(20)
            #expect(signOuts.entries == ["Bearer no-better", "none"])
            await authenticator.setToken("no-better")
            await refused(20)
            #expect(signOuts.entries == ["Bearer no-better", "none", "Bearer no-better"])
        }
    }
}
