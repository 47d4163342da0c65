import Foundation
import Testing

@testable import URLConfig

/// Very many requests with one token, over a real socket and in every order.
@Suite(.serialized, .inTime) struct TokenAuthenticatorLoadTests {
    /// Fewer in a debug build on AsyncHTTPClient, where ten thousand take more than half a minute.
    ///
    /// There the queue is copied for each call, and swift-nio looks slowly for its timer among all timers. An optimized
    /// build needs less than a second.
    private static let calls: Int = {
        #if DEBUG
        if TransportOfTests.isAsyncHTTPClient { return 2_000 }
        #endif
        return 10_000
    }()

    #if os(Linux) || os(macOS)
    // In a process of its own: each step of another test would wait behind the steps of all these calls.
    @Test func `thousands of concurrent refusals by a server cause one refresh`() async throws {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck(after: 600)
            try await Self.refuseConcurrently()
        }
    }
    #endif

    private static func refuseConcurrently() async throws {
        let requests = Locked(0)
        let refreshes = Recorder<Void>()
        let guarded = FaultServer.Fault { connection in
            while true {
                let isNew = try connection.read().field("Authorization") == "Bearer new"
                requests.withLock { $0 += 1 }
                let status = isNew ? "200 OK" : "401 Unauthorized"
                try connection.send("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\n{}")
            }
        }
        try await FaultServer.serving(guarded) { server in
            let authenticator = TokenAuthenticator("old") { _ in
                refreshes.note(())
                return "new"
            }
            let request = URLRequest.with(server.config) { _ in }
            let config = URLSession.Config.silent.with {
                $0.authenticator = FirstTogether(inner: authenticator, count: calls)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<calls {
                    group.addTask {
                        let response = try await server.session.response(for: request, config: config)
                        #expect(response.isSuccess)
                        #expect(response.attempts.map(\.status?.code) == [401, 200])
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(refreshes.count == 1)
        #expect(requests.withLock { $0 } == 2 * calls)
    }

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

/// Delays the first authorizations until all have begun, so that all requests are sent with the first token.
private struct FirstTogether: Authenticator {
    let inner: TokenAuthenticator
    let count: Int
    private let waiting = Locked<[OneShot<Void>]>([])

    func authorize(_ request: inout URLRequest) async throws {
        try await inner.authorize(&request)
        let turn = OneShot<Void>()
        let all = waiting.withLock { waiting in
            waiting.append(turn)
            return waiting.count < count ? [] : waiting.count == count ? waiting : [turn]
        }
        for promise in all { promise.resolve(.success(())) }
        try await turn.value()
    }

    func reauthorize(after response: DataResponse) async throws -> Bool {
        try await inner.reauthorize(after: response)
    }
}
