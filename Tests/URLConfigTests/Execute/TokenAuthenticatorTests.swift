import Testing

@testable import URLConfig

/// Hosts, refreshes, expiry, signing in and out, without a server.
@Suite(.inTime) struct TokenAuthenticatorTests {
    private typealias Token = TokenAuthenticator.Token

    private static let start = Date(timeIntervalSince1970: 1000)
    private let now = Locked(start)
    /// The tokens that `refresh` received.
    private let refreshed = Recorder<String>()
    /// What `load` returns, and how often it was called.
    private let stored = Locked<Token?>(nil)
    private let loads = Recorder<Void>()

    /// Moves the time to this many seconds after the start.
    private func setTime(_ seconds: Double) { now.set(\.self, Self.start + seconds) }

    /// An authenticator that loads the stored token.
    private func authenticator(
        refresh: @escaping @Sendable (Token) async throws -> Token? = { _ in nil }
    ) async -> TokenAuthenticator {
        await TokenAuthenticator {
            now.withLock { $0 }
        } load: {
            loads.note(())
            return stored.withLock { $0 }
        } refresh: { token in
            refreshed.note(token.value)
            return try await refresh(token)
        }
    }

    @Test func `the token goes to its hosts only`() async throws {
        let authenticator = TokenAuthenticator("secret", hosts: ["API.example.com"]) { _ in
            Issue.record("another host's refusal is none of its business")
            return "other"
        }
        #expect(try await authenticator.sent() == "Bearer secret")
        for host in ["https://example.com", "https://api.example.com.evil.com", "https://evil.com", "http://127.0.0.1"]
        {
            #expect(try await authenticator.sent(host: host) == nil)
            let other = DataResponse(request: URLRequest.with(.init(host: host)) { _ in }, status: .unauthorized)
            #expect(try await authenticator.reauthorize(after: other) == false)
        }
    }

    @Test func `a refusal that comes late is no second refresh`() async throws {
        stored.set(\.self, "old")
        let authenticator = await authenticator { _ in "new" }
        #expect(try await authenticator.sent() == "Bearer old")
        for _ in 0..<2 { #expect(try await authenticator.refuse("old")) }
        #expect(try await authenticator.sent() == "Bearer new")
        #expect(loads.count == 1 && refreshed.entries == ["old"])
    }

    @Test func `without refresh, load is asked for another token, and a refused one is not sent again`() async throws {
        stored.set(\.self, "first")
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) { stored.withLock { $0 } }
        #expect(try await authenticator.sent() == "Bearer first")
        stored.set(\.self, "second")
        #expect(try await authenticator.refuse("first"))
        #expect(try await authenticator.sent() == "Bearer second")
        #expect(try await authenticator.refuse("second") == false)
        #expect(try await authenticator.sent() == nil)
        stored.set(\.self, "third")
        #expect(try await authenticator.sent() == "Bearer third")
    }

