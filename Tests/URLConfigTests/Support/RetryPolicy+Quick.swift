@testable import URLConfig

extension RetryPolicy {
    /// Without waiting, and without the budget that all tests share.
    var quick: Self {
        var policy = self
        policy.firstDelay = .zero
        policy.isBudgeted = false
        return policy
    }
}

extension URLSession {
    /// Lends a session whose connections may be silent for some seconds.
    ///
    /// With all tests at once, a thread of a server may wait for three seconds.
    static func impatient(
        silence: TimeInterval = 3, isolation: isolated (any Actor)? = #isolation,
        _ body: (URLSession) async throws -> Void
    ) async throws {
        try await with({ $0.timeoutIntervalForRequest = silence }, { try await body($0) })
    }

    /// Lends a session with another configuration.
    @discardableResult
    static func with<Value>(
        _ configure: (URLSessionConfiguration) -> Void, isolation: isolated (any Actor)? = #isolation,
        _ body: (URLSession) async throws -> Value
    ) async throws -> Value {
        let configuration = URLSessionConfiguration.ofTests
        configure(configuration)
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        return try await body(session)
    }
}
