import FlyingFox
import Testing

@testable import URLConfig

/// Very many calls, each cancelled at another moment: during data, redirect, retry, refusal or refresh.
///
/// They run in a separate process, where nothing else opens files and sockets.
@Suite(.serialized, .inTime) struct CancellationStormTests {
    private enum Fate { case complete, cancelled, refused, failed }

    /// To change the number, as CI does: `STORM_CALLS=8000 swift test --filter CancellationStorm`.
    private static let calls = ProcessInfo.processInfo.environment["STORM_CALLS"].flatMap { Int($0) } ?? 4_000

    #if os(Linux) || os(macOS)
    @Test func `thousands of calls end, each with a response or as cancelled`() async throws {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck(after: 600)
            try await Self.storm()
        }
    }
    #endif

    private static func storm() async throws {
        let token = Locked(0)
        /// For each call, the number of its requests until it is cancelled, and what cancels it.
        let pending = Locked<[Substring: (requests: Int, cancel: @Sendable () -> Void)]>([:])
        try await Loopback.serving { request in
            let path = request.path.split(separator: "/")
            let call = path.last ?? ""
            let cancel = pending.withLock { pending in
                pending[call]?.requests -= 1
                return pending[call]?.requests == 0 ? pending[call]?.cancel : nil
            }
            cancel?()
            switch path.first {
            case "data": return .json(String(repeating: "x", count: 40_000))
            case "hop": return .redirect(.temporaryRedirect, to: "/data/\(call)")
            case "busy": return .status(.serviceUnavailable)
            default:
                let isGood = request.headers[.authorization] == "Bearer \(token.withLock { $0 })"
                return isGood ? .json("{}") : .status(.unauthorized)
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
            var (atOnce, never) = (0, 0)
            let before = ChildProcess.descriptors
            try await withThrowingTaskGroup(of: Fate.self) { group in
                for index in 0..<calls {
                    if index >= 100, let fate = try await group.next() { fates[fate, default: 0] += 1 }
                    let kind = ["data", "hop", "busy", "me"].randomElement(using: &generator) ?? ""
                    let requests = [0, 1, 1, 1, 2, 2, 2, 3, 3, .max].randomElement(using: &generator) ?? 0
                    let yields = Int.random(in: 0...500, using: &generator)
                    if requests == 0 { atOnce += 1 }
                    if requests == .max { never += 1 }
                    // The new token of a call may also be replaced. Then the call ends as unauthorized.
                    if index.isMultiple(of: calls / 4) { token.withLock { $0 += 1 } }
                    group.addTask {
                        let start = OneShot<Void>()
                        let call = Task {
                            try await start.value()
                            return try await server.get(.init("/\(kind)/\(index)"), config: config)
                        }
                        let cancel: @Sendable () -> Void = {
                            Task {
                                for _ in 0..<yields { await Task.yield() }
                                call.cancel()
                            }
                        }
                        pending.withLock { $0["\(index)"] = (requests, cancel) }
                        if requests == 0 { call.cancel() }
                        start.resolve(.success(()))
                        return await fate(of: call)
                    }
                }
                for try await fate in group { fates[fate, default: 0] += 1 }
            }
            #expect(fates.values.reduce(0, +) == calls)
            #expect(fates[.failed] == nil)
            #expect(fates[.cancelled, default: 0] >= atOnce)
            #expect(fates[.complete, default: 0] + fates[.refused, default: 0] >= never)
            // Only calls that run while the token changes, of which there are at most a hundred, three times.
            #expect(fates[.refused, default: 0] <= 300)
            // As many connections stay open as one host has, at both ends, not one for each call.
            #expect(ChildProcess.descriptors < before + 64)
            let last = try await server.get("/data/last", config: config)
            #expect(last.data.count == 40_000)
        }
    }

    private static func fate(of call: Task<DataResponse, any Error>) async -> Fate {
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
