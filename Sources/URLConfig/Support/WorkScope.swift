/// The authenticators that a task runs in: their own calls, such as a refresh, must not ask them and wait for themselves.
///
/// A task that outlives the operation inherits the scope, but then the scope is over.
struct WorkScope: Sendable {
    @TaskLocal private static var all: [Self] = []

    private let worker: ObjectIdentifier
    private let isOver = Locked(false)

    /// Runs an operation of an object; `nil` for no scope.
    @inline(never)
    static func of<Result: Sendable>(
        _ worker: AnyObject?, _ operation: () async throws -> Result
    ) async throws -> Result {
        guard let worker else { return try await operation() }
        let scope = Self(worker: ObjectIdentifier(worker))
        defer { scope.isOver.set(\.self, true) }
        return try await $all.withValue(all + [scope], operation: operation)
    }

    static func contains(_ worker: AnyObject?) -> Bool {
        guard let worker else { return false }
        return all.contains { $0.worker == ObjectIdentifier(worker) && !$0.isOver.withLock { $0 } }
    }
}
