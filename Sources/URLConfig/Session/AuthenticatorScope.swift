/// An authenticator at work: a call that it makes itself, with a configuration that names it, must not ask it again.
///
/// A task that it starts and leaves behind keeps the mark, but then the work is over.
struct AuthenticatorScope: Sendable {
    private let authenticator: ObjectIdentifier
    private let isRenewal: Bool
    private let isOver = Locked(false)

    /// What this task is part of.
    @TaskLocal private static var all: [Self] = []

    /// Asks an authenticator.
    ///
    /// - Parameter isRenewal: Whether new credentials are being got.
    static func of<Result: Sendable>(
        _ authenticator: any Authenticator, isRenewal: Bool = false, _ ask: () async throws -> Result
    ) async throws -> Result {
        guard let identity = authenticator.identity else { return try await ask() }
        let work = Self(authenticator: identity, isRenewal: isRenewal)
        defer { work.isOver.set(\.self, true) }
        return try await $all.withValue(all + [work], operation: ask)
    }

    /// Whether an authenticator is at work in this task.
    ///
    /// - Parameter isRenewal: Whether only work on new credentials counts.
    static func isPart(of authenticator: any Authenticator, isRenewal: Bool = false) -> Bool {
        guard let identity = authenticator.identity else { return false }
        return all.contains { work in
            work.authenticator == identity && (work.isRenewal || !isRenewal) && !work.isOver.withLock { $0 }
        }
    }

    private init(authenticator: ObjectIdentifier, isRenewal: Bool) {
        self.authenticator = authenticator
        self.isRenewal = isRenewal
    }
}

extension Authenticator {
    /// Which object it is; `nil` for a value, which is none.
    fileprivate var identity: ObjectIdentifier? {
        type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : nil
    }
}
