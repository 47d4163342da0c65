/// Loads and refreshes the token of a service, and sends it only to the hosts of this service.
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
/// - Requests to other hosts, and requests that already have an `Authorization`, are sent without the token. If they
///   are refused, there is no refresh, and ``Foundation/URLSession/Config/onUnauthorized`` is not called.
/// - If many requests are refused together, there is one refresh, and all of them wait for it. If it fails, all throw
///   its error, and the next request starts another refresh. A cancelled request stops waiting immediately.
/// - Requests that `load` or `refresh` makes are sent without the token. In a detached task, set
///   ``Foundation/URLSession/Config/authorize`` to `false` for them; otherwise they wait for the refresh itself.
public actor TokenAuthenticator: Authenticator {
    private let hosts: Set<HostPattern>
    private let leeway: Duration
    private let renewalLimit: Duration
    private let authorization: @Sendable (String) -> Authorization
    /// Calls `refresh` for a token, and `load` for `nil`.
    private let renewed: @Sendable (Token?) async throws -> Token?
    /// Tests replace it.
    var clock: any Clock<Duration> = ContinuousClock()
    var now: @Sendable () -> Date = { Date() }

    private var state = State()
    /// The last renewal; the next one begins only after it is over.
    private var renewal = Renewal()
    /// The fields that contain the token; a request that already has one of them is not authorized.
    private var fieldNames: Set<String>

    /// Marks the requests of `load` and `refresh`, also if another authenticator wraps this one.
    private let marker = Locked(())

    var waiting: Int { renewal.waiting }

    /// An authenticator for the hosts of one service.
    ///
    /// - Parameters:
    ///   - hosts: The hosts that receive the token, such as `api.example.com`, `localhost:8080` for one port only, or
    ///     `https://api.example.com` for one scheme. An invalid host, such as `*.example.com`, is logged as an error
    ///     and ignored.
    ///   - leeway: The time before its expiry when a token is refreshed, by default 30 s. A token is never refreshed
    ///     in the first half of its lifetime.
    ///   - renewalLimit: The time that requests wait for `load` or `refresh`, by default 30 s. Then they throw
    ///     ``RequestError/Code/authenticationTimedOut``. A token that comes later is used, unless the token was
    ///     changed meanwhile.
    ///   - authorization: Writes the token, by default as a bearer token. The same token must give the same fields.
    ///   - load: Returns the first token, for example from the keychain. If it returns `nil`, the request is sent
    ///     without a token, and the next request calls `load` again. The request rethrows its errors.
    ///   - refresh: Returns a new token for one that was refused or expires soon. Store it where `load` finds it. If
    ///     it returns `nil`, ``Foundation/URLSession/Config/onUnauthorized`` is called, and later requests call `load`.
    ///     Throw an error for a transient failure: the request rethrows it, unless its token is still valid. If it
    ///     returns the same token, it is not called again for 10 s because of refusals.
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
        // No renewal is running yet.
        renewal.end(with: .success(()))
    }

    /// Replaces the token, for example after the user signed in or, with `nil`, signed out.
    ///
    /// - Parameter token: The token of all later requests, including those that wait for a refresh. With `nil`, they
    ///   have no token until another one is set, and `load` is not called.
    public func setToken(_ token: Token?) {
        let fields = token.flatMap { try? self.fields(for: $0) } ?? [:]
        state.set(token, Set(fields.map(\.value)), at: now())
        renewal.end(with: .success(()))
    }

    /// Adds the token to a request to one of the hosts, and loads or refreshes it first if necessary.
    ///
    /// - Throws: The errors of `load` and `refresh`; ``RequestError/Code/authenticationTimedOut`` if they do not return
    ///   in time.
    public func authorize(_ request: inout URLRequest) async throws {
        guard serves(request, asMade: request) else { return }
        if state.isUnknown { try await renew(nil) }
        // Only once, because a service may always return tokens that have already expired.
        if let token = state.token, !renewal.isOver || state.isDue(at: now(), leeway: leeway) {
            try await renew(token)
        }
        guard let token = state.token else { return }
        let fields = try fields(for: token)
        // Their names may be known only now.
        guard ownFields(of: request).isEmpty else { return }
        for field in fields { request.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
    }

    /// Refreshes the token of a refused request, unless it has been replaced since.
    public func reauthorize(after response: DataResponse) async throws -> Bool {
        guard serves(response.request, asMade: response.requestAsMade), let token = state.token else { return false }
        let wasSent = try fields(for: token).allSatisfy {
            response.request.value(forHTTPHeaderField: $0.name.rawName) == $0.value
        }
        if wasSent, !renewal.isOver || state.mayRefresh(at: now()) { try await renew(token, isRefused: true) }
        return state.token != nil
    }

    /// Explains a refusal without new credentials.
    ///
    /// - Returns: The reason, without secrets, or `nil` if the token was sent; and whether the user must be signed out,
    ///   which is true once for all requests with the same token.
    func explanation(of refusal: DataResponse) -> (reason: String?, isFirstRefusal: Bool) {
        guard isForHost(of: refusal.request) else {
            let host = refusal.request.url?.host() ?? "the URL's host"
            return ("no credentials were sent: \(host) is not one of the authenticator's hosts (\(hostNames))", false)
        }
        let own = ownFields(of: refusal.requestAsMade).sorted().joined(separator: ", ")
        guard own.isEmpty else {
            return ("the server refused the request's own \(own), which the authenticator does not replace", false)
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

    /// The token fields that a request already has.
    private func ownFields(of request: URLRequest?) -> Set<String> {
        fieldNames.filter { request?.value(forHTTPHeaderField: $0) != nil }
    }

    private func fields(for token: Token) throws -> HTTPFields {
        var fields = HTTPFields()
        try authorization(token.value)(&fields)
        fieldNames.formUnion(fields.map(\.name.rawName))
        return fields
    }

    /// Replaces the token by the result of `refresh`, or of `load` for `nil`, or joins the running renewal.
    private func renew(_ token: Token?, isRefused: Bool = false) async throws {
        if renewal.isOver {
            renewal = Renewal()
            // A separate task, because others still need the renewal if this caller is cancelled. It does not run on
            // Swift's thread pool, which a closure could block. The token may be replaced before the task runs.
            _ = Task.onOwnThreads { [renewal, start = state.generation] in
                await self.run(renewal, of: token, since: start)
            }
        }
        let renewal = renewal
        do {
            try await renewal.wait(isRefused: isRefused)
        } catch {
            // If a refresh before the expiry fails, the old token is used.
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
        // A limit of zero has already passed.
        if renewalLimit == .zero { expire() }
        // This task inherits the scope of its first caller, which ends early if that caller is cancelled.
        let result = await Result(of: { @Sendable [renewed, renewalLimit, clock, marker] in
            try await WorkScope.of(self) {
                try await WorkScope.of(marker) {
                    try await withTimeLimit(renewalLimit, clock, expire: expire) { try await renewed(token) }
                }
            }
        })
        guard state.take(result, for: token, since: start, isLate: renewal.isOver, at: now()) else { return }
        // If this renewal is late, this ends the next one.
        self.renewal.end(with: result.map { _ in })
    }
}

extension TokenAuthenticator: RedactedReflectable {
    nonisolated var shownChildren: [(String, Any?)] { [("hosts", hostNames)] }
}
