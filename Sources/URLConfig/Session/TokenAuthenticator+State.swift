extension TokenAuthenticator {
    /// The current token and the refused ones; decisions about them have no side effects.
    struct State: Sendable {
        private enum Current {
            /// `load` must be called.
            case unknown
            case signedOut
            case signedIn(Token, since: Date)
        }

        /// How long `refresh` is not called again for a token that it has returned unchanged, in seconds.
        private static let pause = 0.0..<10

        private var current = Current.unknown {
            didSet {
                generation += 1
                unchanged = nil
            }
        }
        /// When `refresh` returned the old token itself.
        private var unchanged: Date?
        /// The tokens that were refused and could not be replaced; they are ignored if `load` returns them.
        private var refused = Recent<String>()
        /// The credentials already reported as refused; the empty set is a request without credentials.
        private var reported = Recent<Set<String>>()
        /// Incremented by each change, so that results of renewals that began before it are ignored.
        private(set) var generation = 0

        var isUnknown: Bool { if case .unknown = current { true } else { false } }
        var token: Token? { if case .signedIn(let token, _) = current { token } else { nil } }

        /// Whether the token must be refreshed before it is sent: never in the first half of its lifetime.
        func isDue(at now: Date, leeway: Duration) -> Bool {
            guard case .signedIn(let token, let start) = current, let expiry = token.expiry else { return false }
            return expiry.timeIntervalSince(now) <= min(leeway / .seconds(1), expiry.timeIntervalSince(start) / 2)
        }

        func isUsable(at now: Date) -> Bool { token.map { $0.expiry ?? .distantFuture > now } ?? false }

        /// Whether a refusal of the token is a reason to refresh it.
        ///
        /// Many requests are refused with one token, some of them later than the others.
        func mayRefresh(at now: Date) -> Bool {
            unchanged.map { !Self.pause.contains(now.timeIntervalSince($0)) } ?? true
        }

        /// Stores the token that the app sets.
        ///
        /// - Parameter credentials: The field values of a request with this token.
        mutating func set(_ token: Token?, _ credentials: Set<String>, at now: Date) {
            current = token.map { .signedIn($0, since: now) } ?? .signedOut
            if let token { refused.remove(token.value) }
            // These credentials, and a request without any, may be reported again.
            reported.remove([])
            reported.remove(credentials)
        }

        /// Stores the result of `refresh` for an old token, or of `load` without one; `false` if it is ignored.
        ///
        /// A late result, after the time limit, is ignored unless it is a token. Many services accept a refresh token
        /// only once, so to ignore the new token would sign the user out.
        mutating func take(
            _ result: Result<Token?, any Error>, for old: Token?, since start: Int, isLate: Bool, at now: Date
        ) -> Bool {
            guard generation == start else { return false }
            switch (result, old) {
            case (.success(let new?), _):
                guard old != nil || !refused.contains(new.value) else { break }
                current = .signedIn(new, since: now)
                if new.value == old?.value { unchanged = now }
                reported.remove([])
            case _ where isLate: return false
            case (.success, let old?):
                refused.insert(old.value)
                current = .unknown
            default: break
            }
            return true
        }

        /// Reports that credentials were refused and not replaced; `false` if they were reported before.
        mutating func report(_ credentials: Set<String>) -> Bool {
            // A refused token that was not replaced, and later requests without a token, are reported once together.
            reported.insert(isUnknown ? [] : credentials)
        }

        var reasonForNoToken: String {
            switch current {
            case .unknown where refused.isEmpty: "the authenticator's 'load' returned no token"
            case .unknown: "the authenticator's 'refresh' returned no new token, nor did 'load'"
            case .signedOut: "setToken(nil) has signed the user out"
            case .signedIn: "there was no token when the request was sent"
            }
        }
    }
}

/// The last values that were inserted, because all values of a long run would fill the memory.
private struct Recent<Value: Equatable & Sendable>: Sendable {
    private static var most: Int { 100 }

    private var values: [Value] = []

    var isEmpty: Bool { values.isEmpty }

    func contains(_ value: Value) -> Bool { values.contains(value) }

    mutating func remove(_ value: Value) { values.removeAll { $0 == value } }

    /// Inserts a value; `false` if it is known.
    @discardableResult
    mutating func insert(_ value: Value) -> Bool {
        let isKnown = contains(value)
        remove(value)
        values = values.suffix(Self.most - 1) + [value]
        return !isKnown
    }
}
