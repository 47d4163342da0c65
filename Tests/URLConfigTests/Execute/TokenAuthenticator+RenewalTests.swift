import Testing
import URLConfigTesting

@testable import URLConfig

/// Requests that wait for `load` or `refresh`, which may fail, come late, or never return.
@Suite(.inTime) struct TokenAuthenticatorRenewalTests {
    private typealias Token = TokenAuthenticator.Token

    private let clock = TestClock()
    private let gate = Gate()
    private let now = Locked(Date(timeIntervalSince1970: 1000))
    /// How often the authenticator has read the clock.
    private let timeChecks = Locked(0)
    /// The tokens that `refresh` received.
    private let refreshed = Recorder<String>()

    /// Waits until the authenticator has taken the result of `refresh`: only then does it read the clock.
    private func whenTaken(_ makeReturn: () -> Void) async throws {
        let before = timeChecks.withLock { $0 }
        makeReturn()
        try await waitUntil { timeChecks.withLock { $0 } > before }
    }

    /// An authenticator whose first refresh waits at the gate; `refresh` receives the number of the call.
    private func authenticator(
        _ loaded: Token = "old", refresh: @escaping @Sendable (Int) async throws -> Token?
    ) async -> TokenAuthenticator {
        await TokenAuthenticator(clock: clock) {
            timeChecks.withLock { $0 += 1 }
            return now.withLock { $0 }
        } load: {
            loaded
        } refresh: { token in
            let number = refreshed.note(token.value)
            if number == 1 { await gate.pass() }
            return try await refresh(number)
        }
    }

    private static func firstOrSecond(_ number: Int) -> Token { number == 1 ? "first" : "second" }

    /// Refuses the loaded token in another task, which then waits at the gate.
    private func refuse(by authenticator: TokenAuthenticator) async throws -> Task<Bool, any Error> {
        let token = try #require(try await authenticator.sent()).dropFirst("Bearer ".count)
        let refused = Task { try await authenticator.refuse(String(token)) }
        await gate.waitForArrivals()
        return refused
    }

    /// Refuses the loaded token, and lets the time for a new one expire.
    private func passLimit(of authenticator: TokenAuthenticator) async throws {
        let refused = try await refuse(by: authenticator)
        await clock.waitForSleepers()
        clock.move(by: .seconds(30))
        await expectError(.authenticationTimedOut) { try await refused.valueInTime }
    }

    @Test(arguments: [false, true])
    func `a refresh whose user signs out is cancelled, also if it is late`(isLate: Bool) async throws {
        let stored = Locked("old")
        let ended = Recorder<Void>()
        let authenticator = await authenticator { _ in
            defer { ended.note(()) }
            try Task.checkCancellation()
            stored.set(\.self, "first")
            return "first"
        }
        var refused: Task<Bool, any Error>?
        if isLate {
            try await passLimit(of: authenticator)
        } else {
            refused = try await refuse(by: authenticator)
        }
        await authenticator.setToken(nil)
        stored.set(\.self, "none")
        gate.open()
        try await waitUntil { ended.count == 1 }
        #expect(stored.withLock(\.self) == "none")
        let isSentAgain = try await refused?.valueInTime
        #expect(isSentAgain != true)
        #expect(try await authenticator.sent() == nil)
    }

    @Test func `a handler that blocks when a refresh is cancelled holds up nobody else`() async throws {
        let released = DispatchSemaphore(value: 0)
        let authenticator = TokenAuthenticator("old") { [gate] _ in
            await withTaskCancellationHandler(operation: { await gate.pass() }, onCancel: { released.wait() })
            return "first"
        }
        let refused = try await refuse(by: authenticator)
        await authenticator.setToken(nil)
        #expect(try await authenticator.sent() == nil)
        await authenticator.setToken("next")
        #expect(try await authenticator.sent() == "Bearer next")
        released.signal()
        _ = try await refused.valueInTime
    }

