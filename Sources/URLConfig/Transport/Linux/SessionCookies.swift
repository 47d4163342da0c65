#if canImport(FoundationNetworking)

/// The cookies of a session, which we send and store ourselves: Foundation on Linux puts them over a field that the caller has
/// set, sends them though `httpShouldHandleCookies` is off, and takes them for hosts that are none of the server's business.
struct SessionCookies: Sendable {
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
        guard sends, request.httpShouldHandleCookies, let url = request.url, let storage,
            request.value(forHTTPHeaderField: "Cookie") == nil
        else { return }
        // The storage gives those of the host, whatever else they say.
        let cookies = (storage.cookies(for: url) ?? []).filter { $0.isMeant(for: url, now: Date()) }
        guard !cookies.isEmpty else { return }
        let sorted = cookies.sorted { ($1.path.utf8.count, $0.name) < ($0.path.utf8.count, $1.name) }
        request.setValue(HTTPCookie.requestHeaderFields(with: sorted)["Cookie"], forHTTPHeaderField: "Cookie")
    }

    /// Stores the cookies of an answer.
    func store(_ response: HTTPURLResponse, to request: URLRequest) {
        guard accepts, request.httpShouldHandleCookies, let url = response.url,
            let field = response.value(forHTTPHeaderField: "Set-Cookie")
        else { return }
        storage?.setCookies(
            HTTPCookie.cookies(in: field, from: url, now: Date()), for: url, mainDocumentURL: request.mainDocumentURL)
    }
}

extension HTTPCookie {
    /// RFC 6265 §5.4: path, transport and expiry.
    fileprivate func isMeant(for url: URL, now: Date) -> Bool {
        let path = url.path().isEmpty ? "/" : url.path()
        return (!isSecure || url.scheme?.lowercased() == "https")
            && (expiresDate ?? .distantFuture) > now
            && (path == self.path || path.hasPrefix(self.path.hasSuffix("/") ? self.path : self.path + "/"))
    }
}

#endif
