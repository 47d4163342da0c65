import Testing

@testable import URLConfig

/// Tokens with an expiry.
@Suite(.timeLimit(.minutes(10))) struct TokenAuthenticatorExpiryTests {
    private typealias Token = TokenAuthenticator.Token
    private struct Unreachable: Error {}

    @Test func `a token is refreshed shortly before it expires, and once only`() async throws {
        let now = Locked(Date(timeIntervalSince1970: 1000))
        let refreshes = Locked(0)
        let authenticator = await TokenAuthenticator(hosts: ["api.example.com"], leeway: .seconds(30)) {
            now.withLock { $0 }
        } load: {
            Token("first", expiry: Date(timeIntervalSince1970: 1100))
        } refresh: { _ in
            refreshes.withLock { $0 += 1 }
            return Token("second", expiry: Date(timeIntervalSince1970: 900))
        }
        #expect(try await authenticator.sent() == "Bearer first")
        now.withLock { $0 = Date(timeIntervalSince1970: 1069) }
        #expect(try await authenticator.sent() == "Bearer first")
        now.withLock { $0 = Date(timeIntervalSince1970: 1070) }
        #expect(try await authenticator.sent() == "Bearer second")
        #expect(refreshes.withLock { $0 } == 1)
    }

    @Test func `a refresh before its time that fails leaves a good token in use`() async throws {
        let now = Locked(Date(timeIntervalSince1970: 1080))
        let authenticator = await TokenAuthenticator(hosts: ["api.example.com"]) {
            now.withLock { $0 }
        } load: {
            Token("good", expiry: Date(timeIntervalSince1970: 1100))
        } refresh: { _ in
            throw Unreachable()
        }
        #expect(try await authenticator.sent() == "Bearer good")
        now.withLock { $0 = Date(timeIntervalSince1970: 1100) }
        await #expect(throws: Unreachable.self) { try await authenticator.sent() }
    }

    @Test(arguments: [false, true])
    func `who joins a refresh before its time, which fails, has the good token too, unless it was refused`(
        isRefused: Bool
    ) async throws {
        let now = Locked(Date(timeIntervalSince1970: 1000))
        let (entered, signal) = AsyncStream.makeStream(of: Void.self)
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let authenticator = await TokenAuthenticator(hosts: ["api.example.com"]) {
            now.withLock { $0 }
        } load: {
            Token("good", expiry: Date(timeIntervalSince1970: 1100))
        } refresh: { _ in
            signal.yield()
            for await _ in opened { break }
            throw Unreachable()
        }
        #expect(try await authenticator.sent() == "Bearer good")
        now.withLock { $0 = Date(timeIntervalSince1970: 1080) }
        let first = Task { try await authenticator.sent() }
        for await _ in entered { break }
        let second = Task { try await authenticator.sent() }
        while await authenticator.waiting < 2, !Task.isCancelled { await Task.yield() }
        let refused = Task {
            isRefused ? try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "good")) : true
        }
        while await authenticator.waiting < (isRefused ? 3 : 2), !Task.isCancelled { await Task.yield() }
        open.yield()
        for task in [first, second] {
            if isRefused {
                await #expect(throws: Unreachable.self) { try await task.value }
            } else {
                #expect(try await task.value == "Bearer good")
            }
        }
        if isRefused { await #expect(throws: Unreachable.self) { try await refused.value } }
    }

    @Test func `a token that lives no longer than the leeway is used for half its life`() async throws {
        let now = Locked(Date(timeIntervalSince1970: 1000))
        let refreshes = Locked(0)
        let authenticator = await TokenAuthenticator(hosts: ["api.example.com"], leeway: .seconds(30)) {
            now.withLock { $0 }
        } load: {
            Token("first", expiry: Date(timeIntervalSince1970: 1020))
        } refresh: { _ in
            refreshes.withLock { $0 += 1 }
            return Token("second", expiry: Date(timeIntervalSince1970: 1040))
        }
        for (second, token, count) in [
            (1000.0, "first", 0), (1009, "first", 0), (1010, "second", 1), (1011, "second", 1),
        ] {
            now.withLock { $0 = Date(timeIntervalSince1970: second) }
            #expect(try await authenticator.sent() == "Bearer \(token)")
            #expect(refreshes.withLock { $0 } == count)
        }
    }
}