    @Test func `without refresh, a refused token with an expiry is not sent again either`() async throws {
        let token = Token("first", expiry: Date(timeIntervalSinceNow: 3600))
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) { token }
        #expect(try await authenticator.sent() == "Bearer first")
        #expect(try await authenticator.refuse("first") == false)
        #expect(try await authenticator.sent() == nil)
    }

    @Test func `without refresh, a token that load does not know is used until it is refused`() async throws {
        stored.set(\.self, nil)
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) { stored.withLock { $0 } }
        await authenticator.set(now: { Self.start })
        await authenticator.setToken(Token("set", expiry: Self.start + 100))
        await authenticator.set(now: { Self.start + 99 })
        #expect(try await authenticator.sent() == "Bearer set")
        stored.set(\.self, "set")
        #expect(try await authenticator.sent() == "Bearer set")
        #expect(try await authenticator.refuse("set") == false)
        #expect(try await authenticator.sent() == nil)
    }

    @Test func `without refresh, the stored token is used until it expires`() async throws {
        let token = Token("first", expiry: Self.start + 100)
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
            loads.note(())
            return token
        }
        await authenticator.set(now: { Self.start })
        #expect(try await authenticator.sent() == "Bearer first")
        await authenticator.set(now: { Self.start + 99 })
        for _ in 0..<3 { #expect(try await authenticator.sent() == "Bearer first") }
        #expect(loads.count > 1)
    }

    @Test func `a token is refreshed shortly before it expires, and once only`() async throws {
        stored.set(\.self, Token("first", expiry: Self.start + 100))
        let authenticator = await authenticator { _ in Token("second", expiry: Self.start - 100) }
        for (time, token) in [(0.0, "first"), (69, "first"), (70, "second")] {
            setTime(time)
            #expect(try await authenticator.sent() == "Bearer \(token)")
        }
        #expect(refreshed.count == 1)
    }

    @Test func `a token that lives no longer than the leeway is used for half its life`() async throws {
        stored.set(\.self, Token("first", expiry: Self.start + 20))
        let authenticator = await authenticator { _ in Token("second", expiry: Self.start + 40) }
        for (time, token, count) in [(0.0, "first", 0), (9, "first", 0), (10, "second", 1), (11, "second", 1)] {
            setTime(time)
            #expect(try await authenticator.sent() == "Bearer \(token)")
            #expect(refreshed.count == count)
        }
    }

    @Test func `a token of a sign-in since is loaded, once`() async throws {
        let authenticator = await authenticator()
        for _ in 0..<2 { #expect(try await authenticator.sent() == nil) }
        #expect(try await authenticator.refuse(nil) == false)
        let before = loads.count
        stored.set(\.self, "a")
        for _ in 0..<2 { #expect(try await authenticator.sent() == "Bearer a") }
        #expect(loads.count == before + 1)
        #expect(refreshed.count == 0)
    }

    @Test func `a token that could not be replaced is not loaded again, until the app sets it`() async throws {
        let authenticator = await authenticator()
        for token in ["a", "b"] {
            stored.set(\.self, Token(token))
            #expect(try await authenticator.sent() == "Bearer \(token)")
            // After a late refusal of the token before, who has signed in since does not send the request again.
            if token == "b" { #expect(try await authenticator.refuse("a") == false) }
            #expect(try await authenticator.refuse(token) == false)
            #expect(try await authenticator.sent() == nil)
        }
        stored.set(\.self, "a")
        #expect(try await authenticator.sent() == nil)
        await authenticator.setToken("a")
        #expect(try await authenticator.sent() == "Bearer a")
    }

    @Test func `of very many tokens that could not be replaced, the last hundred are known`() async throws {
        let authenticator = await authenticator()
        for number in 0..<1_000 {
            stored.set(\.self, Token("token-\(number)"))
            #expect(try await authenticator.sent() == "Bearer token-\(number)")
            #expect(try await authenticator.refuse("token-\(number)") == false)
        }
        for (number, isKnown) in [(999, true), (900, true), (899, false)] {
            stored.set(\.self, Token("token-\(number)"))
            #expect(try await authenticator.sent() == (isKnown ? nil : "Bearer token-\(number)"))
        }
    }

    @Test func `signed out by the app, nothing is loaded until it sets a token`() async throws {
        stored.set(\.self, "a")
        let authenticator = await authenticator()
        await authenticator.setToken(nil)
        #expect(try await authenticator.sent() == nil)
        await authenticator.setToken("b")
        #expect(try await authenticator.sent() == "Bearer b")
        #expect(loads.count == 0)
    }

    @Test(
        .silentByDefault,
        arguments: [
            ("localhost:8080", "http://localhost:8080", true), ("localhost:8080", "http://localhost:8081", false),
            ("localhost", "http://localhost:8081", true),
            ("https://api.example.com/v2", "https://api.example.com", true),
            ("https://api.example.com", "http://api.example.com", false), ("h:443", "https://h", true),
            ("h:443", "http://h", false), ("http://h", "http://h", true), ("http://h:80", "http://h", true),
            ("h:80", "http://h", false), ("h:80", "https://h:80", true), ("a.localhost", "http://a.localhost", false),
            ("http://a.localhost", "http://a.localhost", true), ("127.0.0.2", "http://127.0.0.2", true),
            ("127.0.0.1.5", "http://127.0.0.1.5", false), ("127.0.0.256", "http://127.0.0.256", false),
            ("127.0.0.2", "http://127.0.0.2:1", true), ("127.0.0.1.evil.com", "http://127.0.0.1.evil.com", false),
            ("h", "https://h:443", true),
            ("[::1]", "http://[::1]:80", true), ("::1", "http://[::1]", false), ("", "http://h", false),
            ("*.example.com", "http://a.example.com", false), ("api example", "http://api", false),
            ("*", "http://h", false), ("api.example.com:443", "https://api.example.com", true),
            ("https://api.example.com:443", "https://api.example.com", true),
            ("api.example.com:80", "https://api.example.com", false), ("[::1]:80", "http://[::1]", true),
            ("HTTPS://api.example.com", "http://api.example.com", false),
            ("api.example.com", "http://api.example.com", false), ("127.0.0.1/evil", "http://127.0.0.1", false),
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
        let authenticator = TokenAuthenticator("t", hosts: [entry]) { _ in nil }
        #expect(try await authenticator.sent(host: host) == (isServed ? "Bearer t" : nil))
    }

    @Test func `a token shows no more than its expiry`() {
        #expect("\(Token("s3cret"))" == "Token(***, expiry: unknown)")
    }
}
