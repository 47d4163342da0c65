import FlyingFox
import Testing

@testable import URLConfig

/// Signed in, signed out, and in again.
@Suite(.timeLimit(.minutes(10))) struct TokenAuthenticatorSignInTests {
    private typealias Token = TokenAuthenticator.Token

    @Test func `a token that cannot be had any more signs out`() async throws {
        let journal = Journal()
        try await Loopback.serving { _ in
            .status(.unauthorized)
        } _: { server in
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                Token("old")
            } refresh: { _ in
                nil
            }
            let error = await #expect(throws: RequestError.self) {
                try await server.session.response(for: URLRequest.with(server.config) { _ in }) {
                    $0.logger = nil
                    $0.authenticator = authenticator
                    $0.onUnauthorized = { _ in await journal.note("signed out") }
                }
            }
            #expect(error?.code == .unauthorized)
            let token = try await authenticator.sent(host: server.host)
            #expect(token == nil)
        }
        #expect(await journal.entries == ["signed out"])
    }

    @Test func `signed out means without a token`() async throws {
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            nil
        } refresh: { _ in
            Issue.record("there is nothing to refresh")
            return Token("")
        }
        #expect(try await authenticator.sent() == nil)
        #expect(
            try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: nil)) == false)
    }

    @Test func `what was refused is not loaded again, whatever was refused after it`() async throws {
        let stored = Locked("a")
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            Token(stored.withLock { $0 })
        } refresh: { _ in
            nil
        }
        for token in ["a", "b"] {
            stored.withLock { $0 = token }
            #expect(try await authenticator.sent() == "Bearer \(token)")
            #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: token)) == false)
        }
        for token in ["a", "b"] {
            stored.withLock { $0 = token }
            #expect(try await authenticator.sent() == nil)
        }
        await authenticator.setToken(Token("a"))
        #expect(try await authenticator.sent() == "Bearer a")
    }

    @Test func `who has signed in since is found, without a word`() async throws {
        let stored = Locked<String?>(nil)
        let loads = Locked(0)
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            loads.withLock { $0 += 1 }
            return stored.withLock { $0 }.map { Token($0) }
        } refresh: { _ in
            nil
        }
        #expect(try await authenticator.sent() == nil)
        #expect(try await authenticator.sent() == nil)
        stored.withLock { $0 = "a" }
        #expect(try await authenticator.sent() == "Bearer a")
        #expect(try await authenticator.sent() == "Bearer a")
        #expect(loads.withLock { $0 } == 3)
    }

    @Test func `what could not be replaced is not loaded again, another token is`() async throws {
        let stored = Locked("a")
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            Token(stored.withLock { $0 })
        } refresh: { _ in
            nil
        }
        #expect(try await authenticator.sent() == "Bearer a")
        #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "a")) == false)
        #expect(try await authenticator.sent() == nil)
        #expect(try await authenticator.sent() == nil)
        stored.withLock { $0 = "b" }
        #expect(try await authenticator.sent() == "Bearer b")
        #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "a")))
        #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "b")) == false)
        #expect(try await authenticator.sent() == nil)
    }

    @Test func `signed out by the app, nothing is loaded until it sets a token`() async throws {
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            Token("a")
        } refresh: { _ in
            nil
        }
        await authenticator.setToken(nil)
        #expect(try await authenticator.sent() == nil)
        await authenticator.setToken(Token("b"))
        #expect(try await authenticator.sent() == "Bearer b")
    }

    @Test func `a refresh that returns the refused token is one refresh for all of its refusals`() async throws {
        let refreshes = Locked(0)
        let now = Locked(Date(timeIntervalSince1970: 1000))
        let time = { @Sendable in now.withLock { $0 } }
        let authenticator = await TokenAuthenticator(hosts: ["127.0.0.1"], now: time) {
            Token("same")
        } refresh: { refused in
            refreshes.withLock { $0 += 1 }
            return refused
        }
        let journal = Journal()
        func refused(_ count: Int, by server: Loopback) async {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        let error = await #expect(throws: RequestError.self) {
                            try await server.get {
                                $0.authenticator = authenticator
                                $0.onUnauthorized = { _ in await journal.note("refused") }
                            }
                        }
                        #expect(error?.code == .unauthorized)
                        #expect(error?.attempts.count == 2)
                    }
                }
            }
        }
        try await Loopback.serving { _ in
            .status(.unauthorized)
        } _: { server in
            await refused(200, by: server)
            #expect(refreshes.withLock { $0 } == 1)
            now.withLock { $0 += 9 }
            await refused(1, by: server)
            #expect(refreshes.withLock { $0 } == 1)
            now.withLock { $0 += 2 }
            await refused(2, by: server)
            #expect(refreshes.withLock { $0 } == 2)
        }
        #expect(await journal.entries.count == 1)
    }
}
