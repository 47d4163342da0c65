/// Whether redirects are followed.
///
/// After 303, and after 301 or 302 for `POST`, the next request is a `GET` without a body. Otherwise the method and the
/// body stay the same (RFC 9110 §15.4). Credentials, the fields of traces such as `traceparent` and `baggage`, and
/// `Last-Event-ID` are not sent to another origin (scheme, host and port).
///
/// A redirect throws ``RequestError/Code/refusedRedirect`` if its URL is not `http` or `https`, if its URL contains a
/// user name, or if it is the twenty-first redirect of the call.
///
/// ```swift
/// let response = try await session.response(for: request) {
///     $0.redirects = RedirectPolicy { _, next in next.url?.host() == "api.example.com" ? next : nil }
/// }
/// ```
public struct RedirectPolicy: Sendable {
    /// The maximum number of redirects of a call.
    static let maximum = 20

    /// Whether the caller has made it, so that it may block.
    let isCustom: Bool
    private let decide: (@Sendable (_ response: DataResponse, _ next: URLRequest) throws -> URLRequest?)?
    var shown: String { isCustom ? "set" : decide == nil ? "none" : "follow" }

    /// Follows redirects.
    public static let follow = Self(isCustom: false) { _, next in next }
    /// Returns a redirect like any other response.
    public static let none = Self(isCustom: false, decide: nil)
}

extension RedirectPolicy {
    /// Calls a function for each redirect.
    ///
    /// - Parameter decide: Receives the redirect and the next request, which has no credentials if the origin changes.
    ///   It returns the request to send, or `nil` to return the redirect. The call rethrows its errors. If an upload
    ///   keeps its body, the next request has an empty `httpBodyStream` in its place. Set that to `nil` to remove the
    ///   body, or set `httpBody` to replace it.
    public init(_ decide: @escaping @Sendable (_ response: DataResponse, _ next: URLRequest) throws -> URLRequest?) {
        self.init(isCustom: true, decide: decide)
    }

    /// The next request; `nil` if the response must be returned.
    ///
    /// - Parameter request: The request before it was authorized.
    func next(after response: DataResponse, to request: URLRequest, _ redaction: Redaction) throws -> URLRequest? {
        guard let decide, let next = try request.redirected(by: response, redaction) else { return nil }
        return try decide(response, next)?.keepingCredentials(for: next, redaction)
    }

    /// This policy, which sends a field to one origin, even if a redirect leads there from another.
    func adding(_ value: String?, for name: String, at origin: Origin) -> Self {
        guard let value, let decide else { return self }
        return Self(isCustom: isCustom) { response, next in
            var next = next
            if Origin(next.url) == origin { next.setValue(value, forHTTPHeaderField: name) }
            return try decide(response, next)
        }
    }
}

extension URLRequest {
    /// The next request after a redirect; `nil` if the response is not a redirect.
    func redirected(by response: DataResponse, _ redaction: Redaction) throws(RequestError) -> URLRequest? {
        guard response.status.isRedirect, let url, let location = response.headerFields.single(.location),
            !location.isEmpty
        else { return nil }
        var next = self
        do {
            next.url = try URL(location: location, relativeTo: url).checked(asTargetFrom: url)
        } catch {
            throw .refusedRedirect("its Location \(error.reason)", response)
        }
        if losesBody(after: response.status) { next.becomeGET() }
        return next.keepingCredentials(for: self, redaction)
    }

    /// Removes the body and the fields that describe it.
    mutating func becomeGET() {
        httpMethod = "GET"
        httpBody = nil
        httpBodyStream = nil
        remove(Self.isAboutBody)
    }

    /// Whether a field of this name, in lower case, describes the body.
    static func isAboutBody(_ name: String) -> Bool {
        name.hasPrefix("content-")
            || ["digest", "expect", "last-modified", "trailer", "transfer-encoding"].contains(name)
    }

    /// Whether the next request after a redirect is a `GET` without a body (RFC 9110 §15.4).
    func losesBody(after redirect: HTTPResponse.Status) -> Bool {
        let method = httpMethod ?? "GET"
        return redirect.code == 303 ? method != "HEAD" : redirect.code <= 302 && method == "POST"
    }

