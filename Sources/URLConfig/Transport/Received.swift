/// A response, and its body if that is still to be read.
struct Received: Sendable {
    var response: DataResponse
    /// `nil` if the response contains it.
    var body: ResponseBody?
    /// Set if the response is not a success, and only the beginning of its body is in it: the call does not return it,
    /// but its status counts.
    var tooLarge: RequestError?

    /// The most bytes that are read of the body of a response that is not a success, to explain it.
    private static let maximumOfFailure = 1 << 20
    private static let longestForFailure = Duration.seconds(10)

    /// Ends the transfer, because the body will not be read.
    func endBody() { body?.received.cancel() }

    /// The same with the content, to explain why the response cannot be used.
    ///
    /// Of a longer body, only the beginning is in the response. The body still has all bytes.
    ///
    /// - Parameters:
    ///   - clock: Measures the time limit: a server may send its explanation too slowly.
    ///   - limit: The time limit.
    func withContent(
        _ clock: any Clock<Duration>, within limit: Duration = Self.longestForFailure
    ) async throws -> Received {
        guard let body else { return self }
        let (arriving, url) = (body.received, response.url)
        let alarm = Alarm(after: limit, clock) { arriving.fail(URLError(timedOut: url, after: limit)) }
        defer { withExtendedLifetime(alarm) {} }
        var received = self
        received.response.data = await body.peek(upTo: Self.maximumOfFailure)
        try Task.checkCancellation()
        return received
    }
}

extension Transport.Response {
    /// The response to a request, whose body is still to be read.
    ///
    /// - Parameter duration: The time since the call began.
    func received(to request: URLRequest, _ decoder: (any ResponseDecoder)?, _ duration: Duration) -> Received {
        var head = DataResponse(
            request: request, url: url, status: status, headerFields: headerFields, duration: duration)
        (head.redaction, head.decoder) = (redaction, decoder)
        if let cacheStatus { (head.cacheStatus, head.fromCache) = (cacheStatus(), cacheStatus().isFromCache) }
        return Received(response: head, body: body)
    }

    /// The response to a request with its whole body.
    ///
    /// - Parameter elapsed: The time since the call began.
    func collected(
        to request: URLRequest, _ decoder: (any ResponseDecoder)?, _ progress: ProgressMeter?,
        _ elapsed: @Sendable () -> Duration
    ) async throws -> Received {
        let progress = status.kind == .successful ? progress : nil
        if request.httpMethod != "HEAD" { progress?.expect(headerFields.decodedLength) }
        let reader = try body.read()
        var data = Data()
        var tooLarge: RequestError?
        do {
            while let piece = try await reader.next() {
                progress?.received(piece.count)
                if data.isEmpty { data = piece } else { data.append(piece) }
            }
        } catch let error as RequestError where error.code == .responseTooLarge && error.response == nil {
            tooLarge = error
        }
        var response = received(to: request, decoder, elapsed()).response
        response.data = data
        if isFromCache() { response.fromCache = true }
        guard status.kind == .successful, var error = tooLarge
        else { return Received(response: response, tooLarge: tooLarge) }
        error.response = response
        throw error
    }
}
