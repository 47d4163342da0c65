/// The authenticators that a task runs in: their own calls, such as a refresh, must not ask them and wait for
/// themselves.
///
/// A task that outlives the operation inherits the scope, but then the scope is over.
struct WorkScope: Sendable {
    @TaskLocal static var all: [Self] = []

    private let workers: [ObjectIdentifier]
    private let isOver = Locked(false)

    /// Runs an operation in a scope of objects; without objects, in no scope.
    @inline(never)
    static func of<Result: Sendable>(
        _ workers: AnyObject?..., operation: () async throws -> Result
    ) async throws -> Result {
        let scope = Self(workers: workers.compactMap { $0.map(ObjectIdentifier.init) })
        guard !scope.workers.isEmpty else { return try await operation() }
        defer { scope.isOver.withLock { $0 = true } }
        // Otherwise, if each refresh begins a task for the next one, that inherits the scopes of all before it.
        let others = all.filter { !$0.isOver.withLock(\.self) }
        return try await $all.withValue(others + [scope], operation: operation)
    }

    static func contains(_ worker: AnyObject?) -> Bool {
        guard let worker else { return false }
        return all.contains { $0.workers.contains(ObjectIdentifier(worker)) && !$0.isOver.withLock { $0 } }
    }
}
