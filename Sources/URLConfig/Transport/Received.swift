/// What a transport has received: a whole response, or its head and the body that may still arrive.
///
/// A class, because a response is passed on in many steps, and copying it costs more than a reference.
final class Received: Sendable {
    let response: DataResponse
    /// The body of a stream; it is `nil` in a whole response.
    private let stream: Locked<ResponseBody?>?

    init(_ response: DataResponse, body: ResponseBody? = nil) {
        self.response = response
        stream = body.map { Locked($0) }
    }

    /// The body; `nil` if the response contains it, or if it was ended.
    var body: ResponseBody? { stream?.withLock { $0 } }

    /// Whether the response does not contain the body.
    var isStream: Bool { stream != nil }

    /// Ends the transfer of a stream, because its body will not be read.
    func endBody() { stream?.set(\.self, nil) }
}

extension Received {
    /// The most bytes that are read of the body of a response that is not a success, to explain it.
    private static let mostOfFailure = 1 << 20
    private static let longestForFailure = Duration.seconds(10)

    /// The same with the content of a response that is not 2xx, for validators and errors.
    func withContentOfFailure(_ clock: any Clock<Duration>) async throws -> Received {
        response.isSuccess ? self : try await withContent(clock)
    }

    /// The same with the content, to explain why the response cannot be used.
    ///
    /// Of a longer body only the beginning is in the response. The body still has all bytes.
    ///
    /// - Parameter clock: Measures the time limit: a server may send its explanation too slowly.
    func withContent(_ clock: any Clock<Duration>) async throws -> Received {
        guard let body else { return self }
        let rest = body.makeAsyncIterator()
        let buffer = Locked(BodyBuffer())
        var failure: (any Error)?
        do {
            try await withDeadline(Self.longestForFailure, clock) {
                URLError(timedOut: self.response.url, after: Self.longestForFailure)
            } operation: {
                while buffer.withLock({ $0.data.count }) < Self.mostOfFailure, let piece = try await rest.next() {
                    try buffer.withLock { try $0.receive(piece) }
                }
            }
        } catch {
            try Task.checkCancellation()
            failure = error
        }
        var response = response
        response.data = buffer.withLock { $0.data }
        return Received(response, body: ResponseBody(response.data, then: rest, failure))
    }
}

extension Transport.Response {
    /// A response with its whole body.
    ///
    /// - Parameters:
    ///   - head: The response without its body.
    ///   - elapsed: The time since the call began.
    func collected(
        _ head: DataResponse, _ conditions: Transport.Conditions, _ elapsed: () -> Duration
    ) async throws -> Received {
        if status.kind == .successful, head.request.httpMethod != "HEAD" {
            conditions.progress?.expect(headerFields.decodedLength)
        }
        var response = head
        var buffer = BodyBuffer(limit: conditions.responseLimit)
        do {
            let progress = isReported || status.kind != .successful ? nil : conditions.progress
            for try await piece in body {
                progress?.received(piece.count)
                try buffer.receive(piece)
            }
        } catch var error as RequestError where error.code == .responseTooLarge && error.response == nil {
            response.data = buffer.data
            response.duration = elapsed()
            error.response = response
            throw error
        }
        response.data = buffer.data
        response.duration = elapsed()
        response.fromCache = isFromCache()
        return Received(response)
    }
}
