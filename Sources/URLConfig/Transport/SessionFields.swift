import Logging

/// The `httpAdditionalHeaders` and the cookies of a session, which the library adds to requests itself.
///
/// Foundation on Linux sends invalid additional fields, and hangs if one is `Content-Length`. It replaces a `Cookie`
/// field that the caller has set, ignores `httpShouldHandleCookies`, and stores cookies for other hosts.
struct SessionFields: Sendable {
    private var fields: [(name: String, value: String)] = []
    private let cookies: CookieStore?
    private let sendsCookies: Bool
    private let acceptsCookies: Bool

    /// - Parameter usesSharedCookies: Whether the storage that all sessions of the process share is used, which on
    ///   Linux is a file.
    init(_ configuration: URLSessionConfiguration, usesSharedCookies: Bool = true) {
        let storage = configuration.httpCookieStorage
        cookies = !usesSharedCookies && storage == .shared ? nil : storage.map { CookieStore($0) }
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
            request.value(forHTTPHeaderField: "Cookie") == nil,
            let meant = cookies?.cookies(for: url).filter(\.isValid), !meant.isEmpty
        else { return }
        // RFC 6265bis §5.8.3: a cookie may have no name.
        let pairs = meant.map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }
        request.setValue(pairs.joined(separator: "; "), forHTTPHeaderField: "Cookie")
    }

    /// Stores the cookies of a response, as the configuration says.
    ///
    /// - Parameter values: The values of the `Set-Cookie` fields.
    func storeCookies(_ values: [String], from url: URL?, to request: URLRequest) {
        guard acceptsCookies, !values.isEmpty, request.httpShouldHandleCookies, let url else { return }
        cookies?.store(
            values.compactMap { HTTPCookie($0, from: url, now: Date()) }, from: url,
            mainDocumentURL: request.mainDocumentURL)
    }
}

extension HTTPCookie {
    /// Whether it can be sent, and starts no other cookie; otherwise this is logged.
    fileprivate var isValid: Bool {
        let text = name + value
        let startsAnother = text.utf8.contains(UInt8(ascii: ";")) || name.utf8.contains(UInt8(ascii: "="))
        guard text.hasControlCharacter || startsAnother else { return true }
        URLSession.Config.defaultLogger?.error(
            "httpCookieStorage: a cookie for \(domain) has a character that no cookie can have; it is not sent")
        return false
    }
}

extension URLSessionConfiguration {
    /// Removes the fields with credentials that it would add to requests; returns whether there were any.
    func removeCredentials(_ redaction: Redaction) -> Bool {
        let fields = httpAdditionalHeaders ?? [:]
        let others = fields.filter { field in (field.key as? String).map { !redaction.isCredential($0) } ?? true }
        httpAdditionalHeaders = others
        return others.count < fields.count
    }

    /// The time limit of one attempt, if it was set: the default is seven days.
    var resourceLimit: Duration? {
        let limit = Duration(timeoutInterval: timeoutIntervalForResource)
        return limit.flatMap { $0 < .seconds(7 * 24 * 3600) ? $0 : nil }
    }
}
