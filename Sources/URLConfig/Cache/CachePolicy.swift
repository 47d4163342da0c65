/// What RFC 9111 says about a request and a response: whether it is stored, used, validated, changed or removed.
///
/// It is the policy of a private cache, so `s-maxage` and `proxy-revalidate` do not matter. It has only values, and
/// `now` is one of them.
enum CachePolicy {
    /// What is done with a stored response.
    enum Use: Equatable {
        case fresh
        /// It is used now, and validated in the background (RFC 5861 §3).
        case staleWhileRevalidate
        /// It is used although it is stale, because the request allows it.
        case stale
        /// The server is asked whether it is still valid.
        case validate
        /// The request does not want it.
        case ignore
    }

    /// The longest freshness that is guessed, in seconds: a day.
    private static let longestGuess = 86_400.0
    /// The most names in `Vary` of a response that is stored.
    private static let mostSelecting = 64
    /// Statuses whose responses may be fresh although they do not say it (RFC 9110 §15.1).
    private static let guessed: Set = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
    /// Statuses of RFC 9110 §15 and RFC 6585 that say nothing that a cache has to know.
    private static let understood = guessed.union([201, 202, 302, 303, 307, 421, 422, 426, 428, 429, 431, 451])
        .union(400...417).union(500...505)
    /// Fields that are for one connection or one hop (RFC 9111 §3.1, RFC 9110 §7.6.1).
    private static let hopFields: Set = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "trailer",
        "proxy-authenticate", "proxy-authorization", "proxy-authentication-info",
    ]
    /// Fields that describe the stored bytes, which a 304 does not bring again (RFC 9111 §3.2).
    private static let bodyFields: Set = ["content-encoding", "content-length", "content-range"]

    /// Fields of a request that ask for a part, or only for another version than the caller has.
    private static let conditions: Set = [
        "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
    ]

    /// Why a request is sent without a look into the cache; `nil` if the cache may be used.
    static func bypass(_ request: URLRequest) -> String? {
        guard ["GET", "HEAD"].contains(request.httpMethod ?? "GET") else { return request.httpMethod }
        guard request.bodyLength == nil else { return "the request has a body" }
        return condition(of: request) ?? (request.cacheControl.contains("no-store") ? "no-store" : nil)
    }

    /// The field by which a request asks for a part, or only for another version; `nil` if there is none.
    static func condition(of request: URLRequest) -> String? {
        (request.allHTTPHeaderFields ?? [:]).keys.filter { conditions.contains($0.lowercased()) }.min()
    }

    /// Whether a method changes nothing on the server; an unknown one may (RFC 9111 §4.4).
    static func isSafe(_ method: String?) -> Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH"].contains(method ?? "GET")
    }

    /// Why a response to a GET is not stored (RFC 9111 §3); `nil` if it is.
    ///
    /// - Parameter keepsStale: Whether a stale response without a validator is of use.
    static func refusal(_ head: StoredResponse.Head, to request: URLRequest, keepsStale: Bool) -> String? {
        let control = head.control
        // A refusal of credentials would also be the response to new ones.
        guard head.status >= 200, ![206, 304, 401, 407].contains(head.status) else { return "status \(head.status)" }
        if control.contains("must-understand") {
            guard understood.contains(head.status) else { return "must-understand" }
        } else if control.contains("no-store") {
            return "no-store"
        }
        // RFC 9110 §8.6: whether the body is whole cannot be known.
        let lengths = head.fields.value(.contentLength)?.listMembers.filter { !$0.isEmpty } ?? []
        guard lengths.allSatisfy({ $0.hasBytes(of: lengths.first) }) else { return "several Content-Length" }
        let names = head.varyNames
        guard !names.contains("*"), names.count <= mostSelecting else { return "Vary" }
        let isExplicit =
            ["public", "private", "max-age"].contains { control.contains($0) }
            || head.fields.contains(.expires)
        guard isExplicit || guessed.contains(head.status) else { return "no freshness" }
        if keepsStale || head.hasValidator { return nil }
        // RFC 5861: the server may allow that it is used while it is stale.
        let mayBeStale = !["no-cache", "must-revalidate"].contains(where: control.contains)
        let windows = ["stale-while-revalidate", "stale-if-error"].compactMap(control.seconds)
        let longest = head.lifetime + (mayBeStale ? Double(windows.max() ?? 0) : 0)
        return longest > age(of: head, at: head.received) ? nil : "already stale, and without a validator"
    }

    /// The head that is stored.
    ///
    /// - Parameters:
    ///   - request: The request as it was sent.
    ///   - requested: When it was sent, in seconds since 1970.
    ///   - received: When the response came.
    static func head(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, to request: URLRequest, _ key: Digest.Key,
        requested: Double, received: Double
    ) -> StoredResponse.Head {
        var head = StoredResponse.Head()
        (head.status, head.requested, head.received) = (status.code, requested, received)
        let hop = hopNames(of: fields)
        head.fields = fields.without(hop)
        head.read(request, key)
        // RFC 9110 §6.6.1. It is added last, because `read` would parse it, which takes long.
        if !fields.contains(.date) { head.fields[.date] = Date(timeIntervalSince1970: received).httpDate }
        let selection = head.selecting.sortedByName().map { "\($0.key)=\($0.value.value)" }.joined(separator: "\n")
        head.variant = Digest(selection, key: key).hex
        return head
    }

    private static func hopNames(of fields: HTTPFields) -> Set<String> {
        guard let connection = fields.value(.connection) else { return hopFields }
        let named = connection.lowercased().listMembers.filter(\.isASCII)
        // Without these, a response would be stored that must not be.
        return hopFields.union(named).subtracting(["cache-control", "expires", "vary"])
    }

    /// Whether a response is about the resource: another one that is stored is not valid any more.
    ///
    /// Otherwise it is about the credentials, the number or the time of the requests, or a failure of the server.
    static func isAboutResource(_ status: HTTPResponse.Status) -> Bool {
        ![401, 403, 407, 408, 429].contains(status.code) && status.kind != .serverError
    }

    /// Whether a stored response is a response to a request (RFC 9111 §4.1).
    static func matches(_ head: StoredResponse.Head, _ request: URLRequest, _ key: Digest.Key) -> Bool {
        // A validation may have brought `*`, which matches nothing.
        head.selecting["*"] == nil && head.selecting.allSatisfy { request.selectingDigest($0.key, key) == $0.value }
    }

    /// What is done with a stored response that matches a request (RFC 9111 §4).
    static func use(_ head: StoredResponse.Head, for request: URLRequest, at now: Double) -> Use {
        let (wanted, control) = (request.cacheControl, head.control)
        if [.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData].contains(request.cachePolicy) {
            return .ignore
        }
        let (age, lifetime) = (age(of: head, at: now), head.lifetime)
        let isFresh = lifetime > age
        // RFC 8246 §3: whoever has changed a response without TLS could make it last.
        let isFixed = isFresh && control.contains("immutable") && request.url?.isHTTPS == true
        if control.contains("no-cache") || request.wantsValidation { return .validate }
        if request.cachePolicy == .reloadRevalidatingCacheData, !isFixed { return .validate }
        // RFC 8246 §2: a reload does not ask for an immutable response again.
        if let longest = wanted.seconds("max-age"), age > Double(longest), !isFixed { return .validate }
        let rest = lifetime - age
        if let least = wanted.seconds("min-fresh"), rest < Double(least) { return .validate }
        if isFresh { return .fresh }
        guard !control.contains("must-revalidate") else { return .validate }
        // An old failure says nothing of now.
        let mayBeOld = isAboutResource(.init(code: head.status)) && request.cachePolicy == .returnCacheDataElseLoad
        if mayBeOld || request.cachePolicy == .returnCacheDataDontLoad { return .stale }
        if wanted.isBare("max-stale") || wanted.seconds("max-stale").map({ -rest <= Double($0) }) == true {
            return .stale
        }
        if wanted.seconds("max-age") == nil, let window = control.seconds("stale-while-revalidate"),
            -rest <= Double(window)
        {
            return .staleWhileRevalidate
        }
        return .validate
    }

    /// Whether only a stored response is wanted.
    static func onlyStored(_ request: URLRequest) -> Bool {
        request.cachePolicy == .returnCacheDataDontLoad || request.cacheControl.contains("only-if-cached")
    }

    /// Whether a status is a failure that a stale response may replace (RFC 5861 §4).
    static func isFailure(_ status: HTTPResponse.Status) -> Bool { [500, 502, 503, 504].contains(status.code) }

    /// Whether a response may be used instead of a failure (RFC 5861 §4).
    ///
    /// - Parameters:
    ///   - request: The request that has failed; `nil` for any.
    ///   - limit: How long the caller accepts a stale response; `nil` if only the server decides.
    static func mayReplaceFailure(
        _ head: StoredResponse.Head, for request: URLRequest? = nil, within limit: Duration?, at now: Double
    ) -> Bool {
        let (wanted, control) = (request?.cacheControl, head.control)
        guard request?.wantsValidation != true, request.map({ use(head, for: $0, at: now) }) != .ignore,
            !["no-cache", "must-revalidate"].contains(where: control.contains),
            isAboutResource(.init(code: head.status))
        else { return false }
        let told = [wanted, control].map { $0?.seconds("stale-if-error").map { Duration.seconds($0) } }
        guard let longest = ([limit] + told).compactMap({ $0 }).max() else { return false }
        return age(of: head, at: now) - head.lifetime <= longest / .seconds(1)
    }

    /// How long a response is fresh, in seconds (RFC 9111 §4.2.1, §4.2.2).
    fileprivate static func lifetime(of head: StoredResponse.Head) -> Double {
        if let seconds = head.control.seconds("max-age") { return Double(seconds) }
        if let text = head.fields.value(.expires) {
            return max(0, (Date(strictHTTPDate: text)?.timeIntervalSince1970 ?? 0) - head.date)
        }
        guard guessed.contains(head.status) || head.control.contains("public"),
            let modified = head.fields.value(.lastModified).flatMap({ Date(strictHTTPDate: $0) })?.timeIntervalSince1970
        else { return 0 }
        return min(max(0, head.date - modified) / 10, longestGuess)
    }

    /// The age of a response, in seconds (RFC 9111 §4.2.3).
    static func age(of head: StoredResponse.Head, at now: Double) -> Double {
        // A clock that goes back says nothing of the age.
        guard now >= head.received else { return .infinity }
        // RFC 9111 §5.1: the first value counts, if it is one.
        let first = head.fields.value(.age)?.listMembers.first
        let told = first.flatMap(CacheControl.seconds).map(Double.init) ?? 0
        let delay = max(0, head.received - head.requested)
        // Dates have whole seconds.
        return max(head.received.rounded(.down) - head.date, told + delay, 0) + (now - head.received)
    }

    /// Adds the conditions by which a server says that a stored response is still valid (RFC 9111 §4.3.1).
    static func addConditions(_ head: StoredResponse.Head, to request: inout URLRequest) {
        for (validator, condition) in [(HTTPField.Name.eTag, "If-None-Match"), (.lastModified, "If-Modified-Since")] {
            // Two values in one field would be two conditions, or none.
            let values = head.fields[values: validator]
            if values.count == 1 { request.setValue(values[0], forHTTPHeaderField: condition) }
        }
    }

    /// A stored head after a 304 (RFC 9111 §3.2, §4.3.4), or after a response to HEAD (§4.3.5).
    ///
    /// - Returns: `nil` if the response is about other bytes.
    static func updated(
        _ head: StoredResponse.Head, by status: HTTPResponse.Status, _ fields: HTTPFields, to request: URLRequest,
        _ key: Digest.Key, requested: Double, received: Double
    ) -> StoredResponse.Head? {
        // A strong validator names exactly these bytes; a weak one and another of the same text are the same.
        if let tag = fields[.eTag], !tag.isWeakTag || head.fields[.eTag] != nil {
            let old = head.fields[.eTag] ?? ""
            guard tag.hasBytes(of: old) || tag.isWeakTag && tag.opaqueTag.elementsEqual(old.opaqueTag)
            else { return nil }
        }
        if let new = fields[.lastModified], let old = head.fields[.lastModified], !new.hasBytes(of: old) { return nil }
        if status != .notModified {
            guard status.code == head.status,
                fields[.contentLength]?.hasBytes(of: head.fields[.contentLength]) ?? true
            else { return nil }
        }
        var head = head
        (head.requested, head.received) = (requested, received)
        let kept = hopNames(of: fields).union(bodyFields)
        // They are of the time when the response came.
        head.fields[.age] = nil
        head.fields[.date] = Date(timeIntervalSince1970: received).httpDate
        let new = fields.without(kept)
        let old = head.fields.without(Set(new.map(\.name.canonicalName)))
        guard old.count + new.count <= HTTPFields.most else { return nil }
        // One after the other would take quadratic time.
        head.fields = HTTPFields(Array(old) + new)
        head.read(request, key)
        return head
    }

    /// The URLs whose responses an unsafe request has made invalid (RFC 9111 §4.4).
    static func invalidated(by request: URLRequest, _ status: HTTPResponse.Status, _ fields: HTTPFields) -> [URL] {
        guard !isSafe(request.httpMethod), 200...399 ~= status.code, let url = request.url else { return [] }
        let named = [HTTPField.Name.location, .contentLocation].compactMap { name in
            fields[name].flatMap { URL(reference: $0, relativeTo: url) }
        }
        // Another origin has not said so.
        return [url] + named.filter { Origin($0) == Origin(url) }
    }
}

