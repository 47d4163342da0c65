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
    /// A token and, if it is known, its expiry.
    public struct Token: Sendable, RedactedDescribable {
        /// The token.
        public var value: String
        /// The time when it expires; `nil` if only the server knows it.
        public var expiry: Date?

        /// A token and its expiry; `nil` if only the server knows it.
        public init(_ value: String, expiry: Date? = nil) {
            self.value = value
            self.expiry = expiry
        }

        var shownText: String { "Token(\(Redaction.mask), expiry: \(expiry.map { "\($0)" } ?? "unknown"))" }
    }

    private final class Marker: Sendable {}

    private let hosts: [Origin]
    private let leeway: Duration
    private let renewalLimit: Duration
    private let authorization: @Sendable (String) -> Authorization
    /// Calls `refresh` for a token, if there is one, and `load` for `nil`.
    private let renewed: @Sendable (Token?) async throws -> Token?
    /// Tests replace it.
    var clock: any Clock<Duration> = ContinuousClock()
    var now: @Sendable () -> Date = { Date() }

    private(set) var state: State
    /// The requests that wait for the running renewal, which goes on without them.
    private var waiters: [ObjectIdentifier: OneShot<Void>] = [:]
    /// The calls of `load` and `refresh` that have not returned, by the numbers of their renewals.
    private var running: [Int: (work: Task<Void, Never>, marker: Marker)] = [:]
    /// The fields that contain the token; a request that already has one of them is not authorized.
    private var fieldNames: Set<String>
    /// Marks the requests of `load` and `refresh`, even if another authenticator wraps this one.
    private let marker = Marker()

    var waiting: Int { waiters.count }

    /// An authenticator for the hosts of one service.
    ///
    /// - Parameters:
    ///   - hosts: The hosts that receive the token, such as `api.example.com`, or `localhost:8080` for one port only.
    ///     Over `http`, the token is sent only to this computer (`localhost`, `127.0.0.1`, `::1`) and to hosts that are
    ///     written with `http://`. An invalid host, such as `*.example.com`, is logged as an error and ignored.
    ///   - leeway: The time before its expiry when a token is refreshed, by default 30 s. A token is never refreshed
    ///     in the first half of its lifetime.
    ///   - renewalLimit: The time that requests wait for `load` or `refresh`, by default 30 s. Then they throw
    ///     ``RequestError/Code/authenticationTimedOut``. A token that comes later is used, unless the token was
    ///     changed meanwhile.
    ///   - authorization: Writes the token, by default as a bearer token. The same token must give the same fields.
    ///   - load: Returns the first token, for example from the keychain. If it returns `nil`, the request is sent
    ///     without a token, and the next request calls `load` again. The request rethrows its errors.
    ///   - refresh: Returns a new token for one that was refused or expires soon. Store the new one where `load` finds
    ///     it, but not if the task is cancelled: then the user has signed out. Throw an error for a transient failure:
    ///     the request rethrows it, or uses its old token if that was not refused and has not expired.
    ///     - If it returns `nil`, the user has to sign in again: a refused request calls
    ///       ``Foundation/URLSession/Config/onUnauthorized``, and later requests call `load`.
    ///     - If it returns the old token, refusals do not call it again for 10 s.
    ///     - By default, `load` is called instead. If it returns the old token or `nil`, a refused token is not sent
    ///       again, and a token that was not refused is kept.
    public init(
        hosts: Set<String>, leeway: Duration = .seconds(30), renewalLimit: Duration = .seconds(30),
        authorization: @escaping @Sendable (String) -> Authorization = { .bearer($0) },
        load: @escaping @Sendable () async throws -> Token?,
        refresh: (@Sendable (_ refused: Token) async throws -> Token?)? = nil
    ) {
        self.hosts = hosts.compactMap { Origin(pattern: $0, of: "TokenAuthenticator(hosts:)") }
        self.leeway = leeway
        self.renewalLimit = max(renewalLimit, .zero).clamped
        self.authorization = authorization
        renewed = { token in if let token, let refresh { try await refresh(token) } else { try await load() } }
        state = State(hasRefresh: refresh != nil)
        var fields = HTTPFields()
        try? authorization("token")(&fields)
        fieldNames = fields.isEmpty ? ["Authorization"] : Set(fields.map(\.name.rawName))
    }

    /// Replaces the token, for example after the user signed in or, with `nil`, signed out.
    ///
    /// With `nil`, requests have no token until another one is set, and `load` is not called. The task of a running
    /// `load` or `refresh` is cancelled, unless it calls this function itself.
    ///
    /// Set `nil` before you set the token of another user. Then no request of the first user is sent again with the
    /// token of the second one.
    ///
    /// - Parameter token: The token of all later requests, including those that wait for a refresh.
    public func setToken(_ token: Token?) async {
        let fields = token.flatMap { try? self.fields(for: $0) } ?? [:]
        let login = state.login
        let isOther = state.set(token, credentials: Self.key(fields.map(\.value)), at: now())
        if login !== state.login { login?.end() }
        if isOther { endRenewal(with: .success(())) }
        if token == nil { await cancelRunning() }
    }

    /// Cancels `load` and `refresh`, which could store the token of a user who has signed out.
    ///
    /// - Parameter ended: The number of a renewal whose function has returned. One that signs the user out itself goes
    ///   on, too.
    private func cancelRunning(except ended: Int? = nil) async {
        for (number, (work, marker)) in running where number != ended && !WorkScope.contains(marker) {
            // It calls handlers of the app, which may block, after it has set `isCancelled`.
            Thread.detachNewThread { work.cancel() }
            let start = ContinuousClock.now
            // There may be no thread.
            while !work.isCancelled, ContinuousClock.now - start < .seconds(1) { await Task.yield() }
        }
    }

    /// Adds the token to a request to one of the hosts, and loads or refreshes it first if necessary.
    ///
    /// - Throws: The errors of `load` and `refresh`; ``RequestError/Code/authenticationTimedOut`` if they do not return
    ///   in time.
    public func authorize(_ request: inout URLRequest) async throws {
        guard serves(request, asMade: request) else { return }
        if state.isUnknown { try await renew(nil) }
        // Only once, because a service may always return tokens that have already expired.
        if let token = state.token, state.renewal != nil || state.isDue(at: now(), leeway: leeway) {
            try await renew(token)
        }
        if let authorized = try withToken(request) { request = authorized }
    }

    /// A request with the present token; `nil` if there is none, or if the request has credentials of its own.
    private func withToken(_ request: URLRequest) throws -> URLRequest? {
        guard let token = state.token else { return nil }
        let fields = try fields(for: token)
        // Their names may be known only now.
        guard ownFields(of: request).isEmpty else { return nil }
        var request = request
        for field in fields { request.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
        return request
    }

    /// Refreshes the token of a refused request, unless it has been replaced since.
    public func reauthorize(after response: DataResponse) async throws -> Bool {
        guard serves(response.request, asMade: response.requestAsMade), !isOver(response.request),
            let token = state.token
        else { return false }
        if has(response.request, token.value), state.renewal != nil || state.mayRefresh(at: now()) {
            try await renew(token, isRefused: true)
        }
        // The user may have signed out meanwhile.
        return state.token != nil && !isOver(response.request)
    }

    /// Explains a refusal without new credentials.
    ///
    /// - Parameter reports: Whether the call tells the app, so that no other call does.
    /// - Returns: The reason, without secrets, or `nil` if the token was sent; and whether the user must be signed out,
    ///   which is true once for all requests with the same token.
    func explanation(of refusal: DataResponse, reports: Bool) -> (reason: String?, isFirstRefusal: Bool) {
        let own = ownFields(of: refusal.requestAsMade).sorted().joined(separator: ", ")
        guard own.isEmpty else {
            return ("the server refused the request's own \(own), which the authenticator does not replace", false)
        }
        guard isForHost(of: refusal.request) else {
            let scheme = Origin(refusal.request.url).isReadable ? "http://" : ""
            let name = refusal.request.url?.host().map { scheme + $0 } ?? "the URL's host"
            return ("no credentials were sent: \(name) is not one of the authenticator's hosts (\(hostNames))", false)
        }
        // Whoever has signed in since was not refused.
        if state.token != nil, isOver(refusal.request) { return (Self.over, false) }
        let sent = fieldNames.compactMap { refusal.request.value(forHTTPHeaderField: $0) }
        // The next call uses the newer token, which nobody has refused.
        if !sent.isEmpty, let token = state.token, !has(refusal.request, token.value) {
            return ("the token was replaced while the request was on its way", false)
        }
        let reason = sent.isEmpty ? "no credentials were sent: \(state.reasonForNoToken)" : nil
        // A call that has ended meanwhile cannot tell the app, so the next one does.
        return (reason, reports && !Task.isCancelled && state.report(Self.key(sent), at: now()))
    }

    private static let over = "the user has signed out since the request was sent"

    /// Authorizes a request that continues what another one has begun: another user must not send it.
    ///
    /// - Parameter sent: The other request as it was sent.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unauthorized`` if its user has signed out since.
    func authorize(_ request: inout URLRequest, after sent: URLRequest) async throws {
        try checkLogin(of: sent)
        try await authorize(&request)
        // The user may have signed out while this has waited for a renewal.
        try checkLogin(of: sent)
    }

    private func checkLogin(of request: URLRequest) throws {
        // Without a new token, nobody has signed in instead: the server refuses the request, and the app is told.
        if !state.isUnknown, isOver(request) { throw RequestError(.unauthorized, reason: Self.over, request: request) }
    }

    /// Whether a request was sent with a token of a user who has signed out since, or whose token was refused for
    /// good.
    private func isOver(_ request: URLRequest) -> Bool { state.over.contains { has(request, $0) } }

    /// Whether a request was sent with a token.
    private func has(_ request: URLRequest, _ token: String) -> Bool {
        let fields = try? fields(for: Token(token))
        return fields?.allSatisfy { request.value(forHTTPHeaderField: $0.name.rawName) == $0.value } ?? false
    }

    /// The identity of the field values of a request, `""` for a request without credentials.
    private static func key(_ values: [String]) -> String { Set(values).sorted().joined(separator: "\n") }

    private nonisolated var hostNames: String {
        hosts.isEmpty ? "no host" : hosts.map(\.description).sorted().joined(separator: ", ").shortened(to: 120)
    }

    private func isForHost(of request: URLRequest) -> Bool {
        let origin = Origin(request.url)
        return origin.patterns.contains { hosts.contains($0) && !(origin.isReadable && $0.scheme == nil) }
    }

    /// Whether this authenticator decides about the credentials of a request.
    private func serves(_ request: URLRequest, asMade original: URLRequest?) -> Bool {
        isForHost(of: request) && ownFields(of: original).isEmpty && !WorkScope.contains(marker)
    }

    /// The token fields that a request already has.
    private func ownFields(of request: URLRequest?) -> Set<String> {
        fieldNames.filter { request?.value(forHTTPHeaderField: $0) != nil }
    }

    /// The login to which the credentials of a request belong, and their fields with the first token of that login.
    ///
    /// - Parameter request: The request as it is sent.
    func login(of request: URLRequest) -> (login: Login, fields: HTTPFields)? {
        guard isForHost(of: request), !ownFields(of: request).isEmpty else { return nil }
        func isOf(_ login: Login) -> Bool { login.tokens.contains { has(request, $0) } }
        guard let login = state.login.flatMap({ isOf($0) ? $0 : nil }) ?? state.past.last(where: isOf),
            let fields = try? fields(for: Token(login.first))
        else { return nil }
        return (login, fields)
    }

    /// A request that could not be authorized, with the token that could not be refreshed; `nil` if there is none.
    ///
    /// It is for the cache, and must not be sent.
    func withLastToken(_ request: URLRequest) throws -> URLRequest? {
        serves(request, asMade: request) ? try withToken(request) : nil
    }

    private func fields(for token: Token) throws -> HTTPFields {
        var fields = HTTPFields()
        try authorization(token.value)(&fields)
        fieldNames.formUnion(fields.map(\.name.rawName))
        return fields
    }

    /// Replaces the token by the result of `refresh`, or of `load` for `nil`, or joins the running renewal.
    private func renew(_ token: Token?, isRefused: Bool = false) async throws {
        if state.renewal == nil {
            let renewal = state.beginRenewal(of: token)
            // A separate task, because others still need the renewal if this caller is cancelled. It does not run on
            // Swift's thread pool, which a closure could block.
            // Closures that block may leave no thread for it, so its time begins now.
            let alarm = Alarm(after: renewalLimit, clock) { Task { await self.expire(renewal) } }
            let marker = Marker()
            let work = Task.onOwnThreads {
                await self.run(renewal, marker)
                withExtendedLifetime(alarm) {}
            }
            running[renewal.number] = (work, marker)
        }
        if isRefused { state.renewal?.isOfRefused = true }
        let waiter = OneShot<Void>()
        waiters[ObjectIdentifier(waiter)] = waiter
        defer { waiters[ObjectIdentifier(waiter)] = nil }
        try await waiter.value()
    }

    /// - Parameter own: Marks what this renewal calls.
    private func run(_ renewal: State.Renewal, _ own: Marker) async {
        defer { running[renewal.number] = nil }
        // The token may have been replaced before this task began.
        guard state.generation == renewal.generation else { return }
        // A limit of zero has already passed.
        if renewalLimit == .zero { expire(renewal) }
        // This task inherits the scope of its first caller, which ends early if that caller is cancelled.
        let result = await Result(of: { @Sendable [renewed, marker] in
            try await WorkScope.of(self, marker, own) { try await renewed(renewal.token) }
        })
        // If this renewal is late, this ends the next one.
        let login = state.login
        if state.take(result, of: renewal, at: now()) { endRenewal(with: result.map { _ in }) }
        if state.late?.number == renewal.number { state.late = nil }
        guard login !== state.login else { return }
        login?.end()
        if state.token == nil { await cancelRunning(except: renewal.number) }
    }

    private func expire(_ renewal: State.Renewal) {
        guard state.renewal?.number == renewal.number else { return }
        let function = renewal.token == nil || !state.hasRefresh ? "load" : "refresh"
        let reason = """
            the authenticator of \(hostNames) has no token: its '\(function)' did not \
            return within \(renewalLimit.shown). If it waits for a call with this authenticator in another task, set \
            'authorize = false' for that call
            """
        state.late = renewal
        endRenewal(with: .failure(RequestError(.authenticationTimedOut, reason: reason)))
    }

    /// Resumes the requests that wait.
    private func endRenewal(with result: Result<Void, any Error>) {
        // If a refresh before the expiry fails, the old token is used.
        let usesOld = state.renewal?.isOfRefused == false && state.isUsable(at: now())
        for waiter in waiters.values { waiter.resolve(usesOld ? .success(()) : result) }
        (state.renewal, waiters) = (nil, [:])
    }
}

extension TokenAuthenticator: RedactedReflectable {
    nonisolated var shownChildren: [(String, Any?)] { [("hosts", hostNames)] }
}
