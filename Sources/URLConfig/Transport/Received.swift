/// What a transport has received: a whole response, or its head and the body that may still arrive.
///
/// A class, because a response is passed on in many steps, and copying it costs more than a reference.
final class Received: Sendable {
    let response: DataResponse
    /// The body; `nil` if the response contains it.
    let body: ResponseBody?
    /// Asks the delegates about the response; `nil` without a task of a session.
    let exchange: Exchange?

    init(_ response: DataResponse, body: ResponseBody? = nil, _ exchange: Exchange? = nil) {
        self.response = response
        self.body = body
        self.exchange = exchange
    }
}

extension Received {
    /// The most bytes that are read of the body of a response that is not a success, to explain it.
    private static let mostOfFailure = 1 << 20

    /// The same with the content of a response that is not 2xx, for validators and errors.
    func withContentOfFailure() async throws -> Received {
        response.isSuccess ? self : try await withContent()
    }

    /// The same with the content, to explain why the response cannot be used.
    ///
    /// Of a longer body only the beginning is in the response. The body still has all bytes.
    func withContent() async throws -> Received {
        guard let body else { return self }
        var response = response
        var failure: (any Error)?
        let rest = body.makeAsyncIterator()
        var buffer = BodyBuffer()
        do {
            while buffer.data.count < Self.mostOfFailure, let piece = try await rest.next() {
                try buffer.receive(piece)
            }
        } catch {
            try Task.checkCancellation()
            failure = error
        }
        response.data = buffer.data
        return Received(response, body: ResponseBody(buffer.data, then: rest, failure), exchange)
    }
}

extension Transport.Response {
    /// A response whose body will be read by the caller.
    func opened(_ request: Transport.Request) -> Received {
        Received(head(of: request), body: body, exchange)
    }

    /// A response with its whole body.
    func collected(_ request: Transport.Request) async throws -> Received {
        request.call.progress?.expect(headerFields.decodedLength)
        var response = head(of: request)
        var buffer = BodyBuffer(limit: request.call.config.responseLimit)
        do {
            // An exchange reports what it receives.
            let progress = exchange == nil ? request.call.progress : nil
            for try await piece in body {
                progress?.received(piece.count)
                try buffer.receive(piece)
            }
        } catch var error as RequestError where error.code == .responseTooLarge && error.response == nil {
            response.data = buffer.data
            error.response = response
            throw error
        }
        response.data = buffer.data
        response.duration = request.call.elapsed()
        response.fromCache = exchange?.isFromCache ?? false
        return Received(response, exchange)
    }

    private func head(of request: Transport.Request) -> DataResponse {
        var head = DataResponse(request: request.urlRequest, url: url, status: status, headerFields: headerFields)
        head.duration = request.call.elapsed()
        (head.redaction, head.decoder) = (request.call.config.redaction, request.call.config.customDecoder)
        return head
    }
}
