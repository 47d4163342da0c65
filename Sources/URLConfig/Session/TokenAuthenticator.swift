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
/// - However many requests are refused at once, one refresh is under way, and all wait for it. A refusal that comes late, of
///   a token that has been replaced since, causes none.
/// - A token that knows its expiry is refreshed shortly before.
/// - A refresh that fails fails every request that waits for it with the same error; the next request may try again.
/// - A request that is cancelled while it waits ends at once, and the refresh goes on for the others.
/// - A request made within `load` or `refresh` does not wait for itself: it leaves without the token.
public actor TokenAuthenticator: Authenticator {
    private enum State {
        /// `load` is to be asked.
        case unknown
        case known(Token?)
    }

    /// A `load` or `refresh` under way.
    private struct Renewal {
        var isRefused = false
        var waiters: [Promise<Void>] = []
    }

    private let hosts: [Host]
    private let leeway: Duration
    private let authorization: @Sendable (String) -> Authorization
    private let load: @Sendable () async throws -> Token?
    private let refresh: @Sendable (Token) async throws -> Token?
    private let now: @Sendable () -> Date

    private var state = State.unknown { didSet { obtained = now() } }
    /// The tokens that were refused and could not be replaced: `load` may still have them.
    private var refused: Set<String> = []
    /// When the token was got.
    private var obtained: Date?
    /// Which of the token's changes this is: a result that was asked for before the last one counts no more.
    private var generation = 0
    private var renewal: Renewal?
    /// The fields that tokens are written to.
    private var fieldNames: Set<String> = []
    /// The credentials that were refused for good, none among them: their values, by the order of ``fieldNames``.
    private var reported: Set<[String]> = []

    /// The authenticators whose `load` or `refresh` this task is part of, however it came to ask one of them.
    @TaskLocal private static var renewing: [ObjectIdentifier] = []

    /// An authenticator for the hosts of one service.
    ///
    /// - Parameters:
    ///   - hosts: The hosts that the token is for, such as `api.example.com`, `localhost:8080` for one port only, or
    ///     `https://api.example.com` for one scheme. It is put on no other request. What is no host name, such as
    ///     `*.example.com`, is logged as an error and matches none.
    ///   - leeway: How long before its expiry a token is refreshed, but not in the first half of the life that it has left when
    ///     it is got.
    ///   - authorization: How the token is written; at first as a bearer token. The same each time: a token that was refused
    ///     is known by it, and one that is written in another way is not refreshed.
    ///   - load: The token to begin with, such as from the keychain; `nil` while nobody is signed in: requests then leave
    ///     without one, and it is called again before the next. What it throws, that request throws.
    ///   - refresh: A new token in place of one that was refused or is about to expire; store it where `load` finds it. `nil`
    ///     if there is none to be had any more: the user is signed out,
    ///     ``Foundation/URLSession/Config/onUnauthorized`` is called, and `load` asked for another one from then on.
    ///     Throw what may pass, such as a failing network: the request throws it, unless its token is still good.
    public init(
        hosts: Set<String>, leeway: Duration = .seconds(30),
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) },
        load: @escaping @Sendable () async throws -> Token?,
        refresh: @escaping @Sendable (_ refused: Token) async throws -> Token?
    ) {
        self.init(
            hosts: hosts, leeway: leeway, authorization: authorization, now: { Date() }, load: load, refresh: refresh)
    }

    init(
        hosts: Set<String>, leeway: Duration = .seconds(30),
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) },
        now: @escaping @Sendable () -> Date,
        load: @escaping @Sendable () async throws -> Token?, refresh: @escaping @Sendable (Token) async throws -> Token?
    ) {
        self.hosts = Host.all(hosts)
        self.leeway = leeway
        self.authorization = authorization
        self.now = now
        self.load = load
        self.refresh = refresh
    }

    /// Replaces the token, such as after signing in or, with `nil`, out.
    ///
    /// - Parameter token: The token that requests carry from now on, those too that wait for a refresh: what that brings is
    ///   dropped. `nil` for none, until another one is set: `load` is not asked.
    public func setToken(_ token: Token?) {
        state = .known(token)
        if let token { refused.remove(token.value) }
        // A token that was refused before, and is set again, counts as another one; so does having none.
        reported.remove([])
        if let values = token.flatMap(values) { reported.remove(values) }
        endRenewal(with: .success(()))
    }

    /// Puts the token on a request to one of the hosts, loading or refreshing it first if need be.
    public func authorize(_ request: inout URLRequest) async throws {
        guard serves(request), let token = try await currentToken() else { return }
        for field in try fields(for: token) {
            request.setValue(field.value, forHTTPHeaderField: field.name.rawName)
            fieldNames.insert(field.name.rawName)
        }
    }

    /// Refreshes the token that a request carried, unless that has happened since.
    public func reauthorize(after response: DataResponse) async throws -> Bool {
        guard serves(response.request), case .known(let token?) = state else { return false }
        let wasRefused = try fields(for: token).allSatisfy {
            response.request.value(forHTTPHeaderField: $0.name.rawName) == $0.value
        }
        if wasRefused { try await renew(token, isRefused: true) }
        return known != nil
    }
}

