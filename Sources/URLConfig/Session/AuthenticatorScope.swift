/// An authenticator at work: a call that it makes itself, with a configuration that names it, must not ask it again.
///
/// A task that it starts and leaves behind keeps the scope, but then the work is over.
struct AuthenticatorScope: Sendable {
    /// The scopes that this task is part of.
    @TaskLocal private static var all: [Self] = []

    private let authenticator: ObjectIdentifier
    /// Whether it gets new credentials.
    private let isRenewal: Bool
    private let isOver = Locked(false)

    static func of<Result: Sendable>(
        _ authenticator: any Authenticator, isRenewal: Bool = false, _ operation: () async throws -> Result
    ) async throws -> Result {
        guard let identity = authenticator.identity else { return try await operation() }
        let scope = Self(authenticator: identity, isRenewal: isRenewal)
        defer { scope.isOver.set(\.self, true) }
        return try await $all.withValue(all + [scope], operation: operation)
    }

    /// - Parameter isRenewal: Whether only work on new credentials counts.
    static func isPart(of authenticator: any Authenticator, isRenewal: Bool = false) -> Bool {
        let identity = authenticator.identity
        return all.contains { scope in
            scope.authenticator == identity && (scope.isRenewal || !isRenewal) && !scope.isOver.withLock { $0 }
        }
    }
}

extension Authenticator {
    /// `nil` for value types.
    fileprivate var identity: ObjectIdentifier? {
        type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : nil
    }
}
