import Foundation
import Testing

@testable import URLConfig

/// A `load` or `refresh` that does not return.
@Suite(.timeLimit(.minutes(10))) struct TokenAuthenticatorRenewalLimitTests {
    private typealias Token = TokenAuthenticator.Token
    private struct Unreachable: Error {}

    private let clock = TestClock()
    /// How often the authenticator has read the clock.
    private let timeChecks = Locked(0)

    private func now() -> Date {
        timeChecks.withLock { $0 += 1 }
        return Date()
    }

    /// Waits until the authenticator has taken the result of `refresh`: only then does it read the clock.
    private func whenTaken(_ makeReturn: () -> Void) async {
        let before = timeChecks.withLock { $0 }
        makeReturn()
        while timeChecks.withLock({ $0 }) == before, !Task.isCancelled { await Task.yield() }
    }

    /// An authenticator whose first refresh waits at the gate and returns "first"; the next returns "second".
    private func authenticator(_ gate: Gate) async -> TokenAuthenticator {
        let refreshes = Locked(0)
        return await TokenAuthenticator(hosts: ["api.example.com"], clock: clock) {
            now()
        } load: {
            Token("old")
        } refresh: { _ in
            let isFirst = refreshes.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return Token("second") }
            await gate.pass()
            return Token("first")
        }
    }

    /// Refuses the first token, and lets the time for a new one expire.
    private func passLimit(_ authenticator: TokenAuthenticator, _ gate: Gate) async throws {
        #expect(try await authenticator.sent() == "Bearer old")
        async let refused = authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old"))
        await gate.waitForArrivals()
        await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        do {
            _ = try await refused
            Issue.record("the refresh has not returned")
        } catch let error as RequestError {
            #expect(error.code == .authenticationTimedOut)
        }
    }

    @Test(arguments: ["load", "refresh"])
    func `a renewal that waits for a call in another task ends at its limit, and the next call may try again`(
        function: String
    ) async throws {
        let box = Locked<TokenAuthenticator?>(nil)
        let calls = Locked(0)
        @Sendable func renew() async throws -> Token {
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            guard isFirst, let authenticator = box.withLock({ $0 }) else { return Token("new") }
            _ = try await Task.detached { try await authenticator.sent() }.value
            return Token("never")
        }
        let authenticator = await TokenAuthenticator(
            hosts: ["b.example.com", "api.example.com"], renewalLimit: .seconds(5), clock: clock
        ) {
            Date()
        } load: {
            function == "load" ? try await renew() : Token("old")
        } refresh: { _ in
            try await renew()
        }
        box.set(\.self, authenticator)
        @Sendable func call() async throws -> String? {
            if function == "load" { return try await authenticator.sent() }
            _ = try await authenticator.sent()
            guard try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")) else { return nil }
            return try await authenticator.sent()
        }
        async let waiting = call()
        while await authenticator.waiting < 2, !Task.isCancelled { await Task.yield() }
        await clock.waitForSleepers()
        clock.advance(by: .milliseconds(4999))
        #expect(await authenticator.waiting == 2)
        clock.advance(by: .milliseconds(1))
        do {
            _ = try await waiting
            Issue.record("the \(function) has not returned")
        } catch let error as RequestError {
            #expect(error.code == .authenticationTimedOut)
            #expect(
                error.reason
                    == "the authenticator of api.example.com, b.example.com has no token: its '\(function)' did not "
                    + "return within 5.0 s. If it waits for a call with this authenticator in another task, set "
                    + "'authorize = false' for that call")
        }
        #expect(await authenticator.waiting == 0)
        #expect(try await call() == "Bearer new")
    }

    @Test func `a call ends with the error, before anything is sent`() async throws {
        let gate = Gate()
        defer { gate.open() }
        let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"], renewalLimit: .zero) {
            await gate.pass()
            return nil
        } refresh: { _ in
            nil
        }
        let error = await #expect(throws: RequestError.self) {
            try await URLSession.shared.response(for: .with(.init(host: "http://127.0.0.1:1")) { _ in }) {
                $0.logger = nil
                $0.authenticator = authenticator
            }
        }
        #expect(error?.code == .authenticationTimedOut)
        #expect(error?.attempts.isEmpty == true)
    }

    @Test func `a limit of zero has passed before anything returns`() async throws {
        let authenticator = TokenAuthenticator(hosts: ["api.example.com"], renewalLimit: .zero) {
            throw Unreachable()
        } refresh: { _ in
            nil
        }
        let error = await #expect(throws: RequestError.self) { try await authenticator.sent() }
        #expect(error?.code == .authenticationTimedOut)
    }

    @Test func `a token that comes late is kept if no other one has come`() async throws {
        let gate = Gate()
        let authenticator = await authenticator(gate)
        try await passLimit(authenticator, gate)
        #expect(try await authenticator.sent() == "Bearer old")
        await whenTaken { gate.open() }
        #expect(try await authenticator.sent() == "Bearer first")
    }

    @Test(arguments: ["refreshed", "set", "signed out"])
    func `a token that comes late is dropped if another one has come`(how: String) async throws {
        let gate = Gate()
        let authenticator = await authenticator(gate)
        try await passLimit(authenticator, gate)
        switch how {
        case "set": await authenticator.setToken(Token("second"))
        case "signed out": await authenticator.setToken(nil)
        default: #expect(try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")))
        }
        await whenTaken { gate.open() }
        #expect(try await authenticator.sent() == (how == "signed out" ? nil : "Bearer second"))
    }

    @Test(arguments: ["token", "none", "failure"])
    func `of a renewal past its limit, only a token ends the wait for the next`(result: String) async throws {
        let (first, second) = (Gate(), Gate())
        let calls = Locked(0)
        let authenticator = await TokenAuthenticator(hosts: ["api.example.com"], clock: clock) {
            now()
        } load: {
            Token("old")
        } refresh: { _ in
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            guard isFirst else {
                await second.pass()
                return Token("second")
            }
            await first.pass()
            if result == "failure" { throw Unreachable() }
            return result == "token" ? Token("first") : nil
        }
        try await passLimit(authenticator, first)
        let waiting = Task { try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")) }
        await second.waitForArrivals()
        await whenTaken { first.open() }
        #expect(await authenticator.waiting == (result == "token" ? 0 : 1))
        await whenTaken { second.open() }
        #expect(try await waiting.value)
        #expect(try await authenticator.sent() == (result == "token" ? "Bearer first" : "Bearer second"))
    }

    @Test func `a token that is still good is used when its refresh does not return`() async throws {
        let gate = Gate()
        defer { gate.open() }
        let now = Locked(Date(timeIntervalSince1970: 1000))
        let authenticator = await TokenAuthenticator(hosts: ["api.example.com"], clock: clock) {
            now.withLock { $0 }
        } load: {
            Token("good", expiry: Date(timeIntervalSince1970: 1100))
        } refresh: { _ in
            await gate.pass()
            return nil
        }
        #expect(try await authenticator.sent() == "Bearer good")
        for (second, count) in [(1080.0, 1), (1100, 2)] {
            now.withLock { $0 = Date(timeIntervalSince1970: second) }
            let waiting = Task { try await authenticator.sent() }
            await gate.waitForArrivals(count)
            await clock.waitForSleepers()
            clock.advance(by: .seconds(30))
            if second < 1100 {
                #expect(try await waiting.value == "Bearer good")
            } else {
                await #expect(throws: RequestError.self) { try await waiting.value }
            }
        }
    }

    @Test func `what a refresh sends past its limit does not wait for itself`() async throws {
        let gate = Gate()
        let sent = Locked<[String?]>([])
        let box = Locked<TokenAuthenticator?>(nil)
        let authenticator = await TokenAuthenticator(hosts: ["api.example.com"], clock: clock) {
            Date()
        } load: {
            Token("old")
        } refresh: { _ in
            await gate.pass()
            let token = try await box.withLock { $0 }?.sent()
            sent.withLock { $0.append(token) }
            return nil
        }
        box.set(\.self, authenticator)
        try await passLimit(authenticator, gate)
        gate.open()
        while sent.withLock({ $0.isEmpty }), !Task.isCancelled { await Task.yield() }
        #expect(sent.withLock { $0 } == [nil])
    }

    @Test func `ten thousand requests that give up leave no one waiting, and the refresh goes on`() async throws {
        let gate = Gate()
        let authenticator = await authenticator(gate)
        #expect(try await authenticator.sent() == "Bearer old")
        let starter = Task { try await authenticator.reauthorize(after: TokenAuthenticator.refusal(of: "old")) }
        await gate.waitForArrivals()
        let calls = (0..<10_000).map { _ in Task { try await authenticator.sent() } }
        while await authenticator.waiting <= 10_000, !Task.isCancelled { await Task.yield() }
        for call in calls { call.cancel() }
        #expect(await authenticator.waiting == 1)
        var cancelled = 0
        for call in calls { if case .failure(is CancellationError) = await call.result { cancelled += 1 } }
        #expect(cancelled == 10_000)
        starter.cancel()
        await #expect(throws: CancellationError.self) { try await starter.value }
        #expect(await authenticator.waiting == 0)
        await whenTaken { gate.open() }
        #expect(try await authenticator.sent() == "Bearer first")
    }
}
