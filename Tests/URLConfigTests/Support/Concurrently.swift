/// Runs an operation this many times at once, with the number of the run.
///
/// - Throws: The first error, after which the other operations are cancelled.
func concurrently(
    _ count: Int, isolation: isolated (any Actor)? = #isolation,
    _ operation: @escaping @Sendable (_ index: Int) async throws -> Void
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<count { group.addTask { try await operation(index) } }
        try await group.waitForAll()
    }
}
