/// Sends a request as a task of a `URLSession`: on Linux, of the ``ShadowSession`` in its place.
struct URLSessionTransport: Sendable {
    private let request: Transport.Request
    private let exchange: Exchange
    private let shadow: ShadowSession

    /// Begins to send a request.
    ///
    /// - Parameter limit: The most bytes of the body; `nil` for as many as come.
    /// - Throws: ``RequestError`` if the body cannot be opened.
    init(_ request: Transport.Request, limit: Int? = nil) throws {
        var urlRequest = request.urlRequest
        try urlRequest.openBody(of: request)
        self.request = request
        shadow = ShadowSession.of(request.session)
        exchange = Exchange(
            limit: limit, callerDelegate: request.callerDelegate, bodyLength: urlRequest.bodyLength,
            clock: request.config.clock)
        if let limit = shadow.timeLimit(of: urlRequest) {
            exchange.finish(after: limit) { [url = urlRequest.url] in URLError(timedOut: url, after: limit) }
        }
        shadow.begin(exchange, for: urlRequest, of: request)
    }

    /// - Returns: The response when its head has arrived.
    /// - Throws: `URLError` for transport failures and for time that is up, `CancellationError` once the task is
    ///   cancelled, ``RequestError`` for a response that is not HTTP, or a body stream that is not as long as it says.
    func response() async throws -> Transport.Response {
        try await withDecisions { try await exchange.head() }
        let body = Unread(exchange: exchange)
        return try response(ResponseBody(unfolding: { try await body.exchange.piece() }))
    }

    /// - Returns: The response when all of it has arrived, which saves the call a change of threads. What is longer than
    ///   the limit is an error of its body.
    func wholeResponse() async throws -> Transport.Response {
        var failure: BodyTooLong?
        do {
            try await withDecisions { try await exchange.complete() }
        } catch let error as BodyTooLong {
            failure = error
        }
        return try response(ResponseBody(exchange.response.body, failure: failure))
    }

    private func withDecisions(_ wait: () async throws -> Void) async throws {
        do {
            try await wait()
        } catch is LostConnection {
            throw URLError(LostConnection(decisions: decisions), of: request.urlRequest.url)
        }
    }

    private var decisions: DelegateDecisions? {
        let (task, head, _, challenge) = exchange.response
        guard let task else { return nil }
        return DelegateDecisions(
            request: request, task: task, head: head as? HTTPURLResponse, challenge: challenge, shadow: shadow)
    }

    private func response(_ body: ResponseBody) throws -> Transport.Response {
        // HTTPTypes traps on a status of more than three digits, which a custom URLProtocol may well hand over.
        guard let decisions, let head = decisions.head, 0...999 ~= head.statusCode else {
            throw RequestError(
                .invalidResponse, stage: .executing, reason: "the response is not HTTP", request: request.urlRequest)
        }
        shadow.received(head, to: request.urlRequest)
        var response = Transport.Response(
            status: .init(integerLiteral: head.statusCode), headerFields: HTTPFields(head), url: head.url, body: body)
        response.decisions = decisions
        return response
    }
}

/// Ends an exchange when nobody can read its body any more.
private final class Unread: Sendable {
    let exchange: Exchange

    init(exchange: Exchange) {
        self.exchange = exchange
    }

    deinit { exchange.finish(throwing: CancellationError()) }
}

/// The server closed a connection that was kept from an earlier request, before it responded to this one.
///
/// It may have processed the request.
struct LostConnection: Error {
    var decisions: DelegateDecisions?
}

extension URLError {
    private static let lostConnectionKey = "URLConfigLostConnection"

    /// The connection that was lost, if the request may be sent again because of that.
    var lostConnection: LostConnection? { errorUserInfo[Self.lostConnectionKey] as? LostConnection }

    var withoutConnection: URLError {
        URLError(code, userInfo: errorUserInfo.filter { $0.key != Self.lostConnectionKey })
    }

    fileprivate init(_ lost: LostConnection, of url: URL?) {
        var information: [String: Any] = [Self.lostConnectionKey: lost]
        information[NSURLErrorFailingURLErrorKey] = url
        information[NSLocalizedDescriptionKey] =
            "The network connection was lost before a response came. The server may have processed the request."
        self.init(.networkConnectionLost, userInfo: information)
    }

    /// As Foundation has it, with the time.
    init(timedOut url: URL?, after limit: Duration) {
        var information = url.map { [NSURLErrorFailingURLErrorKey: $0 as Any] } ?? [:]
        information[NSLocalizedDescriptionKey] =
            "The request timed out: there was no complete response within \(limit.shown)."
        self.init(.timedOut, userInfo: information)
    }
}

extension URLRequest {
    /// Sets what a task takes for a body.
    fileprivate mutating func openBody(of request: Transport.Request) throws {
        guard case let (length, stream)? = try request.replacedStream else { return }
        httpBodyStream = stream
        if let length { setValue("\(length)", forHTTPHeaderField: "Content-Length") }
    }

    /// The time for one attempt, if somebody has chosen one: Foundation's own minute is one without a byte, and its own
    /// to measure.
    var customTimeLimit: Duration? {
        timeoutInterval == 60 ? nil : Duration(timeoutInterval: timeoutInterval)
    }

    /// The length of the body in bytes; -1 for a stream of unknown length, `nil` for no body.
    var bodyLength: Int64? {
        if let body = httpBody { return body.isEmpty ? nil : Int64(body.count) }
        guard httpBodyStream != nil else { return nil }
        return declaredLength ?? NSURLSessionTransferSizeUnknown
    }
}

extension HTTPFields {
    /// The fields of a response.
    ///
    /// An invalid name, and what exceeds the number of fields that this type can hold, is left out rather than trapped
    /// on.
    init(_ response: HTTPURLResponse) {
        self.init()
        for case let (name as String, value as String) in response.allHeaderFields.prefix(1 << 15) {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
