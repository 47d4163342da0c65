extension URLRequest {
    /// A request from a preset and changes.
    ///
    /// ```swift
    /// let request = URLRequest.with(.api) {
    ///     $0.method = .post
    ///     $0.path = "/users/\(userID)/article"
    ///     $0.body["title"] = "some-title"
    /// }
    /// ```
    ///
    /// An invalid configuration gives a request that no session sends: `URLSession.response(for:)` throws the
    /// ``RequestError`` of ``Config/request()``, without its underlying error, and the session's own methods throw a
    /// `URLError`.
    ///
    /// - Parameters:
    ///   - config: The preset; by default ``Config/default``.
    ///   - configure: Makes the changes. Its error is rethrown.
    public static func with<Failure: Error>(
        _ config: Config = .init(), _ configure: (inout Config) throws(Failure) -> Void
    ) throws(Failure) -> URLRequest {
        let config = try config.changed(by: configure)
        do {
            return try config.request()
        } catch {
            return URLRequest(refused: error, method: config.method.rawValue)
        }
    }

    /// The request of a preset without changes.
    ///
    /// - Parameter config: The preset.
    public static func with(_ config: Config) -> URLRequest { with(config) { _ in } }
}

extension URLRequest.Config {
    /// The request that this configuration describes.
    ///
    /// - Throws: ``RequestError`` if the request cannot be sent: an invalid ``host``, ``path`` or ``url``, a ``query``
    ///   or ``body`` that cannot be encoded, a body that the method does not allow, a header field that the session
    ///   sets, invalid credentials, a ``timeout`` of zero or less.
    public func request() throws(RequestError) -> URLRequest {
        let text = try urlText()
        let limit = timeout?.timeoutInterval
        if let timeoutInterval, limit == nil {
            throw .refused("timeout is \(timeoutInterval) s; set more than zero, or nil")
        }
        // The URL of a server may lead anywhere.
        let home = url.map { _ in URLRequest(url: (try? base.parts.get().url) ?? URL(fileURLWithPath: "/")) }
        let leaving = home.flatMap { Origin(url) == Origin($0.url) ? nil : URLSession.Config.preset(for: $0).redaction }
        let (fields, data) = try fieldsAndBody(leaving)
        guard let url = URL(string: text) else {
            throw .refused("'\(shownRedaction.url(text))' is not a URL that the system accepts", code: .invalidURL)
        }
        var request = URLRequest(url: url)
        request.allHTTPHeaderFields = fields
        if method != .get { request.httpMethod = method.rawValue }
        if let data { request.httpBody = data }
        // The property, because Foundation on Linux ignores the time limit of URLRequest's initializer.
        // The last bit tells a chosen minute from the default one.
        if let limit { request.timeoutInterval = limit == 60 ? limit.nextUp : limit }
        if cachePolicy != .useProtocolCachePolicy { request.cachePolicy = cachePolicy }
        let unmodified = request
        modify?(&request)
        if let leaving, own?.modify != true {
            request.takeBack(to: unmodified, leaving)
            let hasCredentials = headers.contains { leaving.isCredential($0.name.rawName) }
            if hasCredentials || authorization != nil || modify != nil {
                LeftOutCredentials.note(of: home?.url, for: url)
            }
        }
        return request
    }

