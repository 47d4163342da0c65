/// A response as the send loop takes it: whole.
struct Answer: Sendable {
    /// The most bytes that are read of a body that is of no use, within a second, so that its connection can be used
    /// again.
    private static let mostUnused = 65_536

    var response: DataResponse
    /// What the session's delegate may decide about it; `nil` if there is no session's task.
    let decisions: Exchange?

    init(_ response: Transport.Response, to request: Transport.Request, limit: Int?) async throws {
        self.init(response, to: request)
        var buffer = BodyBuffer(limit: limit)
        do {
            try await response.body.collect(into: &buffer)
        } catch let error as BodyTooLong {
            self.response.data = buffer.data
            throw failure(error)
        }
        self.response.data = buffer.data
    }

    /// The error for a body that is too long, of which the response has the beginning.
    func failure(_ error: BodyTooLong) -> RequestError {
        RequestError(
            .responseTooLarge, stage: .executing,
            reason: "the body is longer than responseLimit, \(error.limit.shownAsBytes)", response: response)
    }

    /// Reads the beginning of a body that is of no use, and ends the transfer if there is more.
    init(skippingBodyOf response: Transport.Response, to request: Transport.Request) async throws {
        self.init(response, to: request)
        // What goes wrong with it is of no interest, but for the end of the task.
        try? await withDeadline(.seconds(1), ContinuousClock()) {
            CancellationError()
        } operation: {
            _ = try await response.body.collect(upTo: Self.mostUnused)
        }
        try Task.checkCancellation()
    }

    /// The head.
    init(_ response: Transport.Response, to request: Transport.Request) {
        self.response = DataResponse(
            request: request.urlRequest, url: response.url, status: response.status,
            headerFields: response.headerFields)
        decisions = response.decisions
    }
}
