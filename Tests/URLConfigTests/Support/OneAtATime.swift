import Testing

@testable import URLConfig

/// Runs one test case at a time of all suites that have this trait.
///
/// It is for tests that compute for seconds. Tasks run on as many threads as the machine has cores. If such tests took
/// all of them, the calls of other tests would wait until their time limits expire.
struct OneAtATime: SuiteTrait, TestTrait, TestScoping {
    /// The end of the test case that came last.
    private static let last = Locked<OneShot<Void>?>(nil)

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let end = OneShot<Void>()
        defer { end.resolve(.success(())) }
        let previous = Self.last.withLock { last in
            defer { last = end }
            return last
        }
        try await previous?.value()
        try await function()
    }
}

extension Trait where Self == OneAtATime {
    static var oneAtATime: Self { Self() }
}
