/// One call of `download(for:to:)`: the requests for a file, one after the other.
///
/// It is a class, so that its values are not copied around each `await`. The part is used on a queue of its own,
/// because its functions block until the disk has done its work. Meanwhile more bytes arrive, and are written together.
/// So a fast download does not change threads often.
final class Download {
    /// After attempts have added this many bytes to the file, the ``RetryPolicy`` counts from the start again.
    private static let progress: Int64 = 1 << 16

    private let call: Call
    private let request: URLRequest
    private let target: URL
    private let overwrites: Bool
    private let queue = DispatchQueue(label: "URLConfig.download", qos: .ofFiles)
    /// The attempts until now.
    ///
    /// Each request begins at the first URL, because the URL of a redirect may soon be invalid.
    private var first: Shared<Step>
    /// Where the progress of the attempts is counted from; `nil` until bytes are expected.
    private var mark: Int64?
    /// Whether the file is requested from its start, although there is a part.
    private var startsOver = false
    /// Where the body of the response begins in the file, in bytes.
    private var offset: Int64 = 0

    init(call: Call, request: URLRequest, target: URL, overwrites: Bool) {
        (self.call, self.request, self.target, self.overwrites) = (call, request, target, overwrites)
        first = Shared(wrappedValue: Step(request))
    }

    /// Downloads the file, and logs an error.
    func response() async throws -> FileResponse {
        let outcome = await Result { try await file() }
        call.history.add(.ended(outcome.map(\.head.status)), request)
        return try outcome.get()
    }

    private func file() async throws -> FileResponse {
        do {
            try call.check(request)
            try Resumption.check(request)
            first = call.firstStep(for: request)
            let part = Part(try await opened(), on: queue)
            let result = await Result { try await receive(in: part) }
            // Afterwards, another download may use it.
            try await part.run { $0.close() }
            return try result.get()
        } catch {
            throw call.failure(error, of: request)
        }
    }

    private func opened() async throws -> PartialFile {
        try await queue.run { [request, target, overwrites] in
            let target = try DownloadTarget(target, overwrites: overwrites)
            return try File.attempt(.cannotCreateFile, "the part of '\(target.name)' cannot be created") {
                try PartialFile(for: target, of: request)
            }
        }
    }

    private func receive(in part: Part) async throws -> FileResponse {
        while true {
            guard let received = try await send(part) else { continue }
            do {
                try await read(received, into: part)
                return try await finish(received.response, part)
            } catch {
                try await recover(from: error, received.response, part)
            }
        }
    }

    /// Sends a request, and prepares the part for the body of its response; `nil` if another request must follow.
    private func send(_ part: Part) async throws -> Received? {
        var resumption = try await part.run { $0.resumption }
        if startsOver { resumption = resumption.fromStart }
        var step = first
        resumption.prepare(&step.request)
        // Before the response, which may change the cookies.
        let complete = call.complete(.init(step.request, call.session, call.conditions))
        let (received, last) = try await call.lastResponse(of: step)
        try call.deadline.check()
        (first.attempts, first.firstSent) = (last.attempts, last.firstSent)
        let requester = requester(complete, last.firstSent)
        let isOwn = try await part.run { $0.belongs(to: requester) }
        // This is decided before the validators may change the response.
        let decision = decision(resumption, received.response, isOwn: isOwn)
        if case .again(let reason) = decision {
            // The part is kept for a later run, in case the next request fails.
            startOver(step.request, reason)
            return nil
        }
        let validated = try await validated(received, decision)
        guard case .use(let offset, let validator, let total) = decision else { return nil }
        try checkLimit(total, validated.response)
        try await part.run { try $0.begin(at: offset, validator, total: total, for: requester) }
        (self.offset, startsOver) = (offset, false)
        call.progress?.expect(total, after: offset)
        // The bytes of an earlier run count only if they are continued.
        if mark == nil { mark = offset }
        return validated
    }

    /// - Parameters:
    ///   - complete: The request with what the session adds.
    ///   - sent: The request with what the authenticator has added.
    private func requester(_ complete: URLRequest, _ sent: URLRequest?) -> Requester {
        var complete = complete
        complete.url = sent?.url
        for (name, value) in sent?.allHTTPHeaderFields ?? [:] { complete.setValue(value, forHTTPHeaderField: name) }
        return Requester(complete, call.redaction)
    }

    private func decision(_ resumption: Resumption, _ head: DataResponse, isOwn: Bool) -> Resumption.Decision {
        let decision = resumption.decision(head.status, head.headerFields, of: head.url)
        switch decision {
        // The length of the part, for example, says nothing about another user's file.
        case .use(from: 1..., _, _) where !isOwn: return .again("the part was requested with other credentials")
        case .use where !isOwn: return Resumption().decision(head.status, head.headerFields, of: head.url)
        default: return decision
        }
    }

