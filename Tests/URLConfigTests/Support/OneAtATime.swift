import Testing

@testable import URLConfig

/// Runs one test case at a time of all suites that have this trait.
///
/// It is for tests that compute for seconds. Tasks run on as many threads as the machine has cores. If such tests took
/// all of them, the calls of other tests would wait until their time limits expire.
struct OneAtATime: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(1)

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.turns.take(function)
    }
}

extension Trait where Self == OneAtATime {
    static var oneAtATime: Self { Self() }
}

/// Lets some have their turn at once, and the others wait, first come, first served.
final class Turns: Sendable {
    private let state: Locked<(free: Int, waiting: [OneShot<Void>])>

    init(_ count: Int) { state = Locked((count, [])) }

    func take(_ operation: () async throws -> Void) async throws {
        let turn = OneShot<Void>()
        let isFree = state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return true
            }
            state.waiting.append(turn)
            return false
        }
        // It is not cancelled: a test that ended without its turn would give another test's turn away.
        if !isFree { await Task { try? await turn.value() }.value }
        defer {
            let next = state.withLock { state -> OneShot<Void>? in
                if state.waiting.isEmpty { state.free += 1 }
                return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            }
            next?.resolve(.success(()))
        }
        try await operation()
    }
}
