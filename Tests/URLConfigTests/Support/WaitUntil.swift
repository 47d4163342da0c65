import Testing

/// A condition did not become true in time.
struct Overdue: Error {}

/// Waits until a condition is true.
///
/// - Throws: ``Overdue`` after a minute, or when the test's time is up; errors of the condition. A minute is enough for
///   a busy machine under the thread sanitizer.
func waitUntil(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let start = ContinuousClock.now
    while try await !condition() {
        guard !Task.isCancelled, start.duration(to: .now) < .seconds(60) else { throw Overdue() }
        try? await Task.sleep(for: .milliseconds(1))
    }
}
