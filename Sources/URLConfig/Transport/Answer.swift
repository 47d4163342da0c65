/// A response as the send loop takes it: whole.
struct Answer: Sendable {
    /// The most bytes that are read of a body that is of no use, within a second, so that its connection can be used
    /// again.
    private static let mostUnused = 65_536

    var response: DataResponse
    /// What the session's delegate may decide about it; `nil` if there is no session's task.
    let decisions: DelegateDecisions?

    init(_ response: Transport.Response, to request: Transport.Request, limit: Int?) async throws {
        self.init(response, to: request)
        var buffer = BodyBuffer(limit: limit)
        do {
            try await response.body.collect(into: &buffer)
        } catch is BodyTooLong {
            self.response.data = buffer.data
            throw RequestError(
                .responseTooLarge, stage: .executing,
                reason: "the body is longer than responseLimit, \(buffer.limit.shownAsBytes)", response: self.response)
        }
        self.response.data = buffer.data
    }

    /// Reads the beginning of a body that is of no use, and ends the transfer if there is more.
    init(skippingBodyOf response: Transport.Response, to request: Transport.Request) async throws {
        self.init(response, to: request)
        // What goes wrong with it is of no interest, but for the end of the task.
        try? await withDeadline(.seconds(1), ContinuousClock(), onOwnThreads: false) {
            CancellationError()
        } operation: {
            _ = try await response.body.collect(upTo: Self.mostUnused)
        }
        try Task.checkCancellation()
    }

    private init(_ response: Transport.Response, to request: Transport.Request) {
        self.response = DataResponse(
            request: request.urlRequest, url: response.url, status: response.status,
            headerFields: response.headerFields)
        decisions = response.decisions
    }
}
