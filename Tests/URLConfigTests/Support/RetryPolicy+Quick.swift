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
    /// Lends a session whose connections may be silent for three seconds.
    static func impatient(
        isolation: isolated (any Actor)? = #isolation, _ body: (URLSession) async throws -> Void
    ) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 3
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        try await body(session)
    }
}