    @Test func `a refresh that signs the user out itself is not cancelled`() async throws {
        let box = Locked<TokenAuthenticator?>(nil)
        let ended = Recorder<Bool>()
        let authenticator = TokenAuthenticator("old") { _ in
            await box.withLock { $0.take() }?.setToken(nil)
            ended.note(Task.isCancelled)
            return nil
        }
        box.set(\.self, authenticator)
        #expect(try await authenticator.sent() == "Bearer old")
        #expect(try await !authenticator.refuse("old"))
        try await waitUntil { ended.entries == [false] }
    }

    @Test(arguments: [true, false])
    func `a late refresh is cancelled if the next one signs the user out`(setsToken: Bool) async throws {
        let (box, isCancelled) = (Locked<TokenAuthenticator?>(nil), Recorder<Bool>())
        let authenticator = await authenticator { number in
            if number == 1 { isCancelled.note(Task.isCancelled) }
            if number == 2, setsToken { await box.withLock { $0.take() }?.setToken(nil) }
            return nil
        }
        box.set(\.self, authenticator)
        try await passLimit(of: authenticator)
        #expect(try await !authenticator.refuse("old"))
        // The request does not wait for that.
        try await waitUntil { gate.cancelled == 1 }
        gate.open()
        try await waitUntil { isCancelled.entries == [true] }
    }

    @Test func `a refresh goes on if the app sets another token`() async throws {
        let stored = Locked("old")
        let authenticator = await authenticator { _ in
            try Task.checkCancellation()
            stored.set(\.self, "first")
            return "first"
        }
        let refused = try await refuse(by: authenticator)
        await authenticator.setToken("own")
        gate.open()
        #expect(try await refused.valueInTime)
        try await waitUntil { stored.withLock(\.self) == "first" }
        #expect(try await authenticator.sent() == "Bearer own")
    }

