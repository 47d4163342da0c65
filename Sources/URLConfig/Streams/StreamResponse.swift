/// A response whose body is read as it arrives.
///
/// ```swift
/// let response = try await URLSession.shared.stream(for: request).validated()
/// for try await line in response.lines { … }
/// ```
///
/// The body can be read once, in one of the ways below. The transfer ends when the loop ends, also with `break` or an
/// error, when the task is cancelled, or when the response is released.
public struct StreamResponse: Sendable {
    /// The response without its body; if it is not 2xx, with the beginning of its body.
    private var response: DataResponse
    let body: StreamBody

    init(_ received: Received, of call: Call) {
        response = received.response
        body = StreamBody(received, of: call)
    }

    /// The request as it was sent, credentials included.
    public var request: URLRequest { response.request }
    /// The URL of the response, after redirects.
    public var url: URL? { response.url }
    /// The status (RFC 9110 §15).
    public var status: HTTPResponse.Status { response.status }
    /// Whether the status is 2xx.
    public var isSuccess: Bool { response.isSuccess }
    /// The header fields.
    public var headerFields: HTTPFields { response.headerFields }
    /// The time from the call until the head of the response arrived.
    public var duration: Duration { response.duration }
    /// The attempts of the call, redirects and retries included; the last one received this response.
    public var attempts: [Attempt] { response.attempts }

    /// This response, if its status is 2xx.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unacceptableStatus``. Its response contains the first
    ///   megabyte of the content.
    @discardableResult
    public func validated() throws -> Self {
        try response.validated()
        return self
    }

    /// This response, if its status is accepted, such as `[200, 206]`; errors are those of ``validated()``.
    @discardableResult
    public func validated(status accepted: Set<HTTPResponse.Status>) throws -> Self {
        try response.validated(status: accepted)
        return self
    }

    /// This response, if its content type matches, such as `.eventStream`.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/unacceptableContentType``.
    @discardableResult
    public func validated(contentType type: MediaType) throws -> Self {
        try response.validated(contentType: type)
        return self
    }

    /// This response, if its status is 2xx; otherwise the API's own error from the content is thrown.
    ///
    /// See ``DataResponse/validated(orThrow:decoder:)``.
    @discardableResult
    public func validated<Failure: Decodable & Error>(orThrow failure: Failure.Type) throws -> Self {
        try response.validated(orThrow: failure)
        return self
    }

    /// Reads the whole body, instead of a loop.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The response with its content.
    /// - Throws: ``RequestError`` with code ``RequestError/Code/responseTooLarge`` for more bytes, and the errors of
    ///   ``chunks``.
    public func collect(upTo limit: Int) async throws -> DataResponse {
        var response = response
        do {
            response.data = Data()
            for try await chunk in chunks { try response.data.append(chunk, upTo: limit) }
        } catch var error as RequestError where error.code == .responseTooLarge {
            error.response = response
            throw error
        }
        return response
    }
}

extension StreamResponse: CustomStringConvertible, RedactedReflectable {
    /// The status and the request, such as `200 GET https://api.example.com/events`; secrets are hidden.
    public var description: String { "\(status.code) \(request.summary(response.shownRedaction))" }

    var shownChildren: [(String, Any?)] {
        response.shownChildren.filter { !["data", "attempts"].contains($0.0) }
    }
}
