import Testing

/// Waits until a condition, which is read every millisecond, is true, as long as the test may take, see ``InTime``.
///
/// When the time is up, it records what it waited for, and throws `CancellationError`. A child process ends itself.
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
