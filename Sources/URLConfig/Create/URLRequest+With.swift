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
    /// ``RequestError`` of ``Config/request()``, and the session's own methods throw a `URLError`.
    ///
    /// - Parameters:
    ///   - config: The preset; by default ``Config/default``.
    ///   - configure: Makes the changes. Its error is rethrown.
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
            throw .refused(.invalidRequest, "timeout is \(timeoutInterval) s; set more than zero, or nil")
        }
        let (fields, data) = try fieldsAndBody()
        guard let url = URL(string: text) else {
            throw .refused(.invalidURL, "'\(Self.shown(text))' is not a URL that the system accepts")
        }
        var request = URLRequest(url: url)
        request.allHTTPHeaderFields = fields
        if method != .get { request.httpMethod = method.rawValue }
        if let data { request.httpBody = data }
        // The property, because Foundation on Linux ignores the time limit of URLRequest's initializer.
        // The last bit tells a chosen minute from the default one.
        if let limit { request.timeoutInterval = limit == 60 ? limit.nextUp : limit }
        if cachePolicy != .useProtocolCachePolicy { request.cachePolicy = cachePolicy }
        modify?(&request)
        guard self.url != nil else { return request }
        // The URL of a server may lead anywhere.
        let home = URLRequest(url: hostURL ?? URL(fileURLWithPath: "/"))
        return request.keepingCredentials(for: home, URLSession.Config.preset(for: home).redaction)
    }

    func urlText() throws(RequestError) -> String {
        if let url {
            do {
                let (origin, rest) = try BaseURL.origin(url.absoluteString)
                return origin + rest
            } catch {
                throw .refused(.invalidURL, "url '\(Self.shown(url.absoluteString))' \(error.reason)")
            }
        }
        let parts: BaseURL.Parts
        do {
            parts = try base.parts.get()
        } catch {
            let shown = URLSession.Config.default.redaction.host(base.text)
            throw .refused(.invalidURL, "host '\(shown)' \(error.reason)")
        }
        if let reason = path.invalidReason {
            let text = String(decoding: path.text, as: UTF8.self)
            throw .refused(.invalidURL, "path '\(text)' \(reason)")
        }
        let items: URLRequest.Query
        do {
            items = try query.resolved(effectiveEncoder)
        } catch {
            throw .refused(.invalidURL, "query \(error.reason)")
        }
        let queries = (parts.query?.count ?? 0) + (path.query?.count ?? 0) + items.capacity
        return ByteWriter.text(capacity: parts.prefix.count + path.text.count + queries + 4) { writer in
            writer.write(parts.prefix)
            if path.text.isEmpty ? parts.endsInSlash : path.text.first != UInt8(ascii: "/") {
                writer.write(UInt8(ascii: "/"))
            }
            writer.write(path.text)
            var separator = UInt8(ascii: "?")
            func write(_ query: [UInt8]?) {
                guard let query, !query.isEmpty else { return }
                writer.write(separator)
                writer.write(query)
                separator = UInt8(ascii: "&")
            }
            write(parts.query)
            write(path.query)
            items.write(to: &writer, after: separator, encoding: .unreserved)
        }
    }

    private static func shown(_ url: String) -> String { URLSession.Config.default.redaction.url(url) }

    private var hostURL: URL? { try? base.parts.get().url }

    private func fieldsAndBody() throws(RequestError) -> ([String: String], Data?) {
        if let cachedHeaders, authorization == nil, idempotencyKey == nil, body.isEmpty {
            return (cachedHeaders, nil)
        }
        var fields = headers
        let data: Data?
        do {
            data = try body.data(fields: &fields, encoder: effectiveEncoder)
        } catch {
            throw .refused(.invalidRequest, "body: \(error.summary)", error)
        }
        if data != nil { try URLRequest.checkHasPlaceForBody(method.rawValue) }
        try idempotencyKey?(&fields)
        if url == nil || Origin(url) == Origin(hostURL) { try authorization?(&fields) }
        return (try fields.combined(), data)
    }
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
