/// Reads the body of a stream once, piece by piece, within the limits of its call.
final class BodyReader: Sendable {
    private struct State {
        /// The pieces that are left; `nil` if the body is over.
        var pieces: ResponseBody.AsyncIterator?
        var isReading = false
        var isRead = false
        /// The deadline that ended the body.
        var expired: Duration?
        /// Ends a body that is not read when the deadline passes.
        var alarm: Alarm?
        var count: Int64 = 0
    }

    private let call: Call
    private var response: DataResponse { head.response }
    /// The response without its body.
    let head: Received
    /// Whether the body was complete from the start, such as that of a fallback.
    private let isWhole: Bool
    private let state: Locked<State>

    init(_ received: Received, of call: Call) {
        self.call = call
        head = Received(received.response)
        isWhole = !received.isStream
        call.progress?.expect(received.response.bodyLength)
        let body = received.body ?? ResponseBody(received.response.data)
        state = Locked(State(pieces: body.makeAsyncIterator()))
        guard !isWhole, !call.reconnects, let deadline = call.config.deadline else { return }
        let rest = deadline.clamped - call.elapsed()
        state.set(\.alarm, Alarm(after: rest, call.config.clock) { [weak self] in self?.expire(deadline) })
    }

    /// Begins to read.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidResponse`` if the body has been read.
    func begin() throws {
        let isRead = state.withLock { state in
            defer { state.isRead = true }
            return state.isRead
        }
        if isRead { throw error("the body can be read once, and this is the second time") }
    }

    /// The next piece, which is never empty; `nil` at the end of the body.
    func next() async throws -> Data? {
        let isReading = state.withLock { state in
            defer { state.isReading = true }
            return state.isReading
        }
        guard !isReading else { throw error("another task is reading the body") }
        defer { state.withLock { $0.isReading = false } }
        let (rest, expired) = state.withLock { ($0.pieces, $0.expired) }
        guard let pieces = rest else {
            try Task.checkCancellation()
            state.set(\.expired, nil)
            if let expired { throw call.failure(call.expired(expired, response.request), of: response.request) }
            return nil
        }
        do {
            while true {
                try Task.checkCancellation()
                guard let piece = try await next(of: pieces) else {
                    try Task.checkCancellation()
                    try await end()
                    return nil
                }
                if piece.isEmpty { continue }
                try count(piece)
                return piece
            }
        } catch {
            cancel()
            throw call.failure(error, of: response.request)
        }
    }

    private func next(of pieces: ResponseBody.AsyncIterator) async throws -> Data? {
        guard !call.reconnects, !isWhole else { return try await pieces.next() }
        return try await call.inTime(response.request) { try await pieces.next() }
    }

    /// Ends the transfer if it is still running.
    func cancel() {
        state.set(\.pieces, nil)
        state.set(\.alarm, nil)
    }

    private func expire(_ deadline: Duration) {
        state.withLock { if $0.pieces != nil { $0.expired = deadline } }
        state.set(\.pieces, nil)
    }

    private func count(_ piece: Data) throws {
        call.progress?.received(piece.count)
        let count = state.withLock { state in
            state.count += Int64(piece.count)
            return state.count
        }
        guard !isWhole, let limit = call.config.responseLimit, count > limit else { return }
        let reason = "the body is longer than responseLimit, \(limit.shownAsBytes)"
        throw RequestError(.responseTooLarge, reason: reason, response: response)
    }

    private func end() async throws {
        cancel()
        call.log.ended(response, bytes: state.withLock { $0.count }, after: call.elapsed())
        guard let progress = call.progress, !call.reconnects else { return }
        try await call.inTime(response.request) { try await progress.finish() }
    }

    private func error(_ reason: String) -> RequestError {
        RequestError(.invalidResponse, reason: reason, response: response)
    }
}

extension DataResponse {
    /// The length of the body in bytes; `nil` if it is unknown or there is none (RFC 9110 §6.4.1).
    fileprivate var bodyLength: Int64? {
        let hasBody = request.httpMethod != "HEAD" && ![.noContent, .notModified].contains(status)
        return hasBody ? headerFields.decodedLength : nil
    }
}
