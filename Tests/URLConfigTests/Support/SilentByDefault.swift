import Testing
import URLConfig

/// Removes the default logger for all tests of this process.
///
/// It is for logs outside of a call and for code that shows how an app makes calls. Other tests use
/// ``URLSession/Config/silent``. Tests of the default logger run in separate processes.
struct SilentByDefault: SuiteTrait, TestTrait, TestScoping {
    private static let once: Void = { URLSession.Config.defaultLogger = nil }()

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        Self.once
        try await function()
    }
}

extension Trait where Self == SilentByDefault {
    static var silentByDefault: Self { Self() }
}
