/// A cookie storage with the rules of RFC 6265bis §5.7 and §5.8, which Foundation on Linux does not follow.
///
/// There, each change of a storage that has a file writes the whole file. So many changes are made in the background;
/// until then they are kept here, and requests see them.
struct CookieStore: Sendable {
    private struct Key: Hashable {
        let domain, path, name: String

        init(_ cookie: HTTPCookie) { (domain, path, name) = (cookie.domain, cookie.path, cookie.name) }
    }

    private struct Change: Sendable {
        let cookie: HTTPCookie
        /// `nil` to delete the cookie.
        let source: (url: URL, mainDocumentURL: URL?)?
    }

    /// The limits of RFC 6265 §6.1; one response stores no more cookies than one domain may have.
    private static let (mostInDomain, mostInAll) = (50, 3000)
    /// The changes that are not yet made.
    ///
    /// A storage has an entry as long as a thread makes its changes.
    private static let pending = Locked<[ObjectIdentifier: [Key: Change]]>([:])
    static let queue = DispatchQueue(label: "URLConfig.cookies", qos: .utility)

    private let storage: HTTPCookieStorage

    init(_ storage: HTTPCookieStorage) {
        self.storage = storage
    }

    /// The cookies of a request, in the order of RFC 6265 §5.4.
    func cookies(for url: URL) -> [HTTPCookie] {
        // First, because changes move from here to the storage.
        let pending = Self.pending.withLock { $0[ObjectIdentifier(storage)] }
        var cookies = storage.cookies(for: url) ?? []
        if cookies.isEmpty, pending == nil { return [] }
        if let pending, let host = url.host()?.lowercased() {
            cookies.removeAll { pending[Key($0)] != nil }
            cookies += pending.values.compactMap { $0.source != nil && $0.cookie.isMeant(for: host) ? $0.cookie : nil }
        }
        let now = Date()
        return cookies.filter { $0.isMeant(for: url, now: now) }
            .sorted { ($1.path.utf8.count, $0.created) < ($0.path.utf8.count, $1.created) }
    }

    /// Stores the cookies of a response (RFC 6265bis §5.7).
    ///
    /// - Parameter limit: After this time, the caller need not wait any longer.
    func store(
        _ new: [HTTPCookie], from url: URL, mainDocumentURL: URL?, within limit: Duration = .milliseconds(50)
    ) {
        guard !new.isEmpty, storage.cookieAcceptPolicy != .never else { return }
        let id = ObjectIdentifier(storage)
        let pending = Self.pending.withLock { $0[id] } ?? [:]
        let now = Date()
        let stored = Dictionary((storage.cookies ?? []).map { (Key($0), $0) }) { $1 }
        let known = stored.merging(pending.mapValues(\.cookie)) { $1 }
            .filter { pending[$0.key].map { $0.source != nil } ?? true && !$0.value.isOver(now) }
        var cookies = known
        for cookie in new.suffix(Self.mostInDomain)
        where url.isHTTPS || !known.values.contains(where: { $0.isProtected(from: cookie) }) {
            let (key, old) = (Key(cookie), cookies[Key(cookie)])
            if cookie.isOver(now) {
                cookies[key] = nil
            } else if old?.isSame(as: cookie) != true {
                cookies[key] = cookie.dated(old?.created ?? cookie.created)
            }
        }
        for domain in Set(new.map(\.domainName)) {
            Self.limit(&cookies, to: Self.mostInDomain) { $0.domainName == domain }
        }
        Self.limit(&cookies, to: Self.mostInAll) { _ in true }

        let isAtWork = Self.pending.withLock { [cookies] pending in
            var changes = pending[id] ?? [:]
            for (key, cookie) in cookies where known[key] !== cookie {
                changes[key] = Change(cookie: cookie, source: (url, mainDocumentURL))
            }
            for (key, cookie) in known where cookies[key] == nil {
                // The storage may have it soon, because a change is just being made.
                changes[key] = Change(cookie: cookie, source: nil)
            }
            defer { pending[id] = changes }
            return pending[id] != nil
        }
        if !isAtWork { makeChanges(until: .now + limit) }
    }

