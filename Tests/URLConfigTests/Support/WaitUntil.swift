import Testing

/// A condition that did not come true.
struct Overdue: Error {}

/// Waits until a condition holds.
///
/// - Throws: ``Overdue`` after 50 seconds, or when the test's time is up; and what the condition throws.
func waitUntil(
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async throws {
    let start = ContinuousClock.now
    while try await !condition() {
        guard !Task.isCancelled, start.duration(to: .now) < .seconds(50) else { throw Overdue() }
        await Task.yield()
    }
}
