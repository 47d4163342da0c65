/// Sends a request once as a task of a `URLSession`, on Linux of its ``ShadowSession``.
enum URLSessionTransport {
    /// Returns the response when its head has arrived, or its whole body.
    static func response(to request: Transport.Request) async throws -> Transport.Response {
        var request = request
        if request.replacement == nil {
            try request.openBody()
        } else {
            // Opening a stream may block.
            request = try await request.conditions.deadline.run { [request] in
                var opened = request
                try await opened.writeSequence()
                try opened.openBody()
                return opened
            }
        }
        let exchange = Exchange(request)
        // It ends the exchange when it is released.
        let body = ResponseBody(exchange.body)
        exchange.shadow.begin(exchange)
        try await exchange.waitForHead()
        // HTTPTypes traps on a status of more than three digits, which a custom URLProtocol may give.
        guard let head = exchange.head, 0...999 ~= head.statusCode else {
            throw RequestError(.invalidResponse, reason: "the response is not HTTP", request: request.urlRequest)
        }
        exchange.shadow.received(head, to: request.urlRequest)
        var response = Transport.Response(
            status: .init(code: head.statusCode), headerFields: HTTPFields(head), url: head.url, body: body)
        response.isFromCache = { exchange.isFromCache }
        response.redaction = request.conditions.redaction
        return response
    }
}

extension URLError {
    private static let lostConnectionKey = "URLConfigLostConnection"

    /// Whether a reused connection was closed before a response to a request that may be sent again.
    ///
    /// It is part of the error, because a transport may send several requests and throw the error of any of them.
    var isLostConnection: Bool { errorUserInfo[Self.lostConnectionKey] != nil }

    /// The error as the caller receives it.
    var withoutMark: URLError { URLError(code, userInfo: errorUserInfo.filter { $0.key != Self.lostConnectionKey }) }

    init(_ lost: Transport.LostConnection, of request: URLRequest) {
        let reason = "The connection was lost before a response. The server may have processed the request."
        // This checks the sent method, because a transport may have changed it.
        self.init(.networkConnectionLost, request.url, reason, request.hasIdempotentMethod ? lost : nil)
    }

    init(timedOut url: URL?, after limit: Duration) {
        self.init(.timedOut, url, "The request timed out: there was no complete response within \(limit.shown).")
    }

    private init(_ code: Code, _ url: URL?, _ reason: String, _ lost: Transport.LostConnection? = nil) {
        var information: [String: Any] = [NSLocalizedDescriptionKey: reason]
        information[NSURLErrorFailingURLErrorKey] = url
        information[Self.lostConnectionKey] = lost
        information[NSUnderlyingErrorKey] = lost?.underlyingError
        self.init(code, userInfo: information)
    }
}

extension URLRequest {
    /// The time limit of one attempt, if it was set.
    ///
    /// Foundation's default of 60 seconds is a limit for silence, which Foundation measures itself.
    var customTimeLimit: Duration? {
        timeoutInterval == 60 ? nil : Duration(timeoutInterval: timeoutInterval)
    }

    /// The length of the body in bytes; -1 for a stream of unknown length, `nil` for no body.
    var bodyLength: Int64? {
        if let body = httpBody { return body.isEmpty ? nil : Int64(body.count) }
        guard httpBodyStream != nil else { return nil }
        return declaredLength ?? NSURLSessionTransferSizeUnknown
    }

    /// The value of `Content-Length`; `nil` if it is missing or invalid.
    var declaredLength: Int64? {
        value(forHTTPHeaderField: "Content-Length").flatMap { Int64(digits: $0) }
    }
}

extension HTTPFields {
    init(_ response: HTTPURLResponse) {
        self.init(
            received: response.allHeaderFields.lazy.compactMap { name, value in
                guard let name = name as? String, let value = value as? String else { return nil }
                return (name: name, value: value)
            })
        if let joined = self[.setCookie] { self[values: .setCookie] = joined.separateCookies }
    }
}

extension URLSession {
    /// Whether the session's configuration adds an `Authorization`.
    var addsAuthorization: Bool {
        (configuration.httpAdditionalHeaders ?? [:]).keys.contains {
            ($0 as? String)?.lowercased() == "authorization"
        }
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
