extension Exchange {
    /// Asks a delegate on its session's queue, within the time limit of the request or the session.
    func asked<Value: Sendable>(
        for request: URLRequest, _ ask: @escaping @Sendable (_ decide: @escaping @Sendable (Value) -> Void) -> Void
    ) async throws -> Value {
        let decision = OneShot<Value>()
        let session = self.request.session
        session.delegateQueue.addOperation { ask { decision.resolve(.success($0)) } }
        let silence = Duration(timeoutInterval: session.configuration.timeoutIntervalForRequest)
        let limit = request.timeLimit(within: shadow.resourceLimit) ?? silence
        return try await withTimeLimit(limit?.clamped, self.request.call.config.clock) {
            decision.resolve(.failure(URLError(timedOut: request.url, after: limit ?? .zero)))
        } operation: {
            try await decision.value()
        }
    }
}

extension Exchange {
    /// Opens the body again; only the caller's delegate can give a new stream for the caller's own.
    ///
    /// Apple platforms call this after a challenge or a lost connection. On Linux the send loop decides.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let body = request.replacement else { return newBodyStream(completionHandler) }
        do {
            let (stream, length) = try body.opened()
            guard length == request.urlRequest.declaredLength else {
                throw RequestError(.invalidRequest, reason: "body: its length has changed since it was sent")
            }
            completionHandler(stream)
        } catch {
            finish(throwing: error)
            completionHandler(nil)
        }
    }
}

extension Exchange? {
    /// The next request after a redirect, as the caller's delegate decides; `nil` if it must not be followed.
    func redirection(to next: URLRequest) async throws -> URLRequest? {
        guard let self, let head = self.head,
            self.request.call.config.taskDelegate != nil || self.request.session.delegate != nil
        else { return next }
        return try await self.asked(for: next) { self.redirected(by: head, to: next, decide: $0) }
    }

    /// The request to send again; `nil` if the caller's delegate has no new stream for its body stream.
    func repeatable(_ request: URLRequest) async throws -> URLRequest? {
        guard request.httpBodyStream != nil else { return request }
        return try await self?.asked(for: request) { [self] decide in
            self?.newBodyStream { stream in
                var again = request
                again.httpBodyStream = stream
                decide(stream.map { _ in again })
            }
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
}

extension URLSession {
    /// Whether the session's configuration adds an `Authorization`.
    var addsAuthorization: Bool {
        (configuration.httpAdditionalHeaders ?? [:]).keys.contains {
            ($0 as? String)?.lowercased() == "authorization"
        }
    }
}
