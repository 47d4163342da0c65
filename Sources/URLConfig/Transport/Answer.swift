/// A response as the send loop takes it: whole.
struct Answer: Sendable {
    /// The most bytes of an unused body that are read, within a second, so that its connection can be used again.
    private static let mostUnused = 65_536

    var response: DataResponse
    /// What the session's delegate may decide about it; `nil` if there is no session's task.
    let decisions: Exchange?

    init(head response: Transport.Response, to request: Transport.Request) {
        self.response = DataResponse(
            request: request.urlRequest, url: response.url, status: response.status,
            headerFields: response.headerFields)
        decisions = response.decisions
    }

    init(collecting response: Transport.Response, to request: Transport.Request) async throws {
        self.init(head: response, to: request)
        let hasDelegate = request.config.taskDelegate != nil || request.session.delegate != nil
        guard hasDelegate || !request.config.redirects.surelyFollow(response) else {
            // The beginning of the body is read, and the transfer ends if there is more. What goes wrong with it is of
            // no interest, but for the end of the task.
            try? await withDeadline(.seconds(1), ContinuousClock()) {
                CancellationError()
            } operation: {
                _ = try await response.body.collect(upTo: Self.mostUnused)
            }
            try Task.checkCancellation()
            return
        }
        var buffer = BodyBuffer(limit: request.config.responseLimit)
        do {
            try await response.body.collect(into: &buffer)
        } catch let error as BodyTooLong {
            throw failure(error, buffer.data)
        }
        self.response.data = buffer.data
    }

    /// The error for a body that is too long, whose beginning came.
    func failure(_ tooLong: BodyTooLong, _ body: Data) -> RequestError {
        var response = response
        response.data = body
        return RequestError(
            .responseTooLarge,
            reason: "the body is longer than responseLimit, \(tooLong.limit.shownAsBytes)", response: response)
    }
}
