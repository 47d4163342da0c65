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
/// - Requests to other hosts are sent without the token, and so are those that have an `Authorization` of their own. If
///   they are refused, no token is refreshed, and ``Foundation/URLSession/Config/onUnauthorized`` is not called.
/// - However many requests are refused at once, there is one refresh, and all wait for it. If it fails, all throw its
///   error, and the next request tries again. A cancelled request stops waiting at once.
/// - Requests made within `load` or `refresh` are sent without the token. One made there in a detached task waits for
///   itself: set ``Foundation/URLSession/Config/authorize`` to `false` for it.
public actor TokenAuthenticator: Authenticator {
    private let hosts: Set<HostPattern>
    private let leeway: Duration
    private let renewalLimit: Duration
    private let authorization: @Sendable (String) -> Authorization
    /// Calls `refresh`, or `load` without a token.
    private let renewed: @Sendable (Token?) async throws -> Token?
    /// Tests set another one.
    var clock: any Clock<Duration> = ContinuousClock()
    var now: @Sendable () -> Date = { Date() }

    private var state = State()
    /// The last renewal; another one may begin when it is over.
    private var renewal = Renewal()
    /// The fields that tokens are written to: a request that has one of them by itself is left alone.
    private let fieldNames: Set<String>

    /// Marks what `load` and `refresh` do.
    private let marker = Locked(())

    var waiting: Int { renewal.waiting }

    /// An authenticator for the hosts of one service.
    ///
    /// - Parameters:
    ///   - hosts: The hosts that the token is for, such as `api.example.com`, `localhost:8080` for one port only, or
    ///     `https://api.example.com` for one scheme. What is not a host, such as `*.example.com`, is logged as an
    ///     error and ignored.
    ///   - leeway: How long before its expiry a token is refreshed, by default 30 s, but never in the first half of
    ///     its life.
    ///   - renewalLimit: How long requests wait for `load` or `refresh`, by default 30 s. Then they throw
    ///     ``RequestError/Code/authenticationTimedOut``. A token that comes later is used, unless it has changed since.
    ///   - authorization: How the token is written, by default as a bearer token. It must be the same each time.
    ///   - load: Returns the first token, such as from the keychain; `nil` while nobody is signed in: the request is
    ///     sent without one, and the next one calls `load` again. The request throws what it throws.
    ///   - refresh: Returns a new token in place of one that was refused or is about to expire; store it where `load`
    ///     finds it. `nil` signs the user out: ``Foundation/URLSession/Config/onUnauthorized`` is called, and `load`
    ///     from then on. Throw transient errors: the request throws them, unless its token is still good.
    public init(
        hosts: Set<String>, leeway: Duration = .seconds(30), renewalLimit: Duration = .seconds(30),
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) },
        load: @escaping @Sendable () async throws -> Token?,
        refresh: @escaping @Sendable (_ refused: Token) async throws -> Token?
    ) {
        self.hosts = Set(hosts.compactMap { HostPattern($0, of: "TokenAuthenticator(hosts:)") })
        self.leeway = leeway
        self.renewalLimit = max(renewalLimit, .zero).clamped
        self.authorization = authorization
        renewed = { token in if let token { try await refresh(token) } else { try await load() } }
        var fields = HTTPFields()
        try? authorization("token")(&fields)
        fieldNames = fields.isEmpty ? ["Authorization"] : Set(fields.map(\.name.rawName))
        // None is under way.
        renewal.end(with: .success(()))
    }

    /// Replaces the token, such as after signing in or, with `nil`, out.
    ///
    /// - Parameter token: The token that requests carry from now on, including those that wait for a refresh. `nil` for
    ///   none, until another one is set: `load` is not called.
    public func setToken(_ token: Token?) {
        let fields = token.flatMap { try? self.fields(for: $0) } ?? [:]
        state.set(token, Set(fields.map(\.value)), at: now())
        renewal.end(with: .success(()))
    }

    /// Puts the token on a request to one of the hosts, and loads or refreshes it first if necessary.
    ///
    /// - Throws: What `load` and `refresh` throw; ``RequestError/Code/authenticationTimedOut`` if they do not return in
    ///   time.
    public func authorize(_ request: inout URLRequest) async throws {
        guard serves(request, asMade: request) else { return }
        if state.isUnknown { try await renew(nil) }
        // Once: a service that returns tokens which have expired already must not be called for ever.
        if let token = state.token, !renewal.isOver || state.isDue(at: now(), leeway: leeway) {
            try await renew(token)
        }
        guard let token = state.token else { return }
        for field in try fields(for: token) { request.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
    }

    /// Refreshes the token that a request carried, unless that has happened since.
    public func reauthorize(after response: DataResponse) async throws -> Bool {
        guard serves(response.request, asMade: response.requestAsMade), let token = state.token else { return false }
        let wasSent = try fields(for: token).allSatisfy {
            response.request.value(forHTTPHeaderField: $0.name.rawName) == $0.value
        }
        if wasSent { try await renew(token, isRefused: true) }
        return state.token != nil
    }

    /// What a refusal means for which there are no new credentials.
    ///
    /// - Returns: What happened, without secrets, or `nil` if the token was sent; and whether the user is to be signed
    ///   out: once, however many requests carried the same token.
    func explanation(of refusal: DataResponse) -> (reason: String?, isFirstRefusal: Bool) {
        guard isForHost(of: refusal.request) else {
            let host = refusal.request.url?.host() ?? "the URL's host"
            return ("no credentials were sent: \(host) is not one of the authenticator's hosts (\(hostNames))", false)
        }
        let own = ownFields(of: refusal.requestAsMade).sorted().joined(separator: ", ")
        guard own.isEmpty else {
            return ("the server refused the request's own \(own), which the authenticator left as it was", false)
        }
        let sent = Set(fieldNames.compactMap { refusal.request.value(forHTTPHeaderField: $0) })
        let reason = sent.isEmpty ? "no credentials were sent: \(state.reasonForNoToken)" : nil
        return (reason, state.report(sent))
    }

    private nonisolated var hostNames: String {
        hosts.isEmpty ? "no host" : hosts.map(\.description).sorted().joined(separator: ", ").shortened(to: 120)
    }

    private func isForHost(of request: URLRequest) -> Bool {
        HostPattern.matching(request.url).contains(where: hosts.contains)
    }

    /// Whether this authenticator decides about the credentials of a request.
    private func serves(_ request: URLRequest, asMade original: URLRequest?) -> Bool {
        isForHost(of: request) && ownFields(of: original).isEmpty && !WorkScope.contains(marker)
    }

    /// The fields for tokens that a request has.
    private func ownFields(of request: URLRequest?) -> Set<String> {
        fieldNames.filter { request?.value(forHTTPHeaderField: $0) != nil }
    }

    private func fields(for token: Token) throws -> HTTPFields {
        var fields = HTTPFields()
        try authorization(token.value)(&fields)
        return fields
    }

    /// Replaces the token by what `refresh` returns, or `load` if there is none yet; joins a renewal that is under way.
    private func renew(_ token: Token?, isRefused: Bool = false) async throws {
        if renewal.isOver {
            renewal = Renewal()
            // A task of its own, so that no caller's cancellation ends what others wait for, nor a closure that blocks
            // the threads they need. It runs later: the token may have been replaced by then.
            _ = Task.onOwnThreads { [renewal, start = state.generation] in
                await self.run(renewal, of: token, since: start)
            }
        }
        let renewal = renewal
        do {
            try await renewal.wait(isRefused: isRefused)
        } catch {
            // A refresh before the expiry may fail.
            guard !Task.isCancelled, !renewal.isRefused, state.isUsable(at: now()) else { throw error }
        }
    }

    private func run(_ renewal: Renewal, of token: Token?, since start: Int) async {
        guard state.generation == start else { return }
        let reason = """
            the authenticator of \(hostNames) has no token: its '\(token == nil ? "load" : "refresh")' did not return \
            within \(renewalLimit.shown). If it waits for a call with this authenticator in another task, set \
            'authorize = false' for that call
            """
        let expire = { @Sendable in
            renewal.end(with: .failure(RequestError(.authenticationTimedOut, reason: reason)))
        }
        // A limit of zero has passed already.
        if renewalLimit == .zero { expire() }
        // The scope of whoever asked first may end earlier, cancelled; this one lasts.
        let result = await Result(of: { @Sendable [renewed, renewalLimit, clock, marker] in
            try await WorkScope.of(self) {
                try await WorkScope.of(marker) {
                    try await withTimeLimit(renewalLimit, clock, expire: expire) { try await renewed(token) }
                }
            }
        })
        guard state.take(result, for: token, since: start, isLate: renewal.isOver, at: now()) else { return }
        // The next one if this one is late.
        self.renewal.end(with: result.map { _ in })
    }
}

extension TokenAuthenticator: RedactedReflectable {
    nonisolated var shownChildren: [(String, Any?)] { [("hosts", hostNames)] }
}
