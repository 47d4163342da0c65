/// Tokens of one service: loaded once, refreshed once, sent to its own hosts only.
///
/// ```swift
/// let authenticator = TokenAuthenticator(hosts: ["api.example.com"]) {
///     keychain.token.map { .init($0) }
/// } refresh: { refused in
///     .init(try await signIn.refresh(refused.value))
/// }
/// let response = try await URLSession.shared.response(for: request) { $0.authenticator = authenticator }
/// ```
///
/// - A request to any other host leaves without the token, and a refusal by one is none of its business.
/// - However many requests are refused at once, one refresh is under way, and all wait for it. A refusal that comes
///   late, of a token that has been replaced since, causes none.
/// - A token that knows its expiry is refreshed shortly before.
/// - A refresh that fails fails every request that waits for it with the same error; the next request may try again.
/// - A request waits for `load` or `refresh` no longer than the renewal limit, and then fails with
///   ``RequestError/Code/authenticationTimedOut``; the next request may try again.
/// - A request that is cancelled while it waits ends at once, and the refresh goes on for the others.
/// - A request made within `load` or `refresh` does not wait for itself: it leaves without the token. One that they
///   make in another task, such as a detached one, does wait: set ``Foundation/URLSession/Config/authorize`` to
///   `false` for it.
/// - A request with an `Authorization` of its own, or whatever field the token is written to, is left alone. If the
///   server refuses it, the token is not refreshed, and ``Foundation/URLSession/Config/onUnauthorized`` is not called.
public actor TokenAuthenticator: Authenticator, RefusalExplaining {
    private enum State {
        /// `load` is to be asked.
        case unknown
        case known(Token?)
    }

    /// A `load` or `refresh` under way, and the requests that wait for it.
    ///
    /// It ends on any thread: neither its limit nor a cancelled request has to wait for the actor.
    private final class Renewal: Sendable {
        private struct State {
            var result: Result<Void, any Error>?
            var isRefused = false
            var waiters: [ObjectIdentifier: OneShot<Void>] = [:]
        }

        private let state = Locked(State())

        var isOver: Bool { state.withLock { $0.result != nil } }
        var isRefused: Bool { state.withLock { $0.isRefused } }
        var waiting: Int { state.withLock { $0.waiters.count } }

        func end(with result: Result<Void, any Error>) {
            let waiters = state.withLock { state in
                defer { state.waiters = [:] }
                state.result = state.result ?? result
                return state.waiters
            }
            for waiter in waiters.values { waiter.resolve(result) }
        }

        /// Waits for the end.
        ///
        /// - Parameter isRefused: Whether the server refused the token: it must not be used if there is no other.
        func add(isRefused: Bool) -> OneShot<Void> {
            let waiter = OneShot<Void>()
            let result = state.withLock { state in
                if isRefused { state.isRefused = true }
                if state.result == nil { state.waiters[ObjectIdentifier(waiter)] = waiter }
                return state.result
            }
            if let result { waiter.resolve(result) }
            return waiter
        }

        func remove(_ waiter: OneShot<Void>) {
            state.withLock { _ = $0.waiters.removeValue(forKey: ObjectIdentifier(waiter)) }
        }
    }

    private let hosts: [Host]
    private let leeway: Duration
    private let renewalLimit: Duration
    private let authorization: @Sendable (String) -> Authorization
    private let load: @Sendable () async throws -> Token?
    private let refresh: @Sendable (Token) async throws -> Token?
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date

    private var state = State.unknown {
        didSet {
            obtained = now()
            generation += 1
        }
    }
    /// The tokens that were refused and could not be replaced: `load` may still have them.
    private var refused: Set<String> = []
    /// When the token was got.
    private var obtained: Date?
    /// How often the token has changed: a result that was asked for before the last change is ignored.
    private var generation = 0
    /// The last renewal; another one may begin when it is over.
    private var renewal: Renewal?
    /// How many calls of `load` and `refresh` have not returned, those past their limit included.
    private(set) var running = 0
    /// The fields that tokens are written to.
    private var fieldNames: Set<String>
    /// The credentials that were refused for good, none among them: their values, by the order of ``fieldNames``.
    private var reported: Set<[String]> = []

    /// An authenticator for the hosts of one service.
    ///
    /// - Parameters: - hosts: The hosts that the token is for, such as `api.example.com`, `localhost:8080` for one port
    ///   only, or `https://api.example.com` for one scheme. It is put on no other request. What is not a host, such as
    ///   `*.example.com`, `api.example.com/v2` or `user@api.example.com`, is logged as an error and ignored. The path
    ///   of a base URL with a scheme, such as `https://api.example.com/v2`, is ignored. - leeway: How long before its
    ///   expiry a token is refreshed, but not in the first half of the life that it has left when it is got. -
    ///   renewalLimit: How long requests wait for one call of `load` or `refresh`, by default 30 s. Then they fail; the
    ///   call is not cancelled. A token that it returns late is used, unless the token has changed since. -
    ///   authorization: How the token is written; at first as a bearer token. The same each time: a token that was
    ///   refused is known by it, and one that is written in another way is not refreshed. - load: The token to begin
    ///   with, such as from the keychain; `nil` while nobody is signed in: requests then leave without one, and it is
    ///   called again before the next. What it throws, that request throws. - refresh: A new token in place of one that
    ///   was refused or is about to expire; store it where `load` finds it. `nil` if there is none to be had any more:
    ///   the user is signed out, ``Foundation/URLSession/Config/onUnauthorized`` is called, and `load` asked for
    ///   another one from then on. Throw what may pass, such as a failing network: the request throws it, unless its
    ///   token is still good.
    public init(
        hosts: Set<String>, leeway: Duration = .seconds(30), renewalLimit: Duration = .seconds(30),
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) },
        load: @escaping @Sendable () async throws -> Token?,
        refresh: @escaping @Sendable (_ refused: Token) async throws -> Token?
    ) {
        self.init(
            hosts: hosts, leeway: leeway, renewalLimit: renewalLimit, authorization: authorization, now: { Date() },
            load: load, refresh: refresh)
    }

    init(
        hosts: Set<String>, leeway: Duration = .seconds(30), renewalLimit: Duration = .seconds(30),
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) },
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date,
        load: @escaping @Sendable () async throws -> Token?, refresh: @escaping @Sendable (Token) async throws -> Token?
    ) {
        self.hosts = Host.all(hosts)
        self.leeway = leeway
        self.renewalLimit = max(renewalLimit, .zero).clamped
        self.authorization = authorization
        self.clock = clock
        self.now = now
        self.load = load
        self.refresh = refresh
        // Known before there is a token: a request that has such a field by itself is not the authenticator's business.
        var fields = HTTPFields()
        try? authorization("token")(&fields)
        fieldNames = fields.isEmpty ? ["Authorization"] : Set(fields.map(\.name.rawName))
    }

    /// Replaces the token, such as after signing in or, with `nil`, out.
    ///
    /// - Parameter token: The token that requests carry from now on, those too that wait for a refresh: what that
    ///   brings is dropped. `nil` for none, until another one is set: `load` is not asked.
    public func setToken(_ token: Token?) {
        state = .known(token)
        if let token { refused.remove(token.value) }
        // A token that was refused before, and is set again, counts as another one; so does having none.
        reported.remove([])
        if let values = token.flatMap(values) { reported.remove(values) }
        endRenewal(with: .success(()))
    }

    /// Puts the token on a request to one of the hosts, loading or refreshing it first if need be.
    ///
    /// A request that has the token's field already is left alone.
    ///
    /// - Throws: What `load` and `refresh` throw; ``RequestError`` with code
    ///   ``RequestError/Code/authenticationTimedOut`` if they do not return in time.
    public func authorize(_ request: inout URLRequest) async throws {
        guard serves(request), ownFields(of: request).isEmpty, let token = try await currentToken() else { return }
        let fields = try fields(for: token)
        // The names may be known only now.
        guard ownFields(of: request).isEmpty else { return }
        for field in fields { request.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
    }

    /// Refreshes the token that a request carried, unless that has happened since.
    public func reauthorize(after response: DataResponse) async throws -> Bool {
        guard serves(response.request), ownFields(of: response.requestAsMade).isEmpty, case .known(let token?) = state
        else { return false }
        let wasRefused = try fields(for: token).allSatisfy {
            response.request.value(forHTTPHeaderField: $0.name.rawName) == $0.value
        }
        if wasRefused { try await renew(token, isRefused: true) }
        return known != nil
    }
}

