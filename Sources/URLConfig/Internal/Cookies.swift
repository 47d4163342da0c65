#if canImport(FoundationNetworking)

/// The cookies of a session, which we send and store ourselves: Foundation on Linux puts them over a field that the caller has
/// set, sends them though `httpShouldHandleCookies` is off, and takes them for hosts that are none of the server's business.
struct Cookies: Sendable {
    private let storage: HTTPCookieStorage?
    private let sends: Bool
    private let accepts: Bool

    /// Takes cookies over from a configuration, whose session does no more about them.
    init(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpCookieStorage
        sends = configuration.httpShouldSetCookies
        accepts = configuration.httpCookieAcceptPolicy != .never
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        // Else each line of a head is searched for cookies: a twelfth of what a call costs.
        configuration.httpCookieAcceptPolicy = .never
    }

    /// Puts the storage's cookies on a request that has none.
    func add(to request: inout URLRequest) {
        guard sends, request.httpShouldHandleCookies, let url = request.url,
            let cookies = storage?.cookies(for: url), !cookies.isEmpty,
            request.value(forHTTPHeaderField: "Cookie") == nil
        else { return }
        request.setValue(HTTPCookie.requestHeaderFields(with: cookies)["Cookie"], forHTTPHeaderField: "Cookie")
    }

    /// Stores the cookies of an answer, as far as they are for its host (RFC 6265 §5.3).
    func store(_ response: HTTPURLResponse, to request: URLRequest) {
        guard accepts, request.httpShouldHandleCookies, let url = response.url, let host = url.host()?.lowercased(),
            let field = response.value(forHTTPHeaderField: "Set-Cookie")
        else { return }
        let isAddress = host.contains(":") || host.last?.isNumber == true
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": field], for: url).filter { cookie in
            let domain = cookie.domain.lowercased().drop { $0 == "." }
            return host == domain || (!isAddress && host.hasSuffix("." + domain))
        }
        storage?.setCookies(cookies, for: url, mainDocumentURL: request.mainDocumentURL)
    }
}

#endif
