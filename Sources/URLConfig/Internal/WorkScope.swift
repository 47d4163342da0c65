/// The objects that a task works for: a call that one of them makes itself must not come back to it.
///
/// A task that is started and left behind keeps the scope, which is over by then.
struct WorkScope: Sendable {
    @TaskLocal private static var all: [Self] = []

    private let worker: ObjectIdentifier
    private let isOver = Locked(false)

    /// - Parameter worker: The object; `nil` for no scope.
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
