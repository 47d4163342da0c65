import Testing

/// Waits until a condition is true, as long as the test may take.
///
/// The limit is the one of the test, see ``InTime``: a busy machine may need minutes. A child process ends itself, see
/// ``ChildProcess``.
///
/// - Parameters:
///   - what: What it waits for, if that is not the condition at the source location.
///   - condition: It is read every millisecond.
/// - Throws: `CancellationError` when the test's time is up, after it has recorded what it waited for; errors of the
///   condition.
func waitUntil(
    _ what: String = "the condition here", sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    while try await !condition() {
        do {
            try await Task.sleep(for: .milliseconds(1))
        } catch {
            Issue.record("It was cancelled while it waited for \(what).", sourceLocation: sourceLocation)
            throw error
        }
    }
}