    @Test func `a failed refresh fails all who wait, and the next may try again`() async throws {
        let authenticator = await authenticator { number in
            if number == 1 { throw Unreachable() }
            return "new"
        }
        let first = try await refuse(by: authenticator)
        let others = (0..<100).map { _ in Task { try await authenticator.refuse("old") } }
        await authenticator.waitForWaiters(101)
        gate.open()
        for task in [first] + others { await #expect(throws: Unreachable.self) { try await task.valueInTime } }
        #expect(try await authenticator.refuse("old"))
        #expect(try await authenticator.sent() == "Bearer new")
        #expect(refreshed.entries == ["old", "old"])
    }

    @Test(arguments: [false, true])
    func `a refresh that fails leaves the token to all who wait until it expires, unless it was refused`(
        isRefused: Bool
    ) async throws {
        let expiry = now.withLock { $0 } + 100
        let authenticator = await authenticator(Token("good", expiry: expiry)) { _ in throw Unreachable() }
        #expect(try await authenticator.sent() == "Bearer good")
        now.withLock { $0 += 80 }
        let waiting = [Task { try await authenticator.sent() }, Task { try await authenticator.sent() }]
        await authenticator.waitForWaiters(2)
        let refused = Task { isRefused ? try await authenticator.refuse("good") : true }
        await authenticator.waitForWaiters(isRefused ? 3 : 2)
        gate.open()
        for task in waiting {
            if isRefused {
                await #expect(throws: Unreachable.self) { try await task.valueInTime }
            } else {
                #expect(try await task.valueInTime == "Bearer good")
            }
        }
        if isRefused { await #expect(throws: Unreachable.self) { try await refused.valueInTime } }
        now.withLock { $0 += 20 }
        await #expect(throws: Unreachable.self) { try await authenticator.sent() }
    }

    @Test func `a cancelled waiter ends at once, and the refresh goes on`() async throws {
        let authenticator = await authenticator { _ in
            try Task.checkCancellation()
            return "new"
        }
        let starter = try await refuse(by: authenticator)
        let waiter = Task { try await authenticator.refuse("old") }
        await authenticator.waitForWaiters(2)
        await starter.expectCancelled()
        #expect(await authenticator.waiting == 1)
        gate.open()
        #expect(try await waiter.valueInTime)
        #expect(try await authenticator.sent() == "Bearer new")
    }

    @Test func `ten thousand requests that give up leave no one waiting, and the refresh goes on`() async throws {
        let authenticator = await authenticator(refresh: Self.firstOrSecond)
        let starter = try await refuse(by: authenticator)
        let calls = (0..<10_000).map { _ in Task { try await authenticator.sent() } }
        await authenticator.waitForWaiters(10_001)
        for call in calls { call.cancel() }
        var cancelled = 0
        for call in calls { if case .failure(is CancellationError) = await call.result { cancelled += 1 } }
        #expect(cancelled == calls.count)
        #expect(await authenticator.waiting == 1)
        await starter.expectCancelled()
        #expect(await authenticator.waiting == 0)
        try await whenTaken { gate.open() }
        #expect(try await authenticator.sent() == "Bearer first")
        #expect(refreshed.count == 1)
    }

    @Test(arguments: [nil, "fresh"] as [Token?])
    private func `a token that is set ends the wait for a refresh, whose result is dropped`(token: Token?) async throws
    {
        let authenticator = await authenticator(refresh: Self.firstOrSecond)
        let waiting = try await refuse(by: authenticator)
        await authenticator.setToken(token)
        #expect(try await waiting.valueInTime == (token != nil))
        let field = token.map { "Bearer \($0.value)" }
        #expect(try await authenticator.sent() == field)
        try await whenTaken { gate.open() }
        #expect(try await authenticator.sent() == field)
    }

    @Test func `a token that is set is refreshed on its own`() async throws {
        let authenticator = await authenticator(refresh: Self.firstOrSecond)
        _ = try await refuse(by: authenticator)
        await authenticator.setToken("fresh")
        #expect(try await authenticator.refuse("fresh"))
        #expect(refreshed.entries == ["old", "fresh"])
        try await whenTaken { gate.open() }
        #expect(try await authenticator.sent() == "Bearer second")
    }

    @Test func `a renewal that has yet to begin calls nothing once a token is set`() async throws {
        let box = Locked<TokenAuthenticator?>(nil)
        let authenticator = await TokenAuthenticator {
            // This is the last step before a renewal. Its task needs the actor, which is given to this one first.
            box.withLock { $0.take() }?.assumeIsolated { authenticator in
                _ = Task { await authenticator.setToken("fresh") }
            }
            return Date()
        } load: {
            "old"
        } refresh: { _ in
            Issue.record("there is another token by then")
            return nil
        }
        _ = try await authenticator.sent()
        box.set(\.self, authenticator)
        #expect(try await authenticator.refuse("old"))
        #expect(try await authenticator.sent() == "Bearer fresh")
    }

    @Test(arguments: ["load", "refresh"])
    func `a renewal that waits for a call in another task ends at its limit, and the next call may try again`(
        function: String
    ) async throws {
        let box = Locked<TokenAuthenticator?>(nil)
        let calls = Recorder<Void>()
        @Sendable func renew() async throws -> Token {
            guard calls.note(()) == 1, let authenticator = box.withLock({ $0 }) else { return "new" }
            _ = try await Task.detached { try await authenticator.sent() }.value
            return "never"
        }
        let authenticator = await TokenAuthenticator(
            hosts: ["b.example.com", "api.example.com"], renewalLimit: .seconds(5), clock: clock, now: { Date() },
            load: { function == "load" ? try await renew() : "old" }, refresh: { _ in try await renew() })
        box.set(\.self, authenticator)
        @Sendable func call() async throws -> String? {
            if function == "refresh" {
                _ = try await authenticator.sent()
                guard try await authenticator.refuse("old") else { return nil }
            }
            return try await authenticator.sent()
        }
        let waiting = Task { try await call() }
        await authenticator.waitForWaiters(2)
        await clock.waitForSleepers()
        clock.move(by: .milliseconds(4999))
        #expect(await authenticator.waiting == 2)
        clock.move(by: .milliseconds(1))
        let error = await expectError(.authenticationTimedOut) { try await waiting.valueInTime }
        #expect(
            error?.reason
                == "the authenticator of api.example.com, b.example.com has no token: its '\(function)' did not "
                + "return within 5.0 s. If it waits for a call with this authenticator in another task, set "
                + "'authorize = false' for that call")
        await authenticator.waitForWaiters(0)
        #expect(try await call() == "Bearer new")
    }

    @Test func `a limit of zero has passed before anything returns or is sent`() async throws {
        let authenticator = TokenAuthenticator(
            hosts: ["127.0.0.1"], renewalLimit: .zero, load: { throw Unreachable() }, refresh: { _ in nil })
        let error = await expectError(.authenticationTimedOut) {
            try await URLSession.shared.response(for: .with(.init(host: "http://127.0.0.1:1")) { _ in }) {
                $0.logger = nil
                $0.authenticator = authenticator
            }
        }
        #expect(error?.attempts.isEmpty == true)
    }

    @Test(
        arguments: [
            ("nothing", "first"), ("refreshed", "second"), ("set", "second"), ("signed out", nil),
        ] as [(String, String?)])
    func `a token that comes late is kept if no other one has come since`(event: String, token: String?) async throws {
        let authenticator = await authenticator(refresh: Self.firstOrSecond)
        try await passLimit(of: authenticator)
        switch event {
        case "set": await authenticator.setToken("second")
        case "signed out": await authenticator.setToken(nil)
        case "refreshed": #expect(try await authenticator.refuse("old"))
        default: #expect(try await authenticator.sent() == "Bearer old")
        }
        try await whenTaken { gate.open() }
        #expect(try await authenticator.sent() == token.map { "Bearer \($0)" })
    }

    @Test(arguments: ["token", "none", "failure"])
    func `of a renewal past its limit, only a token ends the wait for the next`(result: String) async throws {
        let second = Gate()
        let authenticator = await authenticator { number in
            if number == 1 {
                if result == "failure" { throw Unreachable() }
                return result == "token" ? "first" : nil
            }
            await second.pass()
            return "second"
        }
        try await passLimit(of: authenticator)
        let waiting = Task { try await authenticator.refuse("old") }
        await second.waitForArrivals()
        try await whenTaken { gate.open() }
        await authenticator.waitForWaiters(result == "token" ? 0 : 1)
        try await whenTaken { second.open() }
        #expect(try await waiting.valueInTime)
        #expect(try await authenticator.sent() == (result == "token" ? "Bearer first" : "Bearer second"))
    }

    @Test func `a token that is still good is used when its refresh does not return`() async throws {
        let never = Gate()
        defer {
            gate.open()
            never.open()
        }
        let expiry = now.withLock { $0 } + 100
        let authenticator = await authenticator(Token("good", expiry: expiry)) { _ in
            await never.pass()
            return nil
        }
        #expect(try await authenticator.sent() == "Bearer good")
        for seconds in [80.0, 20] {
            now.withLock { $0 += seconds }
            let waiting = Task { try await authenticator.sent() }
            await authenticator.waitForWaiters(1)
            await clock.waitForSleepers()
            clock.move(by: .seconds(30))
            if seconds == 80 {
                #expect(try await waiting.valueInTime == "Bearer good")
            } else {
                await expectError(.authenticationTimedOut) { try await waiting.valueInTime }
            }
        }
    }

    @Test func `requests of a refresh past its limit do not wait for it`() async throws {
        let (box, sent) = (Locked<TokenAuthenticator?>(nil), OneShot<String?>())
        let authenticator = await authenticator { _ in
            let authenticator = box.withLock { $0 }
            sent.resolve(await Result { try await authenticator?.sent() })
            return nil
        }
        box.set(\.self, authenticator)
        try await passLimit(of: authenticator)
        gate.open()
        #expect(try await sent.value() == nil)
    }
}
