import Testing

@testable import URLConfig

/// For tests that wait for something: few of them run at once, and a wait without an end fails.
///
/// Swift Testing begins all tests at once. Tasks run on as many threads as the machine has cores, so on a small machine
/// each step of a test would wait for a step of a thousand others. The time of a test begins with its turn.
/// Tests with the trait ``OneAtATime`` have turns of their own.
struct InTime: SuiteTrait, TestTrait, TestScoping {
    /// The time for a test case.
    ///
    /// A child process is ended after ten minutes at the latest, see ``ChildProcess``.
    private static let limit = Duration.seconds(660)
    private static let turns = Turns(48)

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A test that waits for a turn of one kind must not hold a turn of the other kind.
        if test.traits.contains(where: { $0 is OneAtATime }) { return try await function() }
        try await Self.turns.take {
            let isLate = Locked(false)
            try await withoutActuallyEscaping(function) { function in
                let body = Task { try await function() }
                // These times do not need a thread for tasks.
                let end = Alarm(after: Self.limit + .seconds(60), ContinuousClock()) { [name = test.name] in
                    fatalError("\(name) was cancelled, and does not end.")
                }
                let cancel = Alarm(after: Self.limit, ContinuousClock()) {
                    isLate.set(\.self, true)
                    body.cancel()
                }
                let result = await body.result
                withExtendedLifetime((cancel, end)) {}
                if isLate.withLock({ $0 }) { Issue.record("It took more than \(Self.limit).") }
                try result.get()
            }
        }
    }
}

extension Trait where Self == InTime {
    static var inTime: Self { Self() }
}