    private func startOver(_ request: URLRequest, _ reason: String) {
        call.decide(.startedOver, request, "again from the start: \(reason)")
        startsOver = true
    }

    /// - Throws: The errors of the validators, and ``RequestError`` or `URLError` if the response is not a file.
    private func validated(_ received: Received, _ decision: Resumption.Decision) async throws -> Received {
        let isSuccess = received.response.isSuccess
        var received = received
        if case .refuse = decision, isSuccess { received = try await received.withContent(call.config.clock) }
        received = try await call.validated(received)
        switch decision {
        case .refuse(let reason):
            throw isSuccess
                ? RequestError(.unacceptableStatus, reason: reason, response: received.response)
                : RequestError(unacceptable: received.response)
        case .encoded(let coding):
            let reason = "'\(target.lastPathComponent.onOneLine)' is encoded ('\(coding)'), which was not requested"
            throw URLError(.cannotDecodeContentData, reason + "; use stream(for:), which decodes it")
        case .use, .again: return received
        }
    }

    private func read(_ received: Received, into part: Part) async throws {
        let head = received.response
        do {
            var count = offset
            for try await piece in received.body ?? ResponseBody(head.data) {
                try Task.checkCancellation()
                if count == offset { call.history.addFirstByte(head.request) }
                count += Int64(piece.count)
                call.progress?.received(piece.count)
                try checkLimit(count, head)
                try await part.run { try $0.append(piece) }
            }
            // A body may also end because the task is cancelled.
            try Task.checkCancellation()
            call.history.add(.body(count: count - offset), head.request)
        } catch {
            let error = error.with(head).hiding(call.redaction)
            call.history.add(.bodyFailed(error), head.request)
            throw error
        }
    }

    private func finish(_ head: DataResponse, _ part: Part) async throws -> FileResponse {
        if let progress = call.progress { try await call.deadline.run { try await progress.finish() } }
        try call.deadline.check()
        let byteCount = try await part.run { try $0.finish() }
        var head = head
        (head.duration, head.attempts) = (call.elapsed(), call.attempts)
        call.history.log.ended(head, bytes: byteCount, after: head.duration)
        return FileResponse(head: head, file: target, byteCount: byteCount)
    }

    /// Prepares another request after a failure.
    ///
    /// - Throws: The error if there is no other request.
    private func recover(from error: any Error, _ head: DataResponse, _ part: Part) async throws {
        if error is PartialFile.Changed {
            mark = nil
            return startOver(first.request, "another program has changed the part")
        }
        guard try await part.run({ $0.isOpen }) else { throw error }
        // Progress resets the count of attempts, so an unreliable connection cannot end a long download. A few bytes
        // are no progress, because a server could send them forever; neither are bytes that arrive again.
        let count = try await part.run { $0.count }
        if count >= (mark ?? 0) + Self.progress { (mark, first.attempts) = (count, 1) }
        let next = Shared(
            wrappedValue: first.wrappedValue.retry(
                after: .failure(error), of: head.request, call.config, remaining: call.deadline.remaining))
        guard try await call.prepares(next, of: first.request, after: .failure(error)) else { throw error }
        first.attempts = next.attempts
    }

    private func checkLimit(_ count: Int64?, _ head: DataResponse) throws {
        guard let limit = call.config.responseLimit, let count, count > limit else { return }
        let reason = "the file is longer than responseLimit, \(limit.shownAsBytes)"
        throw RequestError(.responseTooLarge, reason: reason, response: head)
    }

    /// A part, and the queue on which it is used.
    private struct Part {
        private let part: Locked<PartialFile>
        private let queue: DispatchQueue

        init(_ part: PartialFile, on queue: DispatchQueue) { (self.part, self.queue) = (Locked(part), queue) }

        /// Does something with the part.
        ///
        /// It does not end early if the task is cancelled, so that nothing is done to the part afterwards.
        ///
        /// - Throws: The errors of the function; `URLError` with code `.cannotWriteToFile` for reasons of the system.
        func run<Value: Sendable>(
            _ work: @escaping @Sendable (inout PartialFile) throws -> Value
        ) async throws -> Value {
            try await queue.run { [part] in
                try part.withLock { part in
                    let name = part.target.name
                    return try File.attempt(.cannotWriteToFile, "'\(name)' cannot be written") { try work(&part) }
                }
            }
        }
    }
}
