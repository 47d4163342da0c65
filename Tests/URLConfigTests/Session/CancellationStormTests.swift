import FlyingFox
import Foundation
import Testing

@testable import URLConfig

/// Very many calls, each cancelled at another moment: during data, redirect, retry, refusal or refresh.
///
/// They run in a separate process, where nothing else opens files and sockets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CancellationStormTests {
    private enum Fate: CaseIterable { case complete, cancelled, refused, failed }

    /// To change the number, as CI does: `STORM_CALLS=20000 swift test --filter CancellationStorm`.
    private static let calls = ProcessInfo.processInfo.environment["STORM_CALLS"].flatMap { Int($0) } ?? 4_000

    @Test func `thousands of calls end, each with a response or as cancelled`() async throws {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck(after: 600)
            try await Self.storm()
        }
    }

    private static func storm() async throws {
        let token = Locked(0)
        try await Loopback.serving { request in
            switch request.path {
            case "/data": .json(String(repeating: "x", count: 40_000))
            case "/hop": .redirect(.temporaryRedirect, to: "/data")
            case "/busy": .status(.serviceUnavailable)
            case "/me":
                request.headers[.authorization] == "Bearer \(token.withLock { $0 })"
                    ? .json("{}") : .status(.unauthorized)
            default: .status(.notFound)
            }
        } _: { server in
            let authenticator = TokenAuthenticator(hosts: ["127.0.0.1"]) {
                .init("0")
            } refresh: { _ in
                await Task.yield()
                return .init("\(token.withLock { $0 })")
            }
            let config = URLSession.Config.silent.with {
                $0.authenticator = authenticator
                $0.retry = .standard
                $0.retry.firstDelay = .milliseconds(2)
                $0.retry.isBudgeted = false
            }
            var generator = SeededGenerator(seed: 20_000)
            var fates: [Fate: Int] = [:]
            let before = ChildProcess.descriptors
            // The time of a call on this machine, among so many.
            let measured = try await ContinuousClock().measure {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<100 {
                        group.addTask { try await server.get("/data", config: config) }
                    }
                    try await group.waitForAll()
                }
            }
            let typical = min(measured, .seconds(1))
            try await withThrowingTaskGroup(of: Fate.self) { group in
                for index in 0..<calls {
                    if index >= 100, let fate = try await group.next() { fates[fate, default: 0] += 1 }
                    let path = ["/data", "/hop", "/busy", "/me"].randomElement(using: &generator) ?? ""
                    let patience = typical * Double.random(in: 0...1, using: &generator)
                    // The new token of a call may be replaced, too. Then the call ends as unauthorized.
                    if index.isMultiple(of: calls / 4) { token.withLock { $0 += 1 } }
                    group.addTask {
                        let call = Task { try await server.get(.init(path), config: config) }
                        try await Task.sleep(for: patience)
                        call.cancel()
                        switch await call.result {
                        case .success: return .complete
                        case .failure(is CancellationError): return .cancelled
                        case .failure(let error as RequestError) where error.code == .unauthorized: return .refused
                        case .failure(let error):
                            Issue.record(error)
                            return .failed
                        }
                    }
                }
                for try await fate in group { fates[fate, default: 0] += 1 }
            }
            #expect(fates.values.reduce(0, +) == calls)
            // Both must have happened, otherwise the moments are wrong. On a busy machine, few calls get a response.
            #expect(fates[.complete, default: 0] > calls / 500)
            #expect(fates[.cancelled, default: 0] > calls / 500)
            // Only calls that run while the token changes, of which there are at most a hundred, three times.
            #expect(fates[.refused, default: 0] <= 300)
            // The connections that stay open are those of one host, at both ends, not one for each call.
            #expect(ChildProcess.descriptors < before + 64)
            let last = try await server.get("/data", config: config)
            #expect(last.data.count == 40_000)
        }
    }
}
