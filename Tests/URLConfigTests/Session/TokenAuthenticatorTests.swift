import FlyingFox
import Testing

@testable import URLConfig

@Suite(.timeLimit(.minutes(10))) struct TokenAuthenticatorTests {
    private typealias Token = TokenAuthenticator.Token
    private struct Unreachable: Error {}

    @Test func `the token goes to its hosts only`() async throws {
        let authenticator = TokenAuthenticator(hosts: ["API.example.com"]) {
            Token("secret")
        } refresh: { _ in
            Issue.record("another host's refusal is none of its business")
            return Token("other")
        }
        #expect(try await authenticator.sent() == "Bearer secret")
        for host in ["https://example.com", "https://api.example.com.evil.com", "https://evil.com", "http://127.0.0.1"]
        {
            #expect(try await authenticator.sent(host: host) == nil)
            let other = DataResponse(request: URLRequest.with(.init(host: host)) { _ in }, status: .unauthorized)
            #expect(try await authenticator.reauthorize(after: other) == false)
        }
    }

    @Test func `ten thousand refusals at once cause one refresh`() async throws {
        let refreshes = Locked(0)
        let loads = Locked(0)
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            loads.withLock { $0 += 1 }
            return Token("old")
        } refresh: { refused in
            #expect(refused == Token("old"))
            await Task.yield()
            refreshes.withLock { $0 += 1 }
            return Token("new")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10_000 {
                group.addTask {
                    let token = try await authenticator.sent()
                    guard token == "Bearer old" else { return }
                    #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")))
                    #expect(try await authenticator.sent() == "Bearer new")
                }
            }
            try await group.waitForAll()
        }
        #expect(loads.withLock { $0 } == 1)
        #expect(refreshes.withLock { $0 } == 1)
    }

    @Test func `a late refusal of the old token causes no refresh`() async throws {
        let refreshes = Locked(0)
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            Token("old")
        } refresh: { _ in
            refreshes.withLock { $0 += 1 }
            return Token("new-\(refreshes.withLock { $0 })")
        }
        _ = try await authenticator.sent()
        #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")))
        #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")))
        #expect(refreshes.withLock { $0 } == 1)
    }

    @Test func `a failed refresh fails all who wait, and the next may try again`() async throws {
        let (entered, signal) = AsyncStream.makeStream(of: Void.self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let refreshes = Locked(0)
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            Token("old")
        } refresh: { _ in
            if refreshes.withLock({ count in
                count += 1
                return count
            }) == 1 {
                signal.yield()
                for await _ in opened { break }
                throw Unreachable()
            }
            return Token("new")
        }
        _ = try await authenticator.sent()
        let first = Task { try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")) }
        for await _ in entered { break }
        let others = (0..<100).map { _ in
            Task { try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")) }
        }
        while await authenticator.waiting < 101, !Task.isCancelled { await Task.yield() }
        open.yield()
        for task in [first] + others {
            await #expect(throws: Unreachable.self) { try await task.value }
        }
        #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")))
        #expect(try await authenticator.sent() == "Bearer new")
        #expect(refreshes.withLock { $0 } == 2)
    }

    @Test func `a cancelled waiter ends at once, and the refresh goes on`() async throws {
        let (entered, signal) = AsyncStream.makeStream(of: Void.self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            Token("old")
        } refresh: { _ in
            signal.yield()
            for await _ in opened { break }
            try Task.checkCancellation()
            return Token("new")
        }
        _ = try await authenticator.sent()
        let starter = Task { try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")) }
        for await _ in entered { break }
        let waiter = Task { try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")) }
        while await authenticator.waiting < 2, !Task.isCancelled { await Task.yield() }
        starter.cancel()
        await #expect(throws: CancellationError.self) { try await starter.value }
        #expect(await authenticator.waiting == 1)
        open.yield()
        #expect(try await waiter.value)
        #expect(try await authenticator.sent() == "Bearer new")
    }

    @Test func `a request within refresh does not wait for itself`() async throws {
        try await Loopback.serving { request in
            switch (request.path, request.headers[.authorization]) {
            case ("/token", nil): .json(#"{"token":"new"}"#)
            case ("/me", "Bearer new"): .json("{}")
            default: .status(.unauthorized)
            }
        } _: { server in
            let config = Locked(URLSession.Config().with { $0.logger = nil })
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                Token("old")
            } refresh: { _ in
                let request = URLRequest.with(server.config) { $0.path = "/token" }
                let answer: [String: String] = try await server.session
                    .response(for: request, config: config.withLock { $0 }).validated().decode()
                return Token(answer["token"] ?? "")
            }
            config.withLock { $0.authenticator = authenticator }
            let response = try await server.session.response(
                for: URLRequest.with(server.config) { $0.path = "/me" }, config: config.withLock { $0 })
            #expect(response.isSuccess)
        }
    }

    @Test func `a token that is set counts more than a refresh that was under way`() async throws {
        let (entered, signal) = AsyncStream.makeStream(of: Void.self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            Token("old")
        } refresh: { _ in
            signal.yield()
            for await _ in opened { break }
            return Token("of-the-user-before")
        }
        _ = try await authenticator.sent()
        let replay = Task { try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")) }
        for await _ in entered { break }
        await authenticator.setToken(Token("of-the-next-user"))
        open.yield()
        #expect(try await replay.value)
        #expect(try await authenticator.sent() == "Bearer of-the-next-user")
    }

    @Test func `a token that is set ends the wait for a refresh of the old, and is refreshed on its own`() async throws
    {
        let (entered, signal) = AsyncStream.makeStream(of: String.self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            Token("old")
        } refresh: { refused in
            signal.yield(refused.value)
            guard refused.value == "old" else { return Token("newest") }
            for await _ in opened { break }
            throw Unreachable()
        }
        _ = try await authenticator.sent()
        let waiting = Task { try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")) }
        var refreshed = entered.makeAsyncIterator()
        #expect(await refreshed.next() == "old")
        await authenticator.setToken(Token("fresh"))
        #expect(try await waiting.value)
        #expect(try await authenticator.sent() == "Bearer fresh")
        #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "fresh")))
        #expect(await refreshed.next() == "fresh")
        open.yield()
        #expect(try await authenticator.sent() == "Bearer newest")
    }

    @Test func `a renewal that has yet to begin brings nothing once a token is set`() async throws {
        for _ in 0..<500 {
            let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
                Token("old")
            } refresh: { _ in
                Token("stale")
            }
            _ = try await authenticator.sent()
            async let replay = authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old"))
            async let set: Void = authenticator.setToken(Token("fresh"))
            _ = try await (replay, set)
            for _ in 0..<5 { await Task.yield() }
            #expect(try await authenticator.sent() == "Bearer fresh")
        }
    }

    @Test func `a renewal that has yet to begin calls nothing once a token is set`() async throws {
        let (entered, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let blocks = Locked(false)
        let authorization = { @Sendable (token: String) -> Authorization in
            if blocks.withLock({ $0 }) {
                blocks.set(\.self, false)
                entered.signal()
                opened.wait()
            }
            return .bearer(token)
        }
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"], authorization: authorization) {
            Token("old")
        } refresh: { _ in
            Issue.record("the user has signed in anew by then")
            return nil
        }
        _ = try await authenticator.sent()
        // While this request keeps the authenticator busy, the others wait.
        blocks.set(\.self, true)
        async let busy = authenticator.sent()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                entered.wait()
                continuation.resume()
            }
        }
        async let refused = authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old"))
        for _ in 0..<1000 { await Task.yield() }
        async let set: Void = authenticator.setToken(Token("fresh"))
        for _ in 0..<1000 { await Task.yield() }
        opened.signal()
        #expect(try await (busy, refused, set).1)
        #expect(try await authenticator.sent() == "Bearer fresh")
    }

    @Test(
        .silentByDefault,
        arguments: [
            ("localhost:8080", "http://localhost:8080", true), ("localhost:8080", "http://localhost:8081", false),
            ("localhost", "http://localhost:8081", true),
            ("https://api.example.com/v2", "https://api.example.com", true),
            ("https://api.example.com", "http://api.example.com", false), ("h:443", "https://h", true),
            ("h:443", "http://h", false), ("h:80", "http://h", true), ("h", "https://h:443", true),
            ("[::1]", "http://[::1]:80", true), ("::1", "http://[::1]", false), ("", "http://h", false),
            ("*.example.com", "http://a.example.com", false), ("api example", "http://api", false),
            ("*", "http://h", false), ("api.example.com:443", "https://api.example.com", true),
            ("https://api.example.com:443", "https://api.example.com", true),
            ("api.example.com:80", "https://api.example.com", false), ("[::1]:80", "http://[::1]", true),
            ("HTTPS://api.example.com", "http://api.example.com", false),
            ("api.example.com", "http://api.example.com", true), ("127.0.0.1/evil", "http://127.0.0.1", false),
            ("127.0.0.1:99999999999999999999", "http://127.0.0.1", false),
            ("127.0.0.1:65536", "http://127.0.0.1", false),
            ("127.0.0.1,h", "http://127.0.0.1,h", false), ("[::1]", "http://[::1]", true),
            ("evil@127.0.0.1", "http://127.0.0.1", false), ("https://evil@h", "https://h", false),
            ("@h", "https://h", false), ("evil:@h", "https://h", false), ("h/", "https://h", false),
            ("/h", "https://h", false), ("//h", "https://h", false), ("h?evil", "https://h", false),
            ("https://h/?evil", "https://h", false), ("h#evil", "https://h", false), ("h\\evil", "https://h", false),
            ("h:", "https://h", true), ("https://h:", "https://h", true), ("https://h:/v2", "https://h", true),
            (" h", "https://h", false), ("h\n", "https://h", false), ("h\t", "https://h", false),
            ("h%2Fevil", "https://h", false), ("h:80:90", "http://h", false), ("h://", "http://h", false),
        ] as [(String, String, Bool)])
    func `a host may be named with its port or its scheme`(entry: String, host: String, isServed: Bool) async throws {
        let authenticator = TokenAuthenticator(hosts: [entry]) {
            Token("t")
        } refresh: { _ in
            nil
        }
        #expect(try await authenticator.sent(host: host) == (isServed ? "Bearer t" : nil))
    }

    @Test func `a token shows no more than its expiry`() {
        #expect("\(Token("s3cret"))" == "Token(***, expiry: unknown)")
    }
}
