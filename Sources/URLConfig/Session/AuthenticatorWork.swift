/// An authenticator at work: a call that it makes itself, with a configuration that names it, must not ask it again.
///
/// A task that it starts and leaves behind keeps the mark, but then the work is over.
struct AuthenticatorWork: Sendable {
    private let authenticator: ObjectIdentifier
    private let isOver = LockBox(false)

    /// What this task is part of.
    @TaskLocal private static var all: [Self] = []

    /// Asks an authenticator.
    static func of<Result: Sendable>(
        _ authenticator: any Authenticator, _ ask: () async throws -> Result
    ) async throws -> Result {
        guard let identity = authenticator.identity else { return try await ask() }
        let work = Self(authenticator: identity)
        defer { work.isOver.set(\.self, true) }
        return try await $all.withValue(all + [work], operation: ask)
    }

    /// Whether an authenticator is at work in this task.
    static func isPart(of authenticator: any Authenticator) -> Bool {
        guard let identity = authenticator.identity else { return false }
        return all.contains { $0.authenticator == identity && !$0.isOver.withLock { $0 } }
    }

    private init(authenticator: ObjectIdentifier) {
        self.authenticator = authenticator
    }
}

extension Authenticator {
    /// Which object it is; `nil` for a value, which is none.
    fileprivate var identity: ObjectIdentifier? {
        type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : nil
    }
}
