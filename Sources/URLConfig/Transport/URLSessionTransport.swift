/// Sends a request once as a task of a `URLSession`: on Linux, of the ``ShadowSession`` in its place.
enum URLSessionTransport {
    /// - Returns: The response when its head has arrived.
    /// - Throws: `URLError` for transport failures and for time that is up, `CancellationError` once the task is
    ///   cancelled, ``RequestError`` for a response that is not HTTP, or a body that cannot be opened or is not as long
    ///   as it says.
    static func response(to request: Transport.Request) async throws -> Transport.Response {
        let exchange = try begin(request)
        let body = Unread(exchange: exchange)
        try await exchange.waitForHead()
        return try response(of: exchange, ResponseBody(unfolding: { try await body.exchange.piece() }))
    }

    /// - Returns: The response when all of it has arrived, which saves the call a change of threads.
    /// - Throws: As above; ``RequestError`` with code ``RequestError/Code/responseTooLarge``.
    static func answer(to request: Transport.Request) async throws -> Answer {
        let exchange = try begin(request, limit: request.config.responseLimit)
        var tooLong: BodyTooLong?
        do {
            try await exchange.complete()
        } catch let error as BodyTooLong {
            tooLong = error
        }
        var answer = Answer(try response(of: exchange), to: request)
        answer.response.data = exchange.body
        if let tooLong { throw answer.failure(tooLong) }
        return answer
    }

    private static func begin(_ request: Transport.Request, limit: Int? = nil) throws -> Exchange {
        var request = request
        try request.openBody()
        let exchange = Exchange(request, limit: limit)
        if let limit = exchange.shadow.timeLimit(of: request.urlRequest) { exchange.finish(after: limit) }
        exchange.shadow.begin(exchange)
        return exchange
    }

    private static func response(of exchange: Exchange, _ body: ResponseBody = .init()) throws -> Transport.Response {
        let request = exchange.request.urlRequest
        // HTTPTypes traps on a status of more than three digits, which a custom URLProtocol may well hand over.
        guard let head = exchange.head, 0...999 ~= head.statusCode else {
            throw RequestError(.invalidResponse, stage: .executing, reason: "the response is not HTTP", request: request)
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

/// The server closed a connection that was kept from an earlier request, before it responded to this one.
///
/// It may have processed the request.
struct LostConnection: Error {
    var decisions: Exchange?
}

extension URLError {
    private static let lostConnectionKey = "URLConfigLostConnection"

    /// The connection that was lost, if the request may be sent again because of that.
    var lostConnection: LostConnection? { errorUserInfo[Self.lostConnectionKey] as? LostConnection }

    var withoutConnection: URLError {
        URLError(code, userInfo: errorUserInfo.filter { $0.key != Self.lostConnectionKey })
    }

    /// - Parameter exchange: Where it was lost. A transport may have made another method of the caller's.
    init(lostConnectionOf exchange: Exchange) {
        let request = exchange.request.urlRequest
        var information: [String: Any] = [:]
        if request.hasIdempotentMethod { information[Self.lostConnectionKey] = LostConnection(decisions: exchange) }
        information[NSURLErrorFailingURLErrorKey] = request.url
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