extension TokenAuthenticator {
    private func serves(_ request: URLRequest) -> Bool {
        isForHost(of: request) && !AuthenticatorScope.isPart(of: self, isRenewal: true)
    }

    private func isForHost(of request: URLRequest) -> Bool {
        request.url.map { url in hosts.contains { $0.matches(url) } } ?? false
    }

    /// The names of the fields for tokens that a request has by itself.
    private func ownFields(of request: URLRequest?) -> [String] {
        fieldNames.filter { request?.value(forHTTPHeaderField: $0) != nil }.sorted()
    }

    private func fields(for token: Token) throws -> HTTPFields {
        var fields = HTTPFields()
        try authorization(token.value)(&fields)
        fieldNames.formUnion(fields.map(\.name.rawName))
        return fields
    }

    private func values(of token: Token) -> [String]? {
        try? fields(for: token).sorted { $0.name.rawName < $1.name.rawName }.map(\.value)
    }

    private func currentToken() async throws -> Token? {
        if case .unknown = state { try await renew(nil) }
        // Once: a service that hands out tokens which have expired already must not be asked for ever.
        if let token = known, renewal?.isOver == false || isDue(token) { try await renew(token) }
        return known
    }

    private var known: Token? {
        guard case .known(let token) = state else { return nil }
        return token
    }

    private func isDue(_ token: Token) -> Bool {
        guard let expiry = token.expiry else { return false }
        let life = expiry.timeIntervalSince(obtained ?? now())
        return expiry.timeIntervalSince(now()) <= min(leeway / .seconds(1), life / 2)
    }

