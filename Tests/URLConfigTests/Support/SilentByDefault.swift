import Testing
import URLConfig

/// Takes the default logger away, for all tests of this process.
///
/// It is for what is logged outside of a call, or by code that shows how an app calls: other tests send with
/// ``URLSession/Config/silent``, and those about the default logger run in processes of their own.
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