    /// Deletes the least important cookies: first those that are not only for `https`, and then the oldest.
    private static func limit(
        _ cookies: inout [Key: HTTPCookie], to most: Int, _ isCounted: (HTTPCookie) -> Bool
    ) {
        let counted = cookies.filter { isCounted($0.value) }
        guard counted.count > most else { return }
        let order = counted.map { (key: $0.key, isSecure: $0.value.isOnlyForHTTPS ? 1 : 0, time: $0.value.stored) }
            .sorted { ($0.isSecure, $0.time) < ($1.isSecure, $1.time) }
        for (key, _, _) in order.prefix(counted.count - most) { cookies[key] = nil }
    }

    /// Makes the changes, after a time in the background.
    private func makeChanges(until end: ContinuousClock.Instant?) {
        let id = ObjectIdentifier(storage)
        while let (key, change) = Self.pending.withLock({ pending in
            let next = pending[id]?.first
            if next == nil { pending[id] = nil }
            return next
        }) {
            if let (url, mainDocumentURL) = change.source {
                storage.setCookies([change.cookie], for: url, mainDocumentURL: mainDocumentURL)
            } else {
                storage.deleteCookie(change.cookie)
            }
            Self.pending.withLock { pending in
                // Another change may have replaced it.
                guard let now = pending[id]?[key], now.cookie === change.cookie else { return }
                if (now.source == nil) == (change.source == nil) { pending[id]?[key] = nil }
            }
            if let end, .now >= end { return Self.queue.async { makeChanges(until: nil) } }
        }
    }
}

extension HTTPCookie {
    private static let onlyForHTTPS = " Secure"

    /// With its creation time (RFC 6265 §5.3) and `Secure` in the comment: Foundation on Linux has its own time, and
    /// forgets both when it reads its file.
    fileprivate func dated(_ time: TimeInterval) -> HTTPCookie {
        var properties = properties ?? [:]
        properties[.comment] = "\(time)" + (isSecure ? Self.onlyForHTTPS : "")
        // They are booleans here, which would be ignored.
        properties[.secure] = isSecure ? "TRUE" : nil
        properties[HTTPCookiePropertyKey("HttpOnly")] = isHTTPOnly ? "TRUE" : nil
        return HTTPCookie(properties: properties) ?? self
    }

    /// The time since 2001 when a cookie of this name was first stored.
    fileprivate var created: TimeInterval {
        comment.flatMap { TimeInterval($0.prefix { $0 != " " }) } ?? stored
    }

    /// The time since 2001 when this cookie was made.
    fileprivate var stored: TimeInterval { properties?[HTTPCookiePropertyKey("Created")] as? TimeInterval ?? 0 }

    fileprivate var isOnlyForHTTPS: Bool { isSecure || comment?.hasSuffix(Self.onlyForHTTPS) == true }

    /// The domain without the dot that includes its subdomains.
    fileprivate var domainName: Substring { domain.hasPrefix(".") ? domain.dropFirst() : domain[...] }

    fileprivate func isOver(_ now: Date) -> Bool { (expiresDate ?? .distantFuture) <= now }

    fileprivate func isSame(as other: HTTPCookie) -> Bool {
        value == other.value && expiresDate == other.expiresDate && isOnlyForHTTPS == other.isOnlyForHTTPS
            && isHTTPOnly == other.isHTTPOnly
    }

    /// Whether a cookie from `http` may not replace or hide this one (RFC 6265bis §5.7).
    fileprivate func isProtected(from other: HTTPCookie) -> Bool {
        guard isOnlyForHTTPS, name == other.name else { return false }
        let (name, otherName) = (domainName, other.domainName)
        return (name == otherName || name.hasSuffix("." + otherName) || otherName.hasSuffix("." + name))
            && other.path.isPath(under: path)
    }

    /// RFC 6265 §5.1.3.
    fileprivate func isMeant(for host: String) -> Bool {
        host == domainName || (domain.hasPrefix(".") && host.hasSuffix(domain))
    }

    /// RFC 6265 §5.4: path, transport and expiry; a storage compares only the host.
    fileprivate func isMeant(for url: URL, now: Date) -> Bool {
        (!isOnlyForHTTPS || url.isHTTPS) && !isOver(now)
            && (url.path().isEmpty ? "/" : url.path()).isPath(under: path)
    }
}

extension String {
    /// RFC 6265 §5.1.4.
    fileprivate func isPath(under path: String) -> Bool {
        self == path || hasPrefix(path.hasSuffix("/") ? path : path + "/")
    }
}

extension URL {
    /// Whether cookies for `https` only may be sent to it and come from it.
    var isHTTPS: Bool { scheme?.lowercased() == "https" }
}
