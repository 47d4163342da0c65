import Logging

/// The `httpAdditionalHeaders` and the cookies of a session, which the library adds to requests itself.
///
/// Foundation on Linux sends invalid additional fields, and hangs if one is `Content-Length`. It replaces a `Cookie`
/// field that the caller has set, ignores `httpShouldHandleCookies`, and stores cookies for other hosts.
struct SessionFields: Sendable {
    private var fields: [(name: String, value: String)] = []
    private let cookies: HTTPCookieStorage?
    private let sendsCookies: Bool
    private let acceptsCookies: Bool

    init(_ configuration: URLSessionConfiguration) {
        cookies = configuration.httpCookieStorage
        sendsCookies = configuration.httpShouldSetCookies
        acceptsCookies = configuration.httpCookieAcceptPolicy != .never
        for case let (name as String, value as String) in configuration.httpAdditionalHeaders ?? [:] {
            do throws(RequestError) {
                try URLRequest.checkField(name, value)
                fields.append((name, value))
            } catch {
                URLSession.Config.defaultLogger?.error("httpAdditionalHeaders: \(error.reason); the field is ignored")
            }
        }
    }

    /// Removes the fields and cookies from the configuration of a session that must not add them.
    static func remove(from configuration: URLSessionConfiguration) {
        configuration.httpAdditionalHeaders = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        // Otherwise Foundation searches each line of a head for cookies, which takes 1/12 of the time of a call.
        configuration.httpCookieAcceptPolicy = .never
    }

    /// Adds the fields and cookies that the request does not have.
    ///
    /// - Parameter redaction: Says which fields are credentials and are left out; `nil` to add all fields.
    func add(to request: inout URLRequest, without redaction: Redaction?) {
        for (name, value) in fields
        where request.value(forHTTPHeaderField: name) == nil && redaction?.isCredential(name) != true {
            request.setValue(value, forHTTPHeaderField: name)
        }
        guard sendsCookies, request.httpShouldHandleCookies, let url = request.url,
            let stored = cookies?.cookies(for: url),
            request.value(forHTTPHeaderField: "Cookie") == nil
        else { return }
        // The storage compares only the host.
        let meant = stored.filter { $0.isMeant(for: url, now: Date()) && $0.isValid }
        guard !meant.isEmpty else { return }
        let sorted = meant.sorted { ($1.path.utf8.count, $0.name) < ($0.path.utf8.count, $1.name) }
        request.setValue(HTTPCookie.requestHeaderFields(with: sorted)["Cookie"], forHTTPHeaderField: "Cookie")
    }

    /// Stores the cookies of a response, as the configuration says.
    ///
    /// - Parameter field: The value of `Set-Cookie`.
    func storeCookies(_ field: String, from url: URL?, to request: URLRequest) {
        guard acceptsCookies, request.httpShouldHandleCookies, let url else { return }
        cookies?.setCookies(
            HTTPCookie.cookies(in: field, from: url, now: Date()), for: url, mainDocumentURL: request.mainDocumentURL)
    }
}

extension HTTPCookie {
    /// Whether it can be sent; otherwise this is logged.
    fileprivate var isValid: Bool {
        guard (name + value).hasControlCharacter else { return true }
        URLSession.Config.defaultLogger?.error(
            "httpCookieStorage: a cookie for \(domain) has a control character; it is not sent")
        return false
    }

    /// RFC 6265 §5.4: path, transport and expiry.
    fileprivate func isMeant(for url: URL, now: Date) -> Bool {
        let path = url.path().isEmpty ? "/" : url.path()
        return (!isSecure || url.scheme?.lowercased() == "https")
            && (expiresDate ?? .distantFuture) > now
            && (path == self.path || path.hasPrefix(self.path.hasSuffix("/") ? self.path : self.path + "/"))
    }
}
