/// Sends a request once as a task of a `URLSession`: on Linux, of the ``ShadowSession`` in its place.
enum URLSessionTransport {
    /// - Returns: The response when its head has arrived.
    static func response(to request: Transport.Request) async throws -> Transport.Response {
        // Another transport may have made it.
        try request.urlRequest.checkSendable()
        let exchange = try begin(request)
        let body = Unread(exchange: exchange)
        try await exchange.waitForHead()
        return try response(of: exchange, ResponseBody(unfolding: { try await body.exchange.piece() }))
    }

    /// - Returns: The response when all of it has arrived, which saves the call a change of threads.
    static func answer(to request: Transport.Request) async throws -> Answer {
        let exchange = try begin(request)
        do {
            try await exchange.complete()
        } catch let error as BodyTooLong {
            throw try Answer(head: response(of: exchange), to: request).failure(error, exchange.body)
        }
        var answer = try Answer(head: response(of: exchange), to: request)
        answer.response.data = exchange.body
        return answer
    }

    private static func begin(_ request: Transport.Request) throws -> Exchange {
        var request = request
        try request.openBody()
        let exchange = Exchange(request, limit: request.config.responseLimit)
        if let limit = exchange.shadow.timeLimit(of: request.urlRequest) { exchange.finish(after: limit) }
        exchange.shadow.begin(exchange)
        return exchange
    }

    private static func response(of exchange: Exchange, _ body: ResponseBody = .init()) throws -> Transport.Response {
        let request = exchange.request.urlRequest
        // HTTPTypes traps on a status of more than three digits, which a custom URLProtocol may well hand over.
        guard let head = exchange.head, 0...999 ~= head.statusCode else {
            throw RequestError(
                .invalidResponse, reason: "the response is not HTTP", request: request)
        }
        exchange.shadow.received(head, to: request)
        var response = Transport.Response(
            status: .init(integerLiteral: head.statusCode), headerFields: HTTPFields(head), url: head.url, body: body)
        response.decisions = exchange
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

/// The server closed a kept connection before it responded, and may have processed the request.
struct LostConnection: Error {
    var decisions: Exchange?
}

extension URLError {
    private static let lostConnectionKey = "URLConfigLostConnection"

    var lostConnection: LostConnection? { errorUserInfo[Self.lostConnectionKey] as? LostConnection }

    var withoutConnection: URLError {
        URLError(code, userInfo: errorUserInfo.filter { $0.key != Self.lostConnectionKey })
    }

    init(lostConnectionOf exchange: Exchange) {
        let request = exchange.request.urlRequest
        // The method is looked at here, because a transport may have made another one of the caller's.
        let lost = request.hasIdempotentMethod ? LostConnection(decisions: exchange) : nil
        self.init(
            .networkConnectionLost, request.url, lost,
            "The network connection was lost before a response came. The server may have processed the request.")
    }

    init(timedOut url: URL?, after limit: Duration) {
        let reason = "The request timed out: there was no complete response within \(limit.shown)."
        self.init(.timedOut, url, nil, reason)
    }

    private init(_ code: Code, _ url: URL?, _ lost: LostConnection?, _ reason: String) {
        var information: [String: Any] = [NSLocalizedDescriptionKey: reason]
        information[NSURLErrorFailingURLErrorKey] = url
        information[Self.lostConnectionKey] = lost
        self.init(code, userInfo: information)
    }
}

extension URLRequest {
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
    /// An invalid name, and more fields than this type can contain, are left out: it traps on them.
    init(_ response: HTTPURLResponse) {
        self.init()
        for case let (name as String, value as String) in response.allHeaderFields.prefix(1 << 15) {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
