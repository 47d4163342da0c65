/// Carries one request to a server and brings its response: head first, then the body as it arrives.
///
/// ```swift
/// let stub = Transport { request in
///     request.urlRequest.url?.path() == "/users/1" ? .init(body: .init(user)) : .init(status: .notFound)
/// }
/// let response = try await URLSession.shared.response(for: request) { $0.transport = stub }
/// ```
///
/// A transport sends one request once. `response(for:)` handles redirects, retries, credentials, time limits and
/// validators, on every transport.
///
/// One transport may use another:
///
/// ```swift
/// let slow = Transport { request in
///     try await Task.sleep(for: .seconds(1))
///     return try await Transport.urlSession.send(request)
/// }
/// ```
///
/// If a transport calls `response(for:)` itself, that call uses ``urlSession`` and not this transport again.
public struct Transport: Sendable {
    private final class Custom: Sendable {
        let send: @Sendable (Request) async throws -> Response

        init(_ send: @escaping @Sendable (Request) async throws -> Response) {
            self.send = send
        }
    }

    /// `nil` for ``urlSession``.
    private let custom: Custom?

    /// The session of the call: `URLSession` itself, and on Linux a session of the library's own in its place.
    public static let urlSession = Self()

    /// A custom transport.
    ///
    /// - Parameter send: Sends a request once and returns the head of the response. It must not follow redirects, and
    ///   should stop when the task is cancelled. The call throws what it throws; throw `URLError` for failures of the
    ///   network, which ``RetryPolicy`` knows. The time limits are the request's `timeout` and the call's `deadline`;
    ///   those of the session's configuration are ignored.
    public init(_ send: @escaping @Sendable (_ request: Request) async throws -> Response) {
        custom = Custom(send)
    }

    private init() { custom = nil }

    /// Sends a request once, such as for another transport.
    ///
    /// - Parameter request: The request that a transport has received, changed or not.
    /// - Returns: The head of the response, and its body, which may still arrive. ``urlSession`` keeps in memory what
    ///   arrives before it is read.
    /// - Throws: What the transport throws. ``urlSession`` throws `URLError` for failures of the network and expired
    ///   time limits, and `CancellationError` when the task is cancelled.
    public func send(_ request: Request) async throws -> Response {
        guard let custom = forThisTask.custom else {
            // The send loop has checked its own request, but a transport may have changed it.
            try request.urlRequest.checkSendable()
            return try await URLSessionTransport.response(to: request)
        }
        return try await WorkScope.of(custom) { try await custom.send(request) }
    }

    /// The transport for a call of this task.
    var forThisTask: Self { WorkScope.contains(custom) ? .urlSession : self }

    /// Sends a request once and collects the body of the response.
    ///
    /// - Throws: What ``send(_:)`` throws; ``RequestError`` with code ``RequestError/Code/responseTooLarge``.
    func answer(to request: Request) async throws -> Answer {
        guard custom != nil else {
            return try await Answer(collecting: URLSessionTransport.response(to: request, isWhole: true), to: request)
        }
        let limit = request.urlRequest.customTimeLimit
        return try await withDeadline(limit, request.config.clock) {
            URLError(timedOut: request.urlRequest.url, after: limit ?? .zero)
        } operation: {
            try await Answer(collecting: send(request), to: request)
        }
    }
}

extension Transport {
    /// A request as a transport receives it.
    public struct Request: Sendable {
        /// Method, URL, header fields and `timeoutInterval`.
        ///
        /// The fields that the session's configuration adds, such as cookies, are not in it yet.
        public var urlRequest: URLRequest
        /// The session of the call, whose configuration a transport may follow.
        public let session: URLSession
        /// Whether credentials of the session's configuration may be sent: `false` after a redirect to another origin.
        public let allowsSessionCredentials: Bool
        let config: URLSession.Config
        /// The credential for the server's last challenge.
        let credential: (URLCredential, Origin)?
        /// The body that another transport has set, if `urlRequest` cannot contain it.
        private(set) var replacement: Body?

        /// The body; `nil` for none.
        ///
        /// A transport may replace it before it sends the request by another transport.
        public var body: Body? {
            get {
                if let replacement { return replacement }
                if let data = urlRequest.httpBody { return data.isEmpty ? nil : .data(data) }
                guard urlRequest.httpBodyStream != nil else { return nil }
                return .stream(length: urlRequest.declaredLength) { [urlRequest] in
                    urlRequest.httpBodyStream ?? InputStream(data: Data())
                }
            }
            set {
                urlRequest.httpBodyStream = nil
                urlRequest.httpBody = nil
                urlRequest.setValue(nil, forHTTPHeaderField: "Content-Length")
                if case .data(let data) = newValue { urlRequest.httpBody = data }
                if case .data = newValue { replacement = nil } else { replacement = newValue }
            }
        }

        /// Puts a replaced body into `urlRequest`, as a stream.
        mutating func openBody() throws {
            var length: Int64?
            switch replacement {
            case .file(let url):
                guard let size = try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize,
                    let stream = InputStream(url: url)
                else { throw invalidBody("the file \(url.lastPathComponent) cannot be read") }
                (length, urlRequest.httpBodyStream) = (Int64(size), stream)
            case .stream(let count, let open):
                (length, urlRequest.httpBodyStream) = (count.flatMap { $0 < 0 ? nil : $0 }, try open())
            default: break
            }
            // Foundation would send the rest of it, which is empty.
            if let stream = urlRequest.httpBodyStream, type(of: stream) == InputStream.self,
                [.atEnd, .closed].contains(stream.streamStatus)
            {
                throw invalidBody("the stream has been read already; make another one")
            }
            replacement = nil
            if let length { urlRequest.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
        }

        private func invalidBody(_ reason: String) -> RequestError {
            RequestError(.invalidRequest, reason: "body: \(reason)", request: urlRequest)
        }
    }

    /// The body of a request.
    public enum Body: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// The content of a file, at its URL.
        case file(URL)
        /// A stream.
        ///
        /// - Parameters:
        ///   - length: The number of bytes; `nil` if unknown: the body is sent in chunks then.
        ///   - open: Makes the stream, not opened yet. Called each time that the request is sent.
        case stream(length: Int64?, open: @Sendable () throws -> InputStream)
    }

    /// A response: its head, and a body that may still arrive.
    public struct Response: Sendable {
        /// The status (RFC 9110 §15).
        public var status: HTTPResponse.Status
        /// The header fields.
        public var headerFields: HTTPFields
        /// Where the response came from; `nil` for the URL of the request.
        public var url: URL?
        /// The body.
        public var body: ResponseBody
        /// What the session's delegate may decide about the response; `nil` without a task of a session.
        var decisions: Exchange?

        /// A response.
        ///
        /// - Parameters:
        ///   - status: The status.
        ///   - headerFields: The header fields.
        ///   - url: Where it came from; by default the URL of the request.
        ///   - body: The body, by default empty.
        public init(
            status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], url: URL? = nil,
            body: ResponseBody = .init()
        ) {
            self.status = status
            self.headerFields = headerFields
            self.url = url
            self.body = body
        }
    }
}

extension Transport.Request: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("request", urlRequest.summary(config.redaction))] }
}

extension Transport.Response: RedactedReflectable {
    var shownChildren: [(String, Any?)] {
        let redaction = decisions?.request.config.redaction ?? URLSession.Config.default.redaction
        return [("status", status.code), ("headerFields", redaction.masked(headerFields))]
    }
}
