/// A response, and its body if that is still to be read.
struct Received: Sendable {
    var response: DataResponse
    /// `nil` if the response contains it.
    var body: ResponseBody?

    /// The most bytes that are read of the body of a response that is not a success, to explain it.
    private static let maximumOfFailure = 1 << 20
    private static let longestForFailure = Duration.seconds(10)

    /// Ends the transfer, because the body will not be read.
    func endBody() { body?.received.cancel() }

    /// The same with the content of a response that is not 2xx, for validators and errors.
    func withContentOfFailure(_ clock: any Clock<Duration>) async throws -> Received {
        response.isSuccess ? self : try await withContent(clock)
    }

    /// The same with the content, to explain why the response cannot be used.
    ///
    /// Of a longer body, only the beginning is in the response. The body still has all bytes.
    ///
    /// - Parameter clock: Measures the time limit: a server may send its explanation too slowly.
    func withContent(_ clock: any Clock<Duration>) async throws -> Received {
        guard let body else { return self }
        let timedOut = URLError(timedOut: response.url, after: Self.longestForFailure)
        var received = self
        received.response.data = await body.peek(
            upTo: Self.maximumOfFailure, within: Self.longestForFailure, timedOut, clock)
        try Task.checkCancellation()
        return received
    }
}

extension Transport.Response {
    /// A response with its whole body.
    ///
    /// - Parameters:
    ///   - head: The response without its body.
    ///   - elapsed: The time since the call began.
    func collected(
        _ head: DataResponse, _ progress: ProgressMeter?, _ elapsed: () -> Duration
    ) async throws -> DataResponse {
        let progress = status.kind == .successful ? progress : nil
        if head.request.httpMethod != "HEAD" { progress?.expect(headerFields.decodedLength) }
        var response = head
        do {
            let reader = try body.read()
            while let piece = try await reader.next() {
                progress?.received(piece.count)
                if response.data.isEmpty { response.data = piece } else { response.data.append(piece) }
            }
        } catch var error as RequestError where error.code == .responseTooLarge && error.response == nil {
            response.duration = elapsed()
            error.response = response
            throw error
        }
        response.duration = elapsed()
        response.fromCache = isFromCache()
        return response
    }
}
