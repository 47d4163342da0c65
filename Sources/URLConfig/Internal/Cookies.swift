#if canImport(FoundationNetworking)

/// The cookies of a session, which we send and store ourselves: Foundation on Linux puts them over a field that the caller has
/// set, sends them though `httpShouldHandleCookies` is off, and takes them for hosts that are none of the server's business.
///
/// Nor does its storage heed `Secure`, `Path`, `Max-Age` or, until the next cookie comes, `Expires`.
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
            let stored = storage?.cookies(for: url), !stored.isEmpty,
            request.value(forHTTPHeaderField: "Cookie") == nil
        else { return }
        // RFC 6265 §5.4: the longest path comes first.
        let cookies = stored.filter { $0.isMeant(for: url) }.sorted { $0.path.count > $1.path.count }
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
            // All of a top-level domain is nobody's own.
            return host == domain || (!isAddress && domain.contains(".") && host.hasSuffix("." + domain))
        }
        storage?.setCookies(cookies.map(\.dated), for: url, mainDocumentURL: request.mainDocumentURL)
    }
}

extension HTTPCookie {
    /// Whether a request to a URL, whose host is right, may carry this cookie (RFC 6265 §5.4).
    fileprivate func isMeant(for url: URL) -> Bool {
        guard !isSecure || url.scheme?.lowercased() == "https", expiresDate.map({ $0 > Date() }) ?? true else {
            return false
        }
        let asked = url.path().isEmpty ? "/" : url.path()
        return asked == path || asked.hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }

    /// This cookie with the expiry that its `Max-Age` says: Foundation heeds that only if there is a version, which no server
    /// sends any more, and so would keep a session that was signed out.
    fileprivate var dated: HTTPCookie {
        guard let age = (properties?[.maximumAge] as? String).flatMap(Int.init), var properties else { return self }
        properties[.maximumAge] = nil
        properties[.expires] = age > 0 ? Date(timeIntervalSinceNow: Double(age)) : Date.distantPast
        // What it shows as a number, it reads as a text.
        properties[.secure] = isSecure ? "TRUE" : nil
        properties[HTTPCookiePropertyKey("HttpOnly")] = isHTTPOnly ? "TRUE" : nil
        return HTTPCookie(properties: properties) ?? self
    }
}

#endif