extension StoredResponse.Head {
    var control: CacheControl { CacheControl(fields.value(.cacheControl)) }
    var hasValidator: Bool {
        [HTTPField.Name.eTag, .lastModified].contains { fields[values: $0].count == 1 }
    }

    /// The names in `Vary`, in lower case.
    var varyNames: Set<String> {
        guard let vary = fields.value(.vary) else { return [] }
        // A name is ASCII. To hash other text may take quadratic time.
        guard vary.isASCII else { return ["*"] }
        return Set(vary.lowercased().listMembers.filter { !$0.isEmpty })
    }

    /// Whether a store has returned what it was given, as far as this can be seen.
    var isValid: Bool {
        200...999 ~= status && [requested, received, date, lifetime].allSatisfy { abs($0) < 1e15 }
    }

    /// Notes what the fields say: the freshness, and the fields of the request that `Vary` names.
    fileprivate mutating func read(_ request: URLRequest, _ key: Digest.Key) {
        date = fields[date: .date]?.timeIntervalSince1970 ?? received
        lifetime = CachePolicy.lifetime(of: self)
        selecting = [:]
        for name in varyNames { selecting[name] = request.selectingDigest(name, key) }
    }
}

extension URLRequest {
    var cacheControl: CacheControl { CacheControl(value(forHTTPHeaderField: "Cache-Control")) }

