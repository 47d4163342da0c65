/// A whole response for the send loop.
struct Answer: Sendable {
    var response: DataResponse
    /// Asks the delegates about the response; `nil` without a task of a session.
    let decisions: Exchange?

    init(collecting response: Transport.Response, to request: Transport.Request) async throws {
        self.response = DataResponse(
            request: request.urlRequest, url: response.url, status: response.status,
            headerFields: response.headerFields)
        decisions = response.decisions
        var buffer = BodyBuffer(limit: request.config.responseLimit)
        do {
            for try await piece in response.body { try buffer.receive(piece) }
        } catch var error as RequestError where error.code == .responseTooLarge && error.response == nil {
            self.response.data = buffer.data
            error.response = self.response
            throw error
        }
        self.response.data = buffer.data
        self.response.fromCache = decisions?.isFromCache ?? false
    }
}
