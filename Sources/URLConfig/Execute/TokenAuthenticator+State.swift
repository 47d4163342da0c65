extension TokenAuthenticator {
    /// The current token, the refused ones, and the running renewal; decisions about them have no side effects.
    struct State: Sendable {
        /// A call of `refresh` for a token, or of `load` without one.
        struct Renewal: Sendable {
            let number: Int
            let token: Token?
            let generation: Int
            /// Whether the server refused the old token, which must not be used again, even if the renewal fails.
            var isOfRefused = false
        }

        /// Whether tokens are renewed by `refresh`; otherwise by `load`.
        let hasRefresh: Bool
        /// Without a token and without `setToken(nil)`, `load` must be called.
        private(set) var token: Token?
        private var start = Date.distantPast
        /// Whether the token was renewed; otherwise it was set, or loaded as the first one.
        private var isRenewed = false
        private var isSignedOut = false
        /// The login of the token.
        private(set) var login: Login?
        /// The last logins before it: their requests may still be on their way.
        private(set) var past: [Login] = []
        /// When `refresh` returned the old token itself.
        private var unchanged = Date.distantPast
        /// Incremented by each change of the token, so that results of renewals that began before it are ignored.
        private(set) var generation = 0
        /// The running renewal; the next one begins only after it has ended.
        var renewal: Renewal?
        /// The last renewal that did not return in time, and still runs.
        var late: Renewal?
        private var renewals = 0
        /// The tokens that were refused and could not be replaced; they are ignored if `load` returns them.
        private var refused: [String] = []
        /// The credentials already reported as refused; `""` is a request without credentials.
        private var reported: [String] = []
        /// When a refusal was reported last; `nil` if none was since the last sign-in.
        private var reportedAt: Date?
        /// The tokens since the last sign-out, and those before it: their users have signed out, or were signed out.
        private var current: [String] = []
        private(set) var over: [String] = []

        init(hasRefresh: Bool) { self.hasRefresh = hasRefresh }

        var isUnknown: Bool { token == nil && !isSignedOut }

        /// Whether the token must be refreshed before it is sent: never in the first half of its lifetime.
        func isDue(at now: Date, leeway: Duration) -> Bool {
            // If a new token has already expired, the clock is wrong, and the next one would be no better.
            guard let expiry = token?.expiry, !(isRenewed && expiry <= start) else { return false }
            // A refresh that does not return is not begun again as long as the token is good.
            if late?.generation == generation, isUsable(at: now) { return false }
            return expiry.timeIntervalSince(now) <= min(leeway / .seconds(1), expiry.timeIntervalSince(start) / 2)
        }

        func isUsable(at now: Date) -> Bool { token.map { $0.expiry ?? .distantFuture > now } ?? false }

        /// Whether a refusal is a reason to refresh the token: not for 10 s after `refresh` has returned the same one.
        ///
        /// Many requests are refused with one token, some of them later than the others.
        func mayRefresh(at now: Date) -> Bool { !(0.0..<10).contains(now.timeIntervalSince(unchanged)) }

        /// - Parameter continues: Whether it is a new token of the same login.
        private mutating func change(to token: Token?, at now: Date, continues: Bool) {
            if let token, let login, continues || login.tokens.last == token.value {
                login.add(token.value)
            } else {
                if let login { past = past.suffix(9) + [login] }
                login = token.map { Login($0.value) }
            }
            (self.token, start, isRenewed, unchanged) = (token, now, continues, .distantPast)
            if let token {
                _ = current.rememberLast(token.value)
                over.removeAll { $0 == token.value }
            }
            generation += 1
        }

        /// The user has signed out, or must sign in again.
        private mutating func endLogin(at now: Date) {
            for token in current { _ = over.rememberLast(token) }
            current = []
            change(to: nil, at: now, continues: false)
        }

        mutating func beginRenewal(of token: Token?) -> Renewal {
            renewals += 1
            let new = Renewal(number: renewals, token: token, generation: generation)
            renewal = new
            return new
        }

        /// Stores the token that the app sets; `false` if it is the present one.
        ///
        /// Then a running refresh goes on: it may already have used the token up.
        ///
        /// - Parameter credentials: What identifies the credentials of a request with this token.
        mutating func set(_ token: Token?, credentials: String, at now: Date) -> Bool {
            let isOther = token == nil || token?.value != self.token?.value
            if token == nil {
                endLogin(at: now)
            } else if isOther {
                change(to: token, at: now, continues: false)
            } else {
                (self.token, start, isRenewed) = (token, now, false)
            }
            isSignedOut = token == nil
            refused.removeAll { $0 == token?.value }
            if isSignedOut, let reportedAt, 0..<60 ~= now.timeIntervalSince(reportedAt) {
                // The app has been told just now, and signs the user out for it.
                _ = reported.rememberLast("")
            } else {
                // These credentials, and a request without any, may be reported again.
                reported.removeAll { $0 == "" || $0 == credentials }
                reportedAt = nil
            }
            return isOther
        }

        /// Stores the result of a renewal; `false` if it is ignored.
        ///
        /// A late result, after the time limit, is ignored unless it is a token. Many services accept a refresh token
        /// only once, so to ignore the new token would sign the user out.
        mutating func take(_ result: Result<Token?, any Error>, of renewal: Renewal, at now: Date) -> Bool {
            guard generation == renewal.generation else { return false }
            var result = result
            if !hasRefresh, let old = renewal.token, case .success(let new) = result,
                new == nil || new?.value == old.value
            {
                let isRunning = self.renewal?.number == renewal.number
                guard isRunning, self.renewal?.isOfRefused == true else {
                    // `load` need not know of a token that the app has set. Half of its time later, it is asked again.
                    start = now
                    if let expiry = new?.expiry { token?.expiry = expiry }
                    return isRunning
                }
                result = .success(nil)
            }
            switch result {
            case .success(let new?):
                guard renewal.token != nil || !refused.contains(new.value) else { return true }
                change(to: new, at: now, continues: renewal.token != nil)
                if new.value == renewal.token?.value { unchanged = now }
                reported.removeAll { $0 == "" }
                reportedAt = nil
            case _ where renewal.number != self.renewal?.number: return false
            case .success:
                guard let old = renewal.token else { return true }
                _ = refused.rememberLast(old.value)
                // Without `refresh`, another part of the app may still renew the token.
                if hasRefresh { endLogin(at: now) } else { change(to: nil, at: now, continues: false) }
            case .failure: break
            }
            return true
        }

        /// Reports that credentials were refused and not replaced; `false` if they were reported before.
        mutating func report(_ credentials: String, at now: Date) -> Bool {
            reportedAt = now
            // A refused token that was not replaced, and later requests without a token, are reported once together.
            return reported.rememberLast(token == nil ? "" : credentials)
        }

        var reasonForNoToken: String {
            if isSignedOut { return "setToken(nil) has signed the user out" }
            guard token == nil else { return "there was no token when the request was sent" }
            return refused.isEmpty
                ? "the authenticator's 'load' returned no token"
                : "the authenticator's \(hasRefresh ? "'refresh' and 'load'" : "'load'") returned no new token"
        }
    }

    /// The tokens that one user had from sign-in to sign-out: each one is a renewal of the one before.
    final class Login: Sendable {
        /// The first token, which tells the login from others.
        let first: String
        private let recent: Locked<[String]>
        private let atEnd = Locked(End())

        private struct Work {
            weak var owner: (any AnyObject & Sendable)?
            let run: @Sendable (Set<String>) -> Void
            var names: Set<String> = []
        }

        private struct End {
            var isOver = false
            var work: [Work] = []
        }

        init(_ token: String) {
            first = token
            recent = Locked([token])
        }

        /// The last tokens: responses to the ones before may still arrive.
        var tokens: [String] { recent.withLock { $0 } }

        func add(_ token: String) { recent.withLock { _ = $0.rememberLast(token) } }

        /// Notes what is done for a name of an owner when the user signs out.
        ///
        /// If the user has signed out, it is done at once. If there are 10,000 names, it is done for these at once.
        func atEnd(
            of owner: any AnyObject & Sendable, _ name: String, _ run: @escaping @Sendable (Set<String>) -> Void
        ) {
            let due: Set<String> = atEnd.withLock { end in
                if end.isOver { return [name] }
                guard let index = end.work.firstIndex(where: { $0.owner === owner }) else {
                    end.work.removeAll { $0.owner == nil }
                    end.work.append(Work(owner: owner, run: run, names: [name]))
                    return []
                }
                let names = end.work[index].names
                let areTooMany = names.count >= 10_000 && !names.contains(name)
                if areTooMany { end.work[index].names = [] }
                end.work[index].names.insert(name)
                return areTooMany ? names : []
            }
            if !due.isEmpty { run(due) }
        }

        func end() {
            let work = atEnd.withLock { end in
                defer { end = End(isOver: true) }
                return end.work
            }
            for work in work { work.run(work.names) }
        }
    }
}

extension [String] {
    /// Adds a value, and keeps the last hundred; returns `false` if it is known.
    fileprivate mutating func rememberLast(_ value: String) -> Bool {
        let isNew = !contains(value)
        self = filter { $0 != value }.suffix(99) + [value]
        return isNew
    }
}
