/// The one seam between the send loop and the network: a request goes in, a whole response comes out.
///
/// On Apple platforms an exchange is a task of the caller's session, and that task's delegate; on Linux, a task of that
/// session's ``ShadowSession``.
struct URLSessionTransport: Sendable {
    let session: URLSession
    /// The caller's own delegate of the task.
    let taskDelegate: (any URLSessionTaskDelegate)?
    /// The most bytes of a body.
    let limit: Int?
    let redaction: Redaction
    let clock: any Clock<Duration>
    let shadow: ShadowSession

    init(session: URLSession, config: URLSession.Config) {
        self.session = session
        taskDelegate = config.taskDelegate
        limit = config.responseLimit
        redaction = config.redaction
        clock = config.clock
        shadow = ShadowSession.of(session)
    }

    /// A whole response, and the task that brought it.
    struct Answer: Sendable {
        var response: DataResponse
        let task: URLSessionTask
        let head: HTTPURLResponse
        /// What the server asks for in place of a response that is of use.
        let challenge: URLAuthenticationChallenge?
    }

    /// One sending, redirects not followed.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - credential: The response to the challenge of the sending before.
    ///   - isForeign: Whether the credentials of the session's configuration stay behind.
    /// - Throws: `URLError` for transport failures and for time that is up, ``LostConnection`` for one that may be sent
    ///   again if that does no harm, `CancellationError` once the task is cancelled, ``RequestError`` for a response
    ///   that is too long or not HTTP, or a body stream that is not as long as it says.
    func send(
        _ request: URLRequest, credential: URLCredential? = nil, isForeign: Bool = false
    ) async throws -> Answer {
        let exchange = Exchange(
            sink: BodyBuffer(limit: limit), caller: caller, bodyLength: request.bodyLength, clock: clock)
        do {
            let limit = shadow.timeLimit(of: request)
            try await withTimeLimit(limit, clock) {
                exchange.finish(throwing: URLError(timedOut: request.url, after: limit ?? .zero))
            } operation: {
                shadow.begin(exchange, for: request, credential, of: session, isForeign ? redaction : nil)
                try await exchange.complete()
            }
        } catch let error as BodyTooLong {
            throw RequestError(
                .responseTooLarge, stage: .executing,
                reason: "the body is longer than responseLimit, \(error.limit.shownAsBytes)",
                response: answer(to: request, from: exchange)?.response)
        }
        guard let answer = answer(to: request, from: exchange) else {
            throw RequestError(
                .invalidResponse, stage: .executing, reason: "the response is not HTTP", request: request)
        }
        return answer
    }

    /// Whether the session's configuration has credentials of its own.
    var addsAuthorization: Bool {
        (session.configuration.httpAdditionalHeaders ?? [:]).keys.contains {
            ($0 as? String)?.lowercased() == "authorization"
        }
    }

    private func answer(to request: URLRequest, from exchange: Exchange) -> Answer? {
        let (task, head, body) = exchange.response
        // HTTPTypes traps on a status of more than three digits, which a custom URLProtocol may well hand over.
        guard let task, let head = head as? HTTPURLResponse, 0...999 ~= head.statusCode else { return nil }
        shadow.received(head, to: request)
        let response = DataResponse(
            request: request, url: head.url, status: .init(integerLiteral: head.statusCode),
            headerFields: HTTPFields(head), data: body)
        return Answer(response: response, task: task, head: head, challenge: exchange.challenge)
    }

    /// What the caller's delegate decides, on its session's queue, within the time that the request or its session has.
    func asked<Value: Sendable>(
        for request: URLRequest, _ ask: @escaping @Sendable (_ decide: @escaping @Sendable (Value) -> Void) -> Void
    ) async throws -> Value {
        let decision = OneShot<Value>()
        session.delegateQueue.addOperation { ask { decision.resolve(.success($0)) } }
        // Nothing moves while it decides.
        let silence = Duration(timeoutInterval: session.configuration.timeoutIntervalForRequest)
        let limit = shadow.timeLimit(of: request) ?? silence
        return try await withTimeLimit(limit?.clamped, clock) {
            decision.resolve(.failure(URLError(timedOut: request.url, after: limit ?? .zero)))
        } operation: {
            try await decision.value()
        }
    }
}

/// The server closed a connection that was kept from an earlier request, before it responded to this one.
///
/// It may have processed the request.
struct LostConnection: Error {
    let task: URLSessionTask

    func error(for request: URLRequest) -> URLError {
        var information = request.url.map { [NSURLErrorFailingURLErrorKey: $0 as Any] } ?? [:]
        information[NSLocalizedDescriptionKey] =
            "The network connection was lost before a response came. The server may have processed the request."
        return URLError(.networkConnectionLost, userInfo: information)
    }
}

extension URLError {
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
    var ownTimeLimit: Duration? {
        timeoutInterval == 60 ? nil : Duration(timeoutInterval: timeoutInterval)
    }

    /// The length of the body in bytes; -1 for a stream of unknown length, `nil` for no body.
    var bodyLength: Int64? {
        if let body = httpBody { return body.isEmpty ? nil : Int64(body.count) }
        guard httpBodyStream != nil else { return nil }
        return value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) } ?? NSURLSessionTransferSizeUnknown
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