    /// Whether no response is wanted that was not validated; without `Cache-Control`, `Pragma` counts (RFC 9111 §5.4).
    fileprivate var wantsValidation: Bool {
        let value = value(forHTTPHeaderField: "Cache-Control") ?? value(forHTTPHeaderField: "Pragma")
        return CacheControl(value).contains("no-cache")
    }

    /// The digest of a field's value; white space around commas does not matter (RFC 9111 §4.1).
    fileprivate func selectingDigest(_ name: String, _ key: Digest.Key) -> Digest {
        guard let value = value(forHTTPHeaderField: name) else {
            return Digest("absent" + Self.systemValue(of: name), key: key)
        }
        let parts = value.listMembers
        return Digest("=" + parts.joined(separator: ","), key: key)
    }
}

extension HTTPFields {
    /// - Parameter names: In lower case.
    fileprivate func without(_ names: Set<String>) -> HTTPFields {
        // Most responses have none of them, and to make new fields takes long.
        guard contains(where: { names.contains($0.name.canonicalName) }) else { return self }
        return HTTPFields(filter { !names.contains($0.name.canonicalName) })
    }
}

extension String {
    /// Whether it is a weak entity tag (RFC 9110 §8.8.3).
    fileprivate var isWeakTag: Bool { utf8.starts(with: "W/".utf8) }

    /// An entity tag without the mark of a weak one.
    fileprivate var opaqueTag: Substring.UTF8View { utf8.dropFirst(isWeakTag ? 2 : 0) }
}

extension Date {
    /// Parses a date in one of the three formats of RFC 9110 §5.6.7, exactly but for upper and lower case.
    package init?(strictHTTPDate text: String) {
        let text = text.lowercased().hasSuffix(" gmt") ? text.dropLast(3) + "GMT" : text
        guard let date = Self(httpDate: text), let written = date.httpDate else { return nil }
        let parts = written.dropLast(" GMT".count).split(separator: " ")
        let (day, month, year, time) = (parts[1], parts[2], parts[3], parts[4])
        let asctime = "\(month) \(day.hasPrefix("0") ? " \(day.dropFirst())" : day) \(time) \(year)"
        // The name of the day says nothing new, and is often wrong.
        let rest = text.drop { $0 != " " && $0 != "," }.lowercased()
        let all = ["\(written.dropFirst(3))", " \(asctime)", ", \(day)-\(month)-\(year.suffix(2)) \(time) GMT"]
        guard all.contains(where: { $0.lowercased() == rest }) else { return nil }
        self = date
    }
}
