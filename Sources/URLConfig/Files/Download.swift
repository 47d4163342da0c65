/// One call of `download(for:to:)`: the requests for a file, one after the other.
struct Download: Sendable {
    /// The bytes that attempts must add to the file before they no longer count for the ``RetryPolicy``.
    private static let progress: Int64 = 1 << 16

    private struct Opened: Sendable {
        var received: Received
        let decision: Resumption.Decision
        let requester: Requester
        let attempts: Int
    }

    let call: Call
    let request: URLRequest
    let target: URL
    let overwrites: Bool

    /// Downloads the file, and logs an error.
    func response() async throws -> FileResponse {
        do {
            try call.check(request)
            try Resumption.check(request)
            let part = try await PartWriter.opened(target, overwrites: overwrites, for: request)
            let result = await Result { try await response(in: part) }
            await part.close()
            return try result.get()
        } catch {
            var error = call.final(error)
            if var known = error as? RequestError, known.request == nil {
                known.request = request
                error = known
            }
            call.log.failed(request, error, after: call.elapsed())
            throw error
        }
    }

    private func response(in part: PartWriter) async throws -> FileResponse {
        let first = call.firstStep(for: request)
        var mark: Int64?
        var startsOver = false
        var attempts = first.attempts
        while true {
            // Each request begins at the first URL, because the target of a redirect may be valid for a short time.
            var step = first
            step.attempts = attempts
            let resumption = startsOver ? Resumption() : try await part.run { $0.resumption }
            resumption.prepare(&step.request)
            let opened = try await send(step, resumption, part)
            try call.deadline.check()
            (attempts, step.attempts) = (opened.attempts, opened.attempts)
            let head = opened.received.response
            switch opened.decision {
            case .again(let reason):
                call.note(step.request, "again from the start: \(reason)")
                // The part is kept for a later run, in case the next request fails.
                startsOver = true
                continue
            case .refuse(let reason):
                throw RequestError(.unacceptableStatus, reason: reason, response: head)
            case .encoded(let coding):
                let reason = "'\(target.lastPathComponent.onOneLine)' is encoded ('\(coding)'), which was not requested"
                throw URLError(.cannotDecodeContentData, reason + "; use stream(for:), which decodes it")
            case .restart(let validator, let total):
                try checkLimit(total, head)
                try await part.run { try $0.restart(validator, total: total, for: opened.requester) }
                startsOver = false
                expect(total, after: 0)
            case .append(let total):
                try checkLimit(total, head)
                try await part.run { try $0.resume(at: resumption.start, total: total, for: opened.requester) }
                expect(total, after: resumption.start)
            }
            // The bytes of an earlier run count only if they are continued.
            if mark == nil { mark = try await part.run { $0.count } }
            do {
                try await receive(opened.received, in: part)
                return try await finish(head, in: part)
            } catch {
                if try await part.takeChange() {
                    call.note(step.request, "again from the start: another program has changed the part")
                    (mark, startsOver) = (nil, true)
                    continue
                }
                // A line that breaks off again and again must not end a long download, but a server that sends a few
                // bytes at a time must not be asked forever. Bytes that arrive once more are no progress.
                let count = try await part.run { $0.count }
                if count >= (mark ?? 0) + Self.progress { (mark, step.attempts) = (count, 1) }
                let next = step.retry(
                    after: .failure(error), of: head.request, call.config, remaining: call.deadline.remaining)
                guard try await call.prepares(next, of: step.request, after: .failure(error)) else { throw error }
                attempts = next.attempts
            }
        }
    }

    /// Sends a request, and decides what is done with the response before the validators may change it.
    private func send(_ step: Step, _ resumption: Resumption, _ part: PartWriter) async throws -> Opened {
        // Before the response, which may change the cookies.
        var sent = Transport.Request(
            step.request, call.session, call.conditions
        ).complete(call.session.configuration, usesSharedCookies: call.transport.isURLSession)
        let (received, last) = try await call.lastResponse(of: step)
        let head = received.response
        sent.url = last.firstSent?.url
        for (name, value) in last.firstSent?.allHTTPHeaderFields ?? [:] {
            sent.setValue(value, forHTTPHeaderField: name)
        }
        let requester = Requester(sent, call.config.redaction)
        var decision = resumption.decision(head.status, head.headerFields, of: head.url)
        if resumption.start > 0, try await !part.run({ $0.belongs(to: requester) }) {
            // What is known about the part, such as its length, is not known about the file of another user.
            switch decision {
            case .append: decision = .again("the part was requested with other credentials")
            case .restart: decision = Resumption().decision(head.status, head.headerFields, of: head.url)
            case .again, .refuse, .encoded: break
            }
        }
        var opened = Opened(
            received: received, decision: decision, requester: requester, attempts: last.attempts)
        switch decision {
        // The next response is the one that counts.
        case .again: break
        case .refuse where head.isSuccess:
            opened.received = try await call.validated(received.withContent(call.config.clock))
        default: opened.received = try await call.validated(received)
        }
        return opened
    }

