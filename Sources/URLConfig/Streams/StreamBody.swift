/// The body of a stream, as its call passes it on: with the call's progress, log and errors.
struct StreamBody: Sendable {
    /// The response without its body.
    let head: DataResponse
    private let body: ResponseBody
    private let call: Call
    private let isOfFallback: Bool
    /// The times of the call until now; `nil` for a fallback, which has its own.
    var times: (duration: Duration, attempts: [Attempt])? { isOfFallback ? nil : (call.elapsed(), call.attempts) }

    init(_ received: Received, of call: Call) {
        var head = received.response
        if let body = received.body {
            self.body = body
        } else {
            // Of a fallback, which is a whole response.
            body = ResponseBody(head.data).forOneCall
            body.received.limit(to: call.conditions.responseLimit)
            if head.isSuccess { head.data = Data() }
        }
        (self.head, self.call, isOfFallback) = (head, call, received.body == nil)
        // There is none after these (RFC 9110 §6.4.1).
        let hasBody = head.request.httpMethod != "HEAD" && ![.noContent, .notModified].contains(head.status)
        call.progress?.expect(hasBody ? head.headerFields.decodedLength : nil)
    }

    /// Begins to read.
    ///
    /// - Parameter type: The media type that `Content-Type` must name, if there is one.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidResponse`` if the body has been read, and with
    ///   code ``RequestError/Code/unacceptableContentType``.
    func read(as type: MediaType? = nil) throws -> Reader {
        let reader: ReceivedBody.Reader
        do {
            reader = try body.read()
        } catch {
            throw error.with(head, head.attempts)
        }
        // If it throws, the transfer ends with the reader.
        if let type, head.headerFields[.contentType] != nil { try head.validated(contentType: type) }
        return Reader(reader: reader, call: call, head: head)
    }

    /// Reads the pieces; the transfer ends when it is released.
    struct Reader: Sendable {
        fileprivate let reader: ReceivedBody.Reader
        fileprivate let call: Call
        fileprivate let head: DataResponse
        fileprivate var count: Int64 = 0

        /// The next piece, which is never empty; `nil` at the end.
        ///
        /// It is not called again after the end or an error.
        nonisolated(nonsending) mutating func next() async throws -> Data? {
            do {
                if let piece = try await reader.next() {
                    if count == 0 { call.history.addFirstByte(head.request) }
                    count += Int64(piece.count)
                    call.progress?.received(piece.count)
                    return piece
                }
                try Task.checkCancellation()
                call.history.add(.body(count: count), head.request)
                call.history.log.ended(head, bytes: count, after: call.elapsed())
                if let progress = call.progress, !call.reconnects {
                    try await call.deadline.run { try await progress.finish() }
                }
                call.deadline.end()
                return nil
            } catch {
                throw failure(error)
            }
        }

        /// - Throws: The error of the deadline, which includes the loop that reads, even if the body has arrived.
        func checkDeadline() throws {
            do { try call.deadline.check() } catch { throw failure(error) }
        }

        /// Runs a function that reads elements in the bytes that have arrived.
        func parsing<Element>(_ parse: () throws -> Element) throws -> Element {
            do { return try parse() } catch { throw call.failure(error.with(head), of: head.request) }
        }

        private func failure(_ error: any Error) -> any Error {
            let error = call.final(error.with(head))
            call.history.add(.bodyFailed(error), head.request)
            return call.failure(error, of: head.request)
        }
    }
}

extension Error {
    /// An error about a body, with its response.
    ///
    /// - Parameter attempts: The attempts, unless the call adds them.
    func with(_ head: DataResponse, _ attempts: [Attempt] = []) -> any Error {
        guard var error = self as? RequestError, error.response == nil, error.code != .deadlineExceeded else {
            return self
        }
        (error.response, error.request) = (head, error.request ?? head.request)
        if error.attempts.isEmpty { error.attempts = attempts }
        return error
    }
}

extension DataResponse {
    /// A model from a part of the body.
    ///
    /// - Parameter place: Names the part, for the error.
    func decoded<Model: Decodable>(
        _ type: Model.Type, from part: Data, at place: @autoclosure () -> String
    ) throws -> Model {
        var response = self
        response.data = part
        return try RequestError.within(place()) { try response.decode(type) }
    }
}
