/// Whether redirects are followed.
///
/// On every platform, whoever decides: the methods are those of RFC 9110 §15.4 (303 asks with `GET`, as do 301 and 302
/// after `POST`; all else is sent again as it is, body included), credentials stay with their origin (scheme, host and
/// port), targets that are not `http` or `https` or that hold a user name are refused, and twenty is the most.
///
/// ```swift
/// let response = try await session.response(for: request) {
///     $0.redirects = RedirectPolicy { response, next in
///         next.url?.host() == "api.example.com" ? next : nil
///     }
/// }
/// ```
public struct RedirectPolicy: Sendable {
    private let decide: (@Sendable (DataResponse, URLRequest) throws -> URLRequest?)?
    /// Whether redirects are followed without a look at the response.
    private var isUnconditional = false

    /// Follows redirects.
    public static let follow = {
        var policy = Self { _, next in next }
        policy.isUnconditional = true
        return policy
    }()
    /// Takes a redirect for an answer like any other.
    public static let none = Self(decide: nil)

    /// Whether a response is followed without a look at its body.
    func surelyFollow(_ response: Transport.Response) -> Bool {
        isUnconditional && response.status.isRedirect && response.headerFields[.location]?.isEmpty == false
    }

    private init(decide: (@Sendable (DataResponse, URLRequest) throws -> URLRequest?)?) {
        self.decide = decide
    }

    /// Lets a function decide.
    ///
    /// - Parameter decide: Gets the redirect and the request that would follow it, without the credentials of another
    ///   origin; returns the request to send, or `nil` if the redirect is the answer. What it throws, the call throws.
    public init(_ decide: @escaping @Sendable (_ response: DataResponse, _ next: URLRequest) throws -> URLRequest?) {
        self.init(decide: decide)
    }

    /// The most redirects that one call follows.
    static let most = 20

    /// The request that follows a redirect; `nil` if the response is the answer.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request that it answers, without what an authenticator puts on it.
    ///   - redaction: Which fields are credentials.
    func next(after response: DataResponse, to request: URLRequest, _ redaction: Redaction) throws -> URLRequest? {
        guard let decide, let next = try request.redirected(by: response, redaction) else { return nil }
        return try decide(response, next)?.keepingCredentials(for: next, redaction)
    }
}

extension URLRequest {
    /// This request, as a redirect says; `nil` if the response is none.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/refusedRedirect``.
    func redirected(by response: DataResponse, _ redaction: Redaction) throws(RequestError) -> URLRequest? {
        guard response.status.isRedirect, let url, let location = response.location,
            !location.isEmpty
        else { return nil }
        guard let target = URL(location: location, relativeTo: url) else {
            throw .refusedRedirect("its Location is no URL", response)
        }
        guard ["http", "https"].contains(target.scheme?.lowercased() ?? ""), target.host()?.isEmpty == false else {
            throw .refusedRedirect("its Location is not one of http or https with a host", response)
        }
        let isForeign = Origin(url) != Origin(target)
        // A path keeps those of the request's own URL.
        let isOwnUser = !isForeign && target.user == url.user && target.password == url.password
        guard isOwnUser || target.user == nil && target.password == nil else {
            throw .refusedRedirect("its Location holds a user name (RFC 9110 §4.2.4)", response)
        }
        var next = self
        next.url = target
        next.changeMethod(for: response.status.code)
        if isForeign { next.dropCredentials(redaction) }
        return next
    }

    /// RFC 9110 §15.4: what asks anew has neither a body nor the fields that describe one.
    private mutating func changeMethod(for status: Int) {
        let method = httpMethod ?? "GET"
        let asksAnew = status == 303 ? method != "HEAD" : status <= 302 && method == "POST"
        guard asksAnew else { return }
        httpMethod = "GET"
        httpBody = nil
        httpBodyStream = nil
        remove { $0.hasPrefix("content-") || ["digest", "last-modified", "transfer-encoding"].contains($0) }
    }

    /// This request, made of another one by a function or a delegate of the caller's: if it leads to another origin,
    /// credentials do not go there either.
    func keepingCredentials(for other: URLRequest, _ redaction: Redaction) -> URLRequest {
        guard Origin(url) != Origin(other.url) else { return self }
        var request = self
        request.dropCredentials(redaction)
        return request
    }

    private mutating func dropCredentials(_ redaction: Redaction) {
        remove { $0 == "host" || redaction.isCredential($0) }
    }

    private mutating func remove(_ isUnwanted: (_ lowercasedName: String) -> Bool) {
        for name in (allHTTPHeaderFields ?? [:]).keys where isUnwanted(name.lowercased()) {
            setValue(nil, forHTTPHeaderField: name)
        }
    }
}

extension Redaction {
    /// Whether a field of this name stays with its origin, whatever is hidden in logs.
    func isCredential(_ name: String) -> Bool { Self.standard.hides(name) || hides(name) }
}

extension HTTPResponse.Status {
    fileprivate var isRedirect: Bool { [301, 302, 303, 307, 308].contains(code) }
}

extension RequestError {
    fileprivate static func refusedRedirect(_ reason: String, _ response: DataResponse) -> Self {
        Self(
            .refusedRedirect, stage: .executing, reason: "a redirect that is not followed: \(reason)",
            response: response)
    }
}

extension DataResponse {
    fileprivate var location: String? { headerFields[.location] }
}