    /// Replaces the token by what `refresh` brings, or `load` if there is none yet; joins a renewal that is under way.
    ///
    /// - Parameter isRefused: Whether the server refused the token: it must not be used if there is no other.
    private func renew(_ token: Token?, isRefused: Bool = false) async throws {
        let renewal = self.renewal.flatMap { $0.isOver ? nil : $0 } ?? beginRenewal(of: token)
        let end = renewal.add(isRefused: isRefused)
        do {
            try await end.value { renewal.remove(end) }
        } catch {
            // A refresh before its time may fail.
            guard !Task.isCancelled, !renewal.isRefused, isUsable else { throw error }
        }
    }

    private var isUsable: Bool { known.map { $0.expiry.map { $0 > now() } ?? true } ?? false }

    private func beginRenewal(of token: Token?) -> Renewal {
        let renewal = Renewal()
        self.renewal = renewal
        let start = generation
        // A task of its own, so that no caller's cancellation ends what others wait for, nor a closure that blocks the
        // threads they need. It runs later: the token may have been replaced by then.
        _ = Task.onOwnThreads { await self.run(renewal, of: token, generation: start) }
        return renewal
    }

    private func run(_ renewal: Renewal, of token: Token?, generation start: Int) async {
        guard generation == start else { return }
        running += 1
        let result: Result<Token?, any Error>
        do {
            result = .success(try await renewed(token, renewal))
        } catch {
            result = .failure(error)
        }
        running -= 1
        guard generation == start else { return }
        // Past its limit, a renewal ends nobody's wait for the next one, unless it brings a token. That token is kept:
        // many services accept a refresh token only once, so dropping what came for it would sign the user out.
        if renewal.isOver, (try? result.get()) == nil { return }
        if case .success(let new) = result { take(new, for: token) }
        endRenewal(with: result.map { _ in })
    }

    /// What `load` or `refresh` returns, however late that is; ends the renewal when the limit has passed.
    private func renewed(_ token: Token?, _ renewal: Renewal) async throws -> Token? {
        let (function, names) = (token == nil ? "load" : "refresh", hostNames)
        let end = { @Sendable [renewalLimit] in
            let reason =
                "the authenticator of \(names) got no token: its '\(function)' did not return within "
                + "\(renewalLimit.shown). If it waits for a call with this authenticator in another task, set "
                + "'authorize = false' for that call"
            renewal.end(with: .failure(RequestError(.authenticationTimedOut, stage: .executing, reason: reason)))
        }
        // No time has passed already.
        if renewalLimit == .zero { end() }
        // The work of whoever asked first may be over before, cancelled; this one lasts.
        return try await AuthenticatorScope.of(self, isRenewal: true) {
            @Sendable [load, refresh, renewalLimit, clock] in
            try await withTimeLimit(renewalLimit, clock, expire: end) {
                guard let token else { return try await load() }
                return try await refresh(token)
            }
        }
    }

    nonisolated var hostNames: String {
        hosts.isEmpty ? "no host" : hosts.map(\.text).sorted().joined(separator: ", ").shortened(to: 120)
    }

    /// - Parameter old: The token that was to be refreshed; `nil` if one was loaded.
    private func take(_ new: Token?, for old: Token?) {
        switch (new, old) {
        case (nil, let old?):
            refused.insert(old.value)
            state = .unknown
        case (nil, nil): break
        case (let new?, nil) where refused.contains(new.value): break
        default:
            state = .known(new)
            reported.remove([])
        }
    }

    private func endRenewal(with result: Result<Void, any Error>) {
        renewal?.end(with: result)
        renewal = nil
    }

    /// What a refusal means: however many requests carried the same credentials, the user is signed out once.
    func explanation(of refusal: DataResponse) -> RefusalExplanation {
        guard isForHost(of: refusal.request) else {
            let host = refusal.request.url?.host() ?? "the URL's host"
            return .init(
                reason: "no credentials were sent: \(host) is not one of the authenticator's hosts (\(hostNames))",
                isFirstRefusal: false)
        }
        let own = ownFields(of: refusal.requestAsMade)
        guard own.isEmpty else {
            let names = own.joined(separator: ", ")
            return .init(
                reason: "the server refused the request's own \(names), which the authenticator left as it was",
                isFirstRefusal: false)
        }
        let values = fieldNames.sorted().compactMap { refusal.request.value(forHTTPHeaderField: $0) }
        // The token that could not be replaced, and the requests without a token since, are refused for one reason.
        let isUnknown = if case .unknown = state { true } else { false }
        return .init(
            reason: values.isEmpty ? "no credentials were sent: \(reasonForNoToken)" : nil,
            isFirstRefusal: reported.insert(isUnknown ? [] : values).inserted)
    }

    private var reasonForNoToken: String {
        switch state {
        case .unknown:
            refused.isEmpty
                ? "the authenticator's 'load' gave no token"
                : "the authenticator's 'refresh' gave no new token, and 'load' no other one"
        case .known(nil): "setToken(nil) has signed the user out"
        case .known: "there was no token when the request was sent"
        }
    }

    /// How many requests wait for the renewal that is under way.
    var waiting: Int { renewal?.waiting ?? 0 }
}