extension TokenAuthenticator {
    private func serves(_ request: URLRequest) -> Bool {
        guard let url = request.url, hosts.contains(where: { $0.matches(url) }) else { return false }
        return !(renewal != nil && Self.renewing.contains(ObjectIdentifier(self)))
    }

    private func fields(for token: Token) throws -> HTTPFields {
        var fields = HTTPFields()
        try authorization(token.value)(&fields)
        return fields
    }

    private func values(of token: Token) -> [String]? {
        try? fields(for: token).sorted { $0.name.rawName < $1.name.rawName }.map(\.value)
    }

    private func currentToken() async throws -> Token? {
        if case .unknown = state { try await renew(nil) }
        // Once: a service that hands out tokens which have expired already must not be asked for ever.
        if let token = known, renewal != nil || isDue(token) { try await renew(token) }
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
    /// - Parameter isRefused: Whether the server holds the token for bad: it must not be used if there is no other.
    private func renew(_ token: Token?, isRefused: Bool = false) async throws {
        if renewal == nil {
            renewal = Renewal()
            let start = generation
            // A task of its own, so that no caller's cancellation ends what others wait for. It runs later: the token may have
            // been replaced by then.
            Task { await runRenewal(of: token, generation: start) }
        }
        let end = Promise<Void>()
        renewal?.waiters.append(end)
        if isRefused { renewal?.isRefused = true }
        try await end.value()
    }

    private func runRenewal(of token: Token?, generation start: Int) async {
        guard generation == start else { return }
        let result: Result<Token?, any Error>
        do {
            let new = try await Self.$renewing.withValue(Self.renewing + [ObjectIdentifier(self)]) {
                // The work of whoever asked first may be over before, cancelled; this one lasts.
                try await AuthenticatorWork.of(self) { @Sendable [load, refresh] in
                    guard let token else { return try await load() }
                    return try await refresh(token)
                }
            }
            result = .success(new)
        } catch {
            result = .failure(error)
        }
        guard generation == start else { return }
        if case .success(let new) = result { take(new, for: token) }
        endRenewal(with: result.map { _ in })
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
        generation += 1
        // A refresh before its time may fail.
        let isGood = renewal?.isRefused == false && known.map { $0.expiry.map { $0 > now() } ?? true } == true
        for waiter in renewal?.waiters ?? [] { waiter.keep(isGood ? .success(()) : result) }
        renewal = nil
    }

    /// Whether a final refusal is the first of these credentials: however many requests carried them, the user is signed out
    /// once.
    func isNews(_ refusal: DataResponse) -> Bool {
        // What could not be replaced, and the requests that leave without a token since, are refused for the same reason.
        if case .unknown = state { return reported.insert([]).inserted }
        let values = fieldNames.sorted().compactMap { refusal.request.value(forHTTPHeaderField: $0) }
        return reported.insert(values).inserted
    }

    /// How many requests wait for the renewal that is under way.
    var waiting: Int { renewal?.waiters.count ?? 0 }
}