    /// This request, without credentials if the other request has another origin.
    func keepingCredentials(for other: URLRequest, _ redaction: Redaction) -> URLRequest {
        Origin(url) == Origin(other.url) ? self : withoutCredentials(redaction)
    }

    func withoutCredentials(_ redaction: Redaction) -> URLRequest {
        var request = self
        request.remove { $0 == "host" || redaction.isCredential($0) }
        return request
    }

    private mutating func remove(_ isUnwanted: (_ lowercasedName: String) -> Bool) {
        for name in (allHTTPHeaderFields ?? [:]).keys where isUnwanted(name.lowercased()) {
            setValue(nil, forHTTPHeaderField: name)
        }
    }
}

extension URL? {
    /// The URL, if a request may follow a server to it.
    ///
    /// - Parameter base: The URL of the request: a relative reference inherits its user name.
    func checked(asTargetFrom base: URL) throws(InvalidInput) -> URL {
        guard let self, ["http", "https"].contains(self.scheme?.lowercased()), self.host()?.isEmpty == false
        else { throw InvalidInput("is not an http or https URL with a host") }
        let keepsUser = Origin(base) == Origin(self) && self.user == base.user && self.password == base.password
        guard keepsUser || self.user == nil && self.password == nil
        else { throw InvalidInput("contains a user name (RFC 9110 §4.2.4)") }
        return self
    }
}

extension URL {
    /// Resolves a `Location` by RFC 3986 §5; without a fragment it inherits the base's (RFC 9110 §10.2.2).
    fileprivate init?(location: String, relativeTo base: URL) {
        guard let target = URL(reference: location, relativeTo: base)?.withLowercasedScheme else { return nil }
        let fragment = target.fragment == nil ? base.fragment(percentEncoded: true) : nil
        self = fragment.flatMap { URL(string: target.absoluteString + "#" + $0) } ?? target
    }
}

extension Redaction {
    /// Whether a field must not be sent to another origin, even if logs show its value.
    func isCredential(_ name: String) -> Bool {
        let name = name.lowercased()
        return Self.isKey(name) && name != "idempotency-key" || name == "last-event-id" || Self.isOfTrace(name)
            || Self.standard.hides(name) || isSecretName(name)
    }

    private static func isKey(_ name: String) -> Bool {
        name.split(separator: "-").contains { ["key", "apikey", "token", "ticket", "hmac"].contains($0) }
    }

    /// Whether it is a field of a trace, which tells what happened at one origin.
    static func isOfTrace(_ name: String) -> Bool {
        name.lowercased().split(separator: "-").contains(where: wordsOfTraces.contains)
    }

    private static let wordsOfTraces: Set<Substring> = [
        "traceparent", "tracestate", "trace", "baggage", "b3", "datadog",
    ]

    /// Whether a field says who asks; most fields of traces are new for each request.
    func tellsRequester(_ name: String) -> Bool {
        let name = name.lowercased()
        return Self.isOfTrace(name) ? Self.isKey(name) || Self.standard.hides(name) : isCredential(name)
    }

    /// Whether it is a field that only passes on a trace, and does not change the response.
    static func isOfPropagation(_ name: String) -> Bool {
        let name = name.lowercased()
        return propagation.contains(name) || name.hasPrefix("x-b3-")
    }

    private static let propagation: Set = [
        "traceparent", "tracestate", "baggage", "b3", "uber-trace-id", "sentry-trace", "x-amzn-trace-id",
        "x-cloud-trace-context", "x-datadog-trace-id", "x-datadog-parent-id", "x-datadog-sampling-priority",
        "x-datadog-origin", "x-datadog-tags", "x-trace-id", "grpc-trace-bin", "elastic-apm-traceparent",
    ]
}

extension HTTPResponse.Status {
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(code) }
}

extension RequestError {
    static func refusedRedirect(_ reason: String, _ response: DataResponse) -> Self {
        Self(.refusedRedirect, reason: "the redirect is not followed: \(reason)", response: response)
    }
}
