extension URLSession {
    /// Sends a request and returns the whole answer, whatever its status.
    ///
    /// ```swift
    /// let response = try await URLSession.shared.response(for: request) { $0.authorize = false }
    /// guard response.status == .ok else { … }
    /// ```
    ///
    /// In this order:
    /// 1. The ``Config/authenticator`` authorizes the request, if ``Config/authorize`` says so.
    /// 2. The request is logged and sent.
    /// 3. If ``Config/isUnauthorized`` says that the credentials were refused, the authenticator is asked for new ones, and
    ///    the request goes back to step 1, once. Without new ones ``Config/onUnauthorized`` is called and
    ///    ``RequestError/Code/unauthorized`` thrown.
    /// 4. The ``Config/validators`` look at the answer, one after the other.
    /// 5. The answer is logged and returned.
    ///
    /// If any step fails, the failure is logged and ``Config/fallback``, if there is one, may answer instead.
    ///
    /// - Parameters:
    ///   - request: The request, made with `URLRequest.with` or by hand.
    ///   - config: The preset; at first ``Config/default``.
    ///   - isolation: The actor that the call is made from.
    ///   - fileID: The file that the log names.
    ///   - line: The line that the log names.
    ///   - configurate: Makes changes for this call.
    /// - Throws: ``RequestError`` if the request cannot be sent, the credentials are refused or the answer is no HTTP response;
    ///   `URLError` if the transport fails; `CancellationError` if the task was cancelled, whatever else went wrong with it;
    ///   and as it is, what an authenticator, a validator or a fallback throws. A status such as 404 or 500 is no error.
    @discardableResult
    public func response(
        for request: URLRequest,
        config: Config = .default,
        isolation: isolated (any Actor)? = #isolation,
        fileID: String = #fileID,
        line: UInt = #line,
        _ configurate: (inout Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        var config = config
        configurate(&config)
        return try await Call(session: self, config: config, fileID: fileID, line: line).response(for: request)
    }
}

/// One call of `response(for:)`: the send loop.
private struct Call {
    /// An authenticator at work.
    ///
    /// A task that it starts and leaves behind keeps the mark, but then the work is over.
    private struct Work: Sendable {
        let authenticator: ObjectIdentifier
        let isOver = LockBox(false)
    }

    /// What this task is part of.
    @TaskLocal private static var work: [Work] = []

    var config: URLSession.Config
    let wire: Wire
    let log: RequestLog
    let start = ContinuousClock.now

    init(session: URLSession, config: URLSession.Config, fileID: String, line: UInt) {
        self.config = config
        wire = Wire(session: session, delegate: config.taskDelegate)
        log = RequestLog(
            logger: config.logger, redaction: config.redaction, bodyLimit: config.logBody, fileID: fileID, line: line)
        if let identity = config.authenticator?.identity,
            Self.work.contains(where: { $0.authenticator == identity && !$0.isOver.withLock { $0 } })
        {
            self.config.authorize = false
        }
    }

    /// Asks an authenticator: a call that it makes itself, with a configuration that names it, must not ask it again.
    private func within<Result: Sendable>(
        _ authenticator: any Authenticator, _ ask: () async throws -> Result
    ) async throws -> Result {
        guard let identity = authenticator.identity else { return try await ask() }
        let work = Work(authenticator: identity)
        defer { work.isOver.set(\.self, true) }
        return try await Self.$work.withValue(Self.work + [work], operation: ask)
    }

    func response(for request: URLRequest) async throws -> DataResponse {
        do {
            try Task.checkCancellation()
            try request.checkSendable()
            return try await validated(authorizedResponse(for: request))
        } catch {
            let error = final(error)
            log.failed(request, error, after: start.duration(to: .now))
            guard let fallback = config.fallback, error.isAnswerable else { throw error }
            do {
                return try await fallback(error, request)
            } catch {
                throw final(error)
            }
        }
    }

    private func authorizedResponse(for original: URLRequest) async throws -> DataResponse {
        var isReplay = false
        while true {
            let response = try await sent(original)
            guard config.throwsUnauthorized, config.isUnauthorized(response) else { return response }
            // A stream has been read by now: sent once more it would be empty.
            if !isReplay, original.httpBodyStream == nil, let authenticator = config.authenticator,
                try await within(authenticator, { try await authenticator.reauthorize(after: response) })
            {
                isReplay = true
                try Task.checkCancellation()
                continue
            }
            try Task.checkCancellation()
            await config.onUnauthorized?(response)
            throw RequestError(
                .unauthorized, stage: .executing,
                reason: "the server refused the credentials" + (isReplay ? ", and the new ones too" : ""),
                response: response)
        }
    }

    private func sent(_ original: URLRequest) async throws -> DataResponse {
        var request = original
        if let authenticator = config.authenticator, config.authorize {
            request = try await within(authenticator) {
                var request = original
                try await authenticator.authorize(&request)
                return request
            }
            try Task.checkCancellation()
            try request.checkSendable()
        }
        log.sent(request)
        let (data, response) = try await wire.send(request)
        var answer = DataResponse(
            request: request, url: response.url, status: .init(integerLiteral: response.statusCode),
            headerFields: HTTPFields(response), data: data, duration: start.duration(to: .now))
        answer.redaction = config.redaction
        return answer
    }

    private func validated(_ answer: DataResponse) async throws -> DataResponse {
        var response = answer
        for validator in config.validators {
            try await validator.validate(&response)
            try Task.checkCancellation()
        }
        log.received(response)
        return response
    }

    /// The error that the caller gets: a cancelled task always ends in `CancellationError`, and what this call hides is hidden
    /// in errors too.
    private func final(_ error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        switch error {
        case var error as RequestError:
            error.redaction = error.redaction ?? config.redaction
            return error
        case let error as URLError:
            return error.redacted(config.redaction)
        default:
            return error
        }
    }
}

extension Error {
    /// Whether a fallback may answer instead: not for the end of a task, nor for a request that is wrong in itself.
    fileprivate var isAnswerable: Bool {
        !Task.isCancelled && (self as? RequestError)?.stage != .building
    }
}

extension Authenticator {
    /// Which object it is; `nil` for a value, which is none.
    fileprivate var identity: ObjectIdentifier? {
        type(of: self) is AnyClass ? ObjectIdentifier(self as AnyObject) : nil
    }
}
