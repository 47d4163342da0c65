/// The body of a stream, as its call passes it on: with the call's progress, log and errors.
struct StreamBody: Sendable {
    /// Returns the next piece, which is never empty; `nil` at the end.
    ///
    /// The transfer ends when it is released.
    typealias Next = () async throws -> Data?

    /// The response without its body.
    let head: DataResponse
    private let body: ResponseBody
    private let call: Call

    init(_ received: Received, of call: Call) {
        head = received.response
        body = received.body ?? ResponseBody(received.response.data)
        self.call = call
        call.progress?.expect(head.bodyLength)
    }

    /// Begins to read.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidResponse`` if the body has been read.
    func read() throws -> Next {
        let reader: ReceivedBody.Reader
        do {
            reader = try body.read()
        } catch var error as RequestError {
            error.response = head
            throw error
        }
        var count: Int64 = 0
        var isOver = false
        return { [call, head] in
            if isOver { return nil }
            do {
                if let piece = try await reader.next() {
                    count += Int64(piece.count)
                    call.progress?.received(piece.count)
                    return piece
                }
                try Task.checkCancellation()
                isOver = true
                call.log.ended(head, bytes: count, after: call.elapsed())
                if let progress = call.progress, !call.reconnects {
                    try await call.deadline.run { try await progress.finish() }
                }
                call.deadline.end()
                return nil
            } catch {
                isOver = true
                throw call.failure(error.with(head), of: head.request)
            }
        }
    }
}

extension Error {
    /// An error about a body, with its response.
    fileprivate func with(_ head: DataResponse) -> any Error {
        guard var error = self as? RequestError, error.response == nil, error.code != .deadlineExceeded else {
            return self
        }
        (error.response, error.request) = (head, error.request ?? head.request)
        return error
    }
}

extension DataResponse {
    /// The length of the body in bytes; `nil` if it is unknown or there is none (RFC 9110 §6.4.1).
    fileprivate var bodyLength: Int64? {
        let hasBody = request.httpMethod != "HEAD" && ![.noContent, .notModified].contains(status)
        return hasBody ? headerFields.decodedLength : nil
    }
}
