/// The one seam between the send loop and the network: a request goes in, a whole answer comes out.
///
/// On Apple platforms an exchange is a task of the caller's session, and that task's delegate; on Linux, a task of that session's
/// ``Engine``.
struct Wire: Sendable {
    let session: URLSession
    /// The caller's own delegate of the task.
    let taskDelegate: (any URLSessionTaskDelegate)?
    /// The most bytes of a body.
    let limit: Int?
    let clock: any Clock<Duration>

    /// A whole answer, and the task that brought it.
    struct Answer: Sendable {
        var response: DataResponse
        let task: URLSessionTask
        let head: HTTPURLResponse
    }

    /// One sending, redirects not followed.
    ///
    /// - Throws: `URLError` for transport failures and for time that is up, `CancellationError` once the task is cancelled,
    ///   ``RequestError`` for an answer that is too long or no HTTP response.
    func send(_ request: URLRequest) async throws -> Answer {
        var credential: URLCredential?
        var refusals = 0
        while true {
            let exchange = Exchange(sink: MemorySink(limit: limit), caller: caller, body: request.httpBody)
            let task = task(for: request, credential, exchange)
            // Before the time limit, which may be over at once.
            exchange.take(task)
            let answer = try await run(task, exchange, for: request)
            credential = try await self.credential(for: exchange, after: refusals)
            guard credential != nil, request.httpBodyStream == nil else { return answer }
            refusals += 1
        }
    }

    private func run(_ task: URLSessionTask, _ exchange: Exchange, for request: URLRequest) async throws -> Answer {
        do {
            let limit = timeLimit(of: request)
            try await withTimeLimit(limit, clock) {
                exchange.finish(throwing: URLError(timedOut: request, after: limit ?? .zero))
            } operation: {
                try await exchange.run()
            }
        } catch let error as BodyTooLong {
            throw RequestError(
                .responseTooLarge, stage: .executing,
                reason: "the body is longer than responseLimit, \(error.limit.shownAsBytes)",
                response: answer(to: request, from: exchange, task)?.response)
        }
        guard let answer = answer(to: request, from: exchange, task) else {
            throw RequestError(
                .invalidResponse, stage: .executing, reason: "the answer is no HTTP response", request: request)
        }
        return answer
    }

    private func answer(to request: URLRequest, from exchange: Exchange, _ task: URLSessionTask) -> Answer? {
        let (head, body) = exchange.answer
        // HTTPTypes traps on a status of more than three digits, which a custom URLProtocol may well hand over.
        guard let head = head as? HTTPURLResponse, 0...999 ~= head.statusCode else { return nil }
        received(head, to: request)
        let response = DataResponse(
            request: request, url: head.url, status: .init(integerLiteral: head.statusCode),
            headerFields: HTTPFields(head), data: body)
        return Answer(response: response, task: task, head: head)
    }
}

extension URLError {
    /// As Foundation has it, with the time.
    fileprivate init(timedOut request: URLRequest, after limit: Duration) {
        var information = request.url.map { [NSURLErrorFailingURLErrorKey: $0 as Any] } ?? [:]
        information[NSLocalizedDescriptionKey] = "The request timed out: no whole answer came within \(limit.shown)."
        self.init(.timedOut, userInfo: information)
    }
}

extension HTTPFields {
    /// The fields of a response.
    ///
    /// A name that is none, and what exceeds the number of fields that this type can hold, is left out rather than
    /// trapped on.
    init(_ response: HTTPURLResponse) {
        self.init()
        for case let (name as String, value as String) in response.allHeaderFields.prefix(1 << 15) {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
