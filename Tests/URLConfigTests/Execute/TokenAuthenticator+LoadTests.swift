import Testing

@testable import URLConfig

/// Many requests with one token, in every order.
@Suite(.serialized, .inTime) struct TokenAuthenticatorLoadTests {
    /// Requests, refusals early and late, refreshes that fail, cancelled waiters, sign-in and sign-out, in a hundred
    /// orders: no request is sent with a token that was replaced before the request began, and none hangs.
    @Test(arguments: 0..<100) func `any order leaves one truth`(seed: UInt64) async throws {
        let server = Locked(1)
        let inFlight = Locked(0)
        let authenticator = TokenAuthenticator("1") { refused in
            let count = inFlight.withLock { inFlight in
                inFlight += 1
                return inFlight
            }
            #expect(count == 1, "two refreshes at once")
            defer { inFlight.withLock { $0 -= 1 } }
            var generator = SeededGenerator(seed: seed &+ UInt64(server.withLock { $0 }))
            for _ in 0..<Int.random(in: 0...20, using: &generator) { await Task.yield() }
            if Int.random(in: 0..<4, using: &generator) == 0 { throw Unreachable() }
            return .init("\(server.withLock { max($0, (Int(refused.value) ?? 0) + 1) })")
        }
        let original = URLRequest.with(.init(host: "https://api.example.com")) { _ in }
        var generator = SeededGenerator(seed: seed)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                let yields = Int.random(in: 0...30, using: &generator)
                let isCancelled = Int.random(in: 0..<6, using: &generator) == 0
                let revokes = Int.random(in: 0..<8, using: &generator) == 0
                group.addTask {
                    let call = Task {
                        for _ in 0..<yields { await Task.yield() }
                        if revokes { server.withLock { $0 += 1 } }
                        for _ in 0..<10 {
                            var request = original
                            let valid = server.withLock { $0 }
                            try await authenticator.authorize(&request)
                            let token = Int(request.field("Authorization")?.dropFirst(7) ?? "") ?? 0
                            #expect(token > 0)
                            if token >= valid { return }
                            let refusal = DataResponse(request: request, status: .unauthorized)
                            #expect(try await authenticator.reauthorize(after: refusal))
                        }
                    }
                    if isCancelled { call.cancel() }
                    do {
                        try await call.valueInTime
                    } catch is Unreachable {
                    } catch is CancellationError where isCancelled {}
                }
            }
            try await group.waitForAll()
        }
        // A refresh continues after its last waiter was cancelled.
        await authenticator.waitForWaiters(0)
    }
}
