extension TokenAuthenticator {
    /// What is known of the tokens, and what follows from it: values in, values out.
    struct State: Sendable {
        private enum Current {
            /// `load` is to be called.
            case unknown
            case signedOut
            case signedIn(Token, since: Date)
        }

        private var current = Current.unknown { didSet { generation += 1 } }
        /// The tokens that were refused and could not be replaced: `load` may still return them.
        private var refused: Set<String> = []
        /// The credentials already reported as refused, including their absence.
        private var reported: Set<Set<String>> = []
        /// Results of renewals that began before the last change are ignored.
        private(set) var generation = 0

        var isUnknown: Bool { if case .unknown = current { true } else { false } }
        var token: Token? { if case .signedIn(let token, _) = current { token } else { nil } }

        /// Whether the token is to be refreshed before it is sent, but not in the first half of its life.
        func isDue(at now: Date, leeway: Duration) -> Bool {
            guard case .signedIn(let token, let start) = current, let expiry = token.expiry else { return false }
            return expiry.timeIntervalSince(now) <= min(leeway / .seconds(1), expiry.timeIntervalSince(start) / 2)
        }

        func isUsable(at now: Date) -> Bool { token.map { $0.expiry ?? .distantFuture > now } ?? false }

        /// Takes the token that the app sets, and the credentials that are sent for it.
        mutating func set(_ token: Token?, _ credentials: Set<String>, at now: Date) {
            current = token.map { .signedIn($0, since: now) } ?? .signedOut
            if let token { refused.remove(token.value) }
            // They may be reported again, and so may their absence.
            reported.subtract([[], credentials])
        }

        /// Takes what `refresh` returned for an old token, or `load` for none; `false` if others still wait for more.
        ///
        /// If it is late, past its limit, only a token counts: many services accept a refresh token only once, so
        /// dropping what came for it would sign the user out.
        mutating func take(
            _ result: Result<Token?, any Error>, for old: Token?, since start: Int, isLate: Bool, at now: Date
        ) -> Bool {
            guard generation == start else { return false }
            switch (result, old) {
            case (.success(let new?), _):
                guard old != nil || !refused.contains(new.value) else { break }
                current = .signedIn(new, since: now)
                reported.remove([])
            case _ where isLate: return false
            case (.success, let old?):
                refused.insert(old.value)
                current = .unknown
            default: break
            }
            return true
        }

        /// Reports the credentials of a request, if any, as refused for good; `false` if they were reported before.
        mutating func report(_ credentials: Set<String>) -> Bool {
            // The token that could not be replaced, and the requests without a token since, are refused for one reason.
            reported.insert(isUnknown ? [] : credentials).inserted
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