    func urlText() throws(RequestError) -> String {
        if let url {
            let text = url.absoluteString
            let (origin, rest) = try RequestError.refusing("url '\(shownRedaction.url(text))'", code: .invalidURL) {
                try BaseURL.origin(text)
            }
            guard !isQueryUnclear else {
                throw .refused(
                    "query: it is not clear whether it belongs to url; set both in one closure", code: .invalidURL)
            }
            return try origin + adding(query.items.isEmpty ? [] : own?.query ?? [], to: rest)
        }
        guard !isURLMissing else {
            throw .refused("url was set to nil; if a server gave it, its text is not a URL", code: .invalidURL)
        }
        // Not `refusing`: its closure takes time in each request.
        let parts: BaseURL.Parts
        do {
            parts = try base.parts.get()
        } catch {
            let shown = shownRedaction.host(base.text)
            throw .refused("host '\(shown)'", because: error, code: .invalidURL)
        }
        if let reason = path.invalidReason {
            let text = shownRedaction.masked(String(decoding: path.text, as: UTF8.self))
            throw .refused("path '\(text)' \(reason)", code: .invalidURL)
        }
        let items = try resolved(query)
        var bytes: [UInt8] = []
        // Enough for most queries: the memory is allocated once.
        bytes.reserveCapacity(parts.prefix.count + path.text.count + 128)
        bytes += parts.prefix
        if path.text.isEmpty ? parts.endsInSlash : path.text.first != UInt8(ascii: "/") {
            bytes.append(UInt8(ascii: "/"))
        }
        bytes += path.text
        var separator = UInt8(ascii: "?")
        func append(_ query: [UInt8]?) {
            guard let query, !query.isEmpty else { return }
            bytes.append(separator)
            bytes += query
            separator = UInt8(ascii: "&")
        }
        append(parts.query)
        append(path.query)
        items.write(to: &bytes, after: separator, encoding: .unreserved)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A path with a query and a fragment, and more items of the query.
    private func adding(_ items: [URLRequest.Query.Item], to reference: Substring) throws(RequestError) -> String {
        guard !items.isEmpty else { return String(reference) }
        var query = query
        query.items = items
        query = try resolved(query)
        let end = reference.utf8.firstIndex(of: UInt8(ascii: "#")) ?? reference.endIndex
        var start = reference[..<end]
        let mark = UInt8(ascii: "?")
        // An empty query has no items.
        if start.utf8.last == mark, !start.utf8.dropLast().contains(mark) { start = start.dropLast() }
        let separator = start.utf8.contains(mark) ? UInt8(ascii: "&") : mark
        var added: [UInt8] = []
        query.write(to: &added, after: separator, encoding: .unreserved)
        return start + String(decoding: added, as: UTF8.self) + reference[end...]
    }

    private func resolved(_ query: URLRequest.Query) throws(RequestError) -> URLRequest.Query {
        try RequestError.refusing("query", code: .invalidURL) { try query.resolved(effectiveEncoder) }
    }

    /// Whether a closure has set the field that the preset's ``idempotencyKey`` would write.
    var hasOwnKey: Bool {
        own?.headers.contains { $0.isIdempotencyKey && $1 > generations.key && headers.contains($0) } == true
    }

    /// - Parameter leaving: If ``url`` leaves the preset's origin, it names the credentials, which must stay.
    private func fieldsAndBody(_ leaving: Redaction?) throws(RequestError) -> ([String: String], Data?) {
        if authorization == nil, idempotencyKey == nil, body.isEmpty, leaving == nil {
            if let cachedHeaders { return (cachedHeaders, nil) }
            return (try headers.combined(), nil)
        }
        var fields = headers
        // It may contain credentials of the preset.
        guard leaving == nil || body.isEmpty || own?.body == true else {
            throw .refused("body: it may not be meant for the origin of url; set both in one closure")
        }
        let data = try RequestError.refusing("body:") { try body.data(fields: &fields, encoder: effectiveEncoder) }
        if data != nil { try URLRequest.checkHasPlaceForBody(method.rawValue) }
        if let leaving {
            fields.removeAll { field in
                guard leaving.isCredential(field.name.rawName) else { return false }
                guard let own, own.headers[field.name] != nil else { return true }
                return own.presetHeaders[values: field.name].contains(field.value)
            }
        }
        let allowed = own == nil ? [:] : fields
        try idempotencyKey?(&fields)
        if leaving == nil || own?.authorization == true { try authorization?(&fields) }
        // A field of a later closure wins over what has been written.
        for (name, generation) in own?.headers ?? [:] where allowed.contains(name) {
            let last = name.isIdempotencyKey ? generations.key : generations.authorization
            if generation > last { fields[values: name] = allowed[values: name] }
        }
        return (try fields.combined(), data)
    }
}

extension URLRequest {
    /// Undoes changes by the `modify` of a preset that must not reach another origin: URL, body and credentials.
    ///
    /// The method and the fields about the content belong to the body.
    fileprivate mutating func takeBack(to unmodified: URLRequest, _ leaving: Redaction) {
        url = unmodified.url
        let hasOtherBody = httpBodyStream != nil || httpBody != unmodified.httpBody
        if hasOtherBody {
            httpBodyStream = nil
            (httpBody, httpMethod) = (unmodified.httpBody, unmodified.httpMethod)
        }
        let names = Set((allHTTPHeaderFields ?? [:]).keys).union((unmodified.allHTTPHeaderFields ?? [:]).keys)
        for name in names where leaving.isCredential(name) || hasOtherBody && Self.isAboutBody(name.lowercased()) {
            setValue(unmodified.value(forHTTPHeaderField: name), forHTTPHeaderField: name)
        }
    }
}

extension HTTPField.Name {
    fileprivate var isIdempotencyKey: Bool { canonicalName == IdempotencyKey.field.lowercased() }
}

extension HTTPFields {
    /// The dictionary for `URLRequest`: fields with the same name are combined (RFC 9110 §5.3).
    func combined() throws(RequestError) -> [String: String] {
        // For a few fields, comparing each pair is the fastest way. For many, it is quadratic.
        var mayRepeatName = count > 64
        for index in indices {
            let name = self[index].name
            try name.checkIsForCaller()
            mayRepeatName = mayRepeatName || indices[..<index].contains { self[$0].name == name }
        }
        guard mayRepeatName else {
            return Dictionary(indices.lazy.map { (self[$0].name.rawName, self[$0].value) }) { first, _ in first }
        }
        let fields = Dictionary(grouping: self, by: \.name).map { ($1[0].name.rawName, HTTPFields($1)[$0] ?? "") }
        return Dictionary(uniqueKeysWithValues: fields)
    }
}