    private func receive(_ received: Received, in part: PartWriter) async throws {
        let head = received.response
        let body = received.body ?? ResponseBody(head.data)
        let start = call.elapsed()
        let offset = try await part.run { $0.count }
        do {
            var count = offset
            for try await piece in body {
                try Task.checkCancellation()
                count += Int64(piece.count)
                call.progress?.received(piece.count)
                try checkLimit(count, head)
                try await part.append(piece)
            }
            // A body may also end because the task is cancelled.
            try Task.checkCancellation()
            call.endBody(after: call.elapsed() - start)
        } catch {
            var error = error.hiding(call.config.redaction)
            if var known = error as? RequestError, known.code == .responseTooLarge, known.response == nil {
                known.response = head
                error = known
            }
            call.endBody(after: call.elapsed() - start, error)
            throw error
        }
    }

    private func finish(_ head: DataResponse, in part: PartWriter) async throws -> FileResponse {
        if let progress = call.progress { try await call.deadline.run { try await progress.finish() } }
        try call.deadline.check()
        let byteCount = try await part.run { try $0.finish() }
        let duration = call.elapsed()
        call.log.ended(head, bytes: byteCount, after: duration)
        return FileResponse(
            head, file: target, byteCount: byteCount, duration: duration, attempts: call.attempts)
    }

    private func expect(_ total: Int64?, after count: Int64) {
        call.progress?.begin(after: count)
        call.progress?.expect(total)
    }

    private func checkLimit(_ count: Int64?, _ head: DataResponse) throws {
        guard let limit = call.config.responseLimit, let count, count > limit else { return }
        let reason = "the file is longer than responseLimit, \(limit.shownAsBytes)"
        throw RequestError(.responseTooLarge, reason: reason, response: head)
    }
}

/// The part of a download on a queue of its own, because its functions block until the disk has done its work.
///
/// Bytes are written while the next ones arrive. Nobody waits for the disk before there is a megabyte to write, so that
/// a fast download does not change threads for each piece.
final class PartWriter: Sendable {
    private struct State {
        /// The number of bytes that were not written yet.
        var waiting = 0
        /// The first error, which is the end: what follows a missing piece must not be written.
        var failure: (any Error)?
    }

    /// The number of bytes that may wait to be written.
    private static let mostWaiting = 1 << 20

    private let part: PartialFile
    private let queue: DispatchQueue
    private let state = Locked(State())

    /// Opens the part of a target.
    ///
    /// - Throws: The errors of ``DownloadTarget`` and ``PartialFile``.
    static func opened(_ url: URL, overwrites: Bool, for request: URLRequest) async throws -> PartWriter {
        let queue = DispatchQueue(label: "URLConfig.download", qos: .userInitiated)
        return try await run(on: queue) {
            PartWriter(try PartialFile(for: DownloadTarget(url, overwrites: overwrites), of: request), queue)
        }
    }

    init(_ part: PartialFile, _ queue: DispatchQueue) {
        self.part = part
        self.queue = queue
    }

    /// Does something with the part when all pieces are written.
    ///
    /// It does not end early if the task is cancelled, so that nothing is done to the part afterwards.
    ///
    /// - Throws: The errors of the function, and those of ``append(_:)``.
    func run<Value: Sendable>(_ work: @escaping @Sendable (PartialFile) throws -> Value) async throws -> Value {
        try await Self.run(on: queue) {
            if let failure = self.state.withLock({ $0.failure }) { throw failure }
            return try work(self.part)
        }
    }

    private static func run<Value: Sendable>(
        on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Writes bytes soon, after those before.
    ///
    /// - Throws: The error of an earlier piece.
    func append(_ piece: Data) async throws {
        let isFull = try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.waiting += piece.count
            return state.waiting > Self.mostWaiting
        }
        queue.async { self.write(piece) }
        if isFull { try await run { _ in } }
    }

    private func write(_ piece: Data) {
        let hasFailed = state.withLock { state in
            state.waiting -= piece.count
            return state.failure != nil
        }
        if hasFailed { return }
        do {
            try part.append(piece)
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    /// Whether another program has changed the part; then the part is empty, and can be written to again.
    func takeChange() async throws -> Bool {
        try await Self.run(on: queue) {
            guard self.part.takeChange() else { return false }
            self.state.set(\.failure, nil)
            return true
        }
    }

    /// Writes what has arrived, and closes the part; see ``PartialFile/close()``.
    ///
    /// Afterwards, another download may open it.
    func close() async {
        try? await Self.run(on: queue) {
            self.state.withLock { $0.failure = $0.failure ?? CancellationError() }
            self.part.close()
        }
    }
}
