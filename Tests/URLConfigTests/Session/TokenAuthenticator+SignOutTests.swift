import FlyingFox
import Testing

@testable import URLConfig

/// The cases in which the user is signed out.
@Suite(.timeLimit(.minutes(10))) struct TokenAuthenticatorSignOutTests {
    /// Calls a server that refuses every request.
    private func call(_ server: Loopback, _ authenticator: TokenAuthenticator, _ journal: Journal) async {
        let error = await #expect(throws: RequestError.self) {
            try await server.session.response(for: .with(server.config) { _ in }) {
                $0.logger = nil
                $0.authenticator = authenticator
                $0.onUnauthorized = { _ in await journal.note("signed out") }
            }
        }
        #expect(error?.code == .unauthorized)
    }

    @Test func `who waits for a token that cannot be had signs out no second time`() async throws {
        let (journal, gate) = (Journal(), Gate())
        try await Loopback.serving { _ in
            .status(.unauthorized)
        } _: { server in
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                .init("old")
            } refresh: { _ in
                await gate.pass()
                return nil
            }
            // One request is refused, another one waits for its token.
            async let refused: Void = call(server, authenticator, journal)
            await gate.waitForArrivals()
            async let waiting: Void = call(server, authenticator, journal)
            while await authenticator.waiting < 2, !Task.isCancelled { await Task.yield() }
            gate.open()
            _ = await (refused, waiting)
            await call(server, authenticator, journal)
            #expect(await journal.entries == ["signed out"])
            // After a new sign-in, it is reported again.
            await authenticator.setToken(.init("old"))
            await call(server, authenticator, journal)
            #expect(await journal.entries == ["signed out", "signed out"])
        }
    }

    @Test func `a request within refresh asks for no credentials, though who began it was cancelled`() async throws {
        let (journal, gate) = (Journal(), Gate())
        try await Loopback.serving { _ in
            .status(.unauthorized)
        } _: { server in
            let config = Locked(URLSession.Config().with { $0.logger = nil })
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                .init("old")
            } refresh: { _ in
                await gate.pass()
                let answer = try await server.session.response(
                    for: .with(server.config) { _ in }, config: config.withLock { $0 })
                await journal.note("refresh: \(answer.status.code)")
                return nil
            }
            config.withLock {
                $0.authenticator = authenticator
                $0.onUnauthorized = { _ in await journal.note("signed out") }
            }
            let starter = Task {
                try await server.session.response(for: .with(server.config) { _ in }, config: config.withLock { $0 })
            }
            await gate.waitForArrivals()
            starter.cancel()
            await #expect(throws: CancellationError.self) { try await starter.value }
            async let waiting: Void = call(server, authenticator, journal)
            while await authenticator.waiting < 1, !Task.isCancelled { await Task.yield() }
            gate.open()
            await waiting
            #expect(await journal.entries == ["refresh: 401", "signed out"])
        }
    }

    @Test func `who was found signed in since can be signed out again`() async throws {
        let (journal, stored) = (Journal(), Locked<String?>(nil))
        try await Loopback.serving { _ in
            .status(.unauthorized)
        } _: { server in
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                stored.withLock { $0 }.map { .init($0) }
            } refresh: { _ in
                nil
            }
            for token in [nil, nil, "a", "a", "b", nil] {
                stored.withLock { $0 = token }
                await call(server, authenticator, journal)
                await journal.note(token ?? "nobody")
            }
        }
        #expect(
            await journal.entries == [
                "signed out", "nobody", "nobody", "signed out", "a", "a", "signed out", "b", "nobody",
            ])
    }
}
