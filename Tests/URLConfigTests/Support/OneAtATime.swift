import Testing

@testable import URLConfig

/// Runs one test case at a time of all suites that have this trait.
///
/// It is for tests that compute for seconds. Tasks run on as many threads as the machine has cores. If such tests took
/// all of them, the calls of other tests would wait until their time limits expire.
struct OneAtATime: SuiteTrait, TestTrait, TestScoping {
    private struct Turns {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let turns = Locked(Turns())

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await withCheckedContinuation { continuation in
            let isFree = Self.turns.withLock { turns in
                defer { turns.isTaken = true }
                if turns.isTaken { turns.waiting.append(continuation) }
                return !turns.isTaken
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = Self.turns.withLock { turns in
                turns.isTaken = !turns.waiting.isEmpty
                return turns.isTaken ? turns.waiting.removeFirst() : nil
            }
            next?.resume()
        }
        try await function()
    }
}

extension Trait where Self == OneAtATime {
    static var oneAtATime: Self { Self() }
}
