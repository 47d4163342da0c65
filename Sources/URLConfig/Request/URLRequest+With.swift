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
    /// Never crashes. An invalid configuration gives a request that no session sends: `URLSession.response(for:)`
    /// throws the ``RequestError`` that ``Config/request()`` throws at once, the session's own methods a `URLError`.
    ///
    /// - Parameters:
    ///   - config: The preset; by default ``Config/default``.
    ///   - configure: Makes the changes. What it throws is rethrown; one that does not throw needs no `try`.
    public static func with<Failure: Error>(
        _ config: Config = .init(), _ configure: (inout Config) throws(Failure) -> Void
    ) throws(Failure) -> URLRequest {
        var config = config
        try configure(&config)
        do {
            return try config.request()
        } catch {
            return URLRequest(refused: error, method: config.method.rawValue)
        }
    }

    /// The request of a preset as it is.
    ///
    /// - Parameter config: The preset.
    public static func with(_ config: Config) -> URLRequest {
        with(config) { _ in }
    }
}

extension URLRequest.Config {
    /// The request that this configuration describes.
    ///
    /// - Throws: ``RequestError`` for what cannot be sent: a ``host`` that
    ///   is not an HTTP URL, a refused ``path``, a ``query`` or ``body`` that cannot be encoded, a body that the method
    ///   does not allow, a header field that the session sets, invalid credentials, a ``timeout`` of zero or less.
    public func request() throws(RequestError) -> URLRequest {
        let text = try urlText()
        if let reason = path.invalidReason { throw .refused(.invalidURL, "path '\(path.text)' \(reason)") }
        if let reason = query.invalidReason { throw .refused(.invalidURL, "query \(reason)") }
        let limit = timeout?.timeoutInterval
        if let timeoutInterval, limit == nil {
            throw .refused(.invalidRequest, "timeout is \(timeoutInterval) s; set more than zero, or nil")
        }
        let (fields, data) = try fieldsAndBody()
        guard let url = URL(string: text) else {
            let shown = URLSession.Config.default.redaction.url(text)
            throw .refused(.invalidURL, "'\(shown)' is not a URL that the system accepts")
        }
        var request = URLRequest(url: url)
        request.allHTTPHeaderFields = fields
        if method != .get { request.httpMethod = method.rawValue }
        if let data { request.httpBody = data }
        // By its property: on Linux, a time limit that is given to URLRequest's initializer is ignored.
        // Every request has a minute, and nobody chose it: the last bit marks one that was chosen.
        if let limit { request.timeoutInterval = limit == 60 ? limit.nextUp : limit }
        if cachePolicy != .useProtocolCachePolicy { request.cachePolicy = cachePolicy }
        if networkServiceType != .default { request.networkServiceType = networkServiceType }
        if !allowsCellularAccess { request.allowsCellularAccess = false }
        if !handlesCookies { request.httpShouldHandleCookies = false }
        modify?(&request)
        return request
    }

    func urlText() throws(RequestError) -> String {
        let parts: BaseURL.Parts
        do {
            parts = try base.parts.get()
        } catch {
            let shown = URLSession.Config.default.redaction.host(base.text)
            throw .refused(.invalidURL, "host '\(shown)' \(error.reason)")
        }
        let queries = (parts.query?.utf8.count ?? 0) + (path.query?.utf8.count ?? 0) + query.capacity
        return ByteWriter.text(capacity: parts.prefix.utf8.count + path.text.utf8.count + queries + 4) { writer in
            writer.write(parts.prefix)
            if path.text.isEmpty ? parts.endsInSlash : path.text.utf8.first != UInt8(ascii: "/") {
                writer.write(UInt8(ascii: "/"))
            }
            writer.write(path.text)
            var separator = UInt8(ascii: "?")
            func write(_ query: String?) {
                guard let query, !query.isEmpty else { return }
                writer.write(separator)
                writer.write(query)
                separator = UInt8(ascii: "&")
            }
            write(parts.query)
            write(path.query)
            query.write(to: &writer, after: separator, encoding: .unreserved)
        }
    }

    private func fieldsAndBody() throws(RequestError) -> ([String: String], Data?) {
        if let cachedHeaders, authorization == nil, idempotencyKey == nil, body.isEmpty { return (cachedHeaders, nil) }
        var fields = headers
        let data: Data?
        do {
            data = try body.data(fields: &fields, encoder: customEncoder ?? Self.defaultEncoder)
        } catch {
            throw .refused(.invalidRequest, "body: \(error.summary)", error)
        }
        if data != nil { try URLRequest.checkHasPlaceForBody(method.rawValue) }
        try idempotencyKey?(&fields)
        try authorization?(&fields)
        return (try fields.combined(), data)
    }
}

extension HTTPFields {
    /// As the dictionary that `URLRequest` takes: fields with one name are combined (RFC 9110 §5.3).
    func combined() throws(RequestError) -> [String: String] {
        // Comparing each with each is the fastest way for a few, but takes time that grows with the square.
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
