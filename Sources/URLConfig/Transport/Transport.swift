/// Carries one request to a server and brings its response: head first, then the body as it arrives.
///
/// ```swift
/// let stub = Transport { request in
///     request.urlRequest.url?.path() == "/users/1" ? .init(body: .init(user)) : .init(status: .notFound)
/// }
/// let response = try await URLSession.shared.response(for: request) { $0.transport = stub }
/// ```
///
/// A transport sends one request once. Redirects, retries, credentials, time limits and validators are the business of
/// `response(for:)`, and work on every transport.
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
/// A call of `response(for:)` that a transport makes itself does not come back to it, but uses ``urlSession``.
public struct Transport: Sendable {
    private final class Custom: Sendable {
        let send: @Sendable (Request) async throws -> Response

        init(_ send: @escaping @Sendable (Request) async throws -> Response) {
            self.send = send
        }
    }

    /// `nil` for ``urlSession``.
    private let custom: Custom?

    // A task that a transport starts and leaves behind keeps the mark, but then the work is over.
    private struct Work: Sendable {
        let transport: ObjectIdentifier
        let isOver = Locked(false)
    }

    /// The transports that this task is part of.
    @TaskLocal private static var work: [Work] = []

    /// The session that the call is made on: `URLSession` itself, and on Linux a session of ours in its place.
    public static let urlSession = Self(custom: nil)

    /// A transport of an app's own.
    ///
    /// - Parameter send: Sends a request once and returns the head of the response; it must not follow redirects.
    ///   What it throws, the call throws; use `URLError` for failures of the network, which ``RetryPolicy`` knows.
    ///   When the task is cancelled, it should stop what it does; the call ends at once in any case. Its time is
    ///   limited by the request's `timeout` and the call's `deadline` alone, and not by the session's configuration.
    public init(_ send: @escaping @Sendable (_ request: Request) async throws -> Response) {
        self.init(custom: Custom(send))
    }

    private init(custom: Custom?) {
        self.custom = custom
    }

    /// Sends a request once, such as for another transport.
    ///
    /// - Parameter request: The request that a transport has received, changed or not.
    /// - Returns: The head of the response and its body, which arrives meanwhile. To let go of the body ends the
    ///   transfer. What ``urlSession`` receives faster than it is read is kept in memory.
    /// - Throws: What the transport throws; ``urlSession`` throws `URLError` for failures of the network and for time
    ///   that is up, and `CancellationError` once the task is cancelled.
    public func send(_ request: Request) async throws -> Response {
        guard let custom = forThisTask.custom else { return try await URLSessionTransport.response(to: request) }
        let work = Work(transport: ObjectIdentifier(custom))
        defer { work.isOver.set(\.self, true) }
        return try await Self.$work.withValue(Self.work + [work]) { try await custom.send(request) }
    }

    /// The transport for a call of this task.
    var forThisTask: Self {
        let isAtWork = Self.work.contains { work in
            work.transport == custom.map(ObjectIdentifier.init) && !work.isOver.withLock { $0 }
        }
        return isAtWork ? .urlSession : self
    }

    /// Sends a request once and collects the body of the response.
    ///
    /// - Throws: What ``send(_:)`` throws; ``RequestError`` with code ``RequestError/Code/responseTooLarge``.
    func answer(to request: Request) async throws -> Answer {
        guard custom != nil else { return try await URLSessionTransport.answer(to: request) }
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
        /// It has none of the fields that the session's configuration adds, such as cookies.
        public var urlRequest: URLRequest
        /// The session that the call is made on, whose configuration a transport may follow.
        public let session: URLSession
        /// Whether credentials of the session's configuration may be sent: not after a redirect to another origin.
        public let allowsSessionCredentials: Bool
        let config: URLSession.Config
        /// The response to the server's last challenge.
        let credential: (URLCredential, Origin)?
        /// A body that another transport has put in place of the request's own, and that `urlRequest` cannot have.
        private var replacement: Body?

        init(
            _ urlRequest: URLRequest, session: URLSession, config: URLSession.Config, isForeign: Bool = false,
            credential: (URLCredential, Origin)? = nil
        ) {
            self.urlRequest = urlRequest
            self.session = session
            self.config = config
            allowsSessionCredentials = !isForeign
            self.credential = credential
        }

        /// The body; `nil` for none.
        ///
        /// A transport that hands the request on may replace it.
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

        /// Makes a replaced body the request's own, as a stream.
        mutating func openBody() throws {
            let length: Int64?
            switch replacement {
            case .file(let url):
                guard let size = try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize,
                    let stream = InputStream(url: url)
                else {
                    let reason = "body: the file \(url.lastPathComponent) cannot be read"
                    throw RequestError(.invalidRequest, reason: reason, request: urlRequest)
                }
                (length, urlRequest.httpBodyStream) = (Int64(size), stream)
            case .stream(let count, let open):
                (length, urlRequest.httpBodyStream) = (count.flatMap { $0 < 0 ? nil : $0 }, try open())
            default: length = nil
            }
            // Foundation would send what is left of it, which is nothing.
            if let stream = urlRequest.httpBodyStream, type(of: stream) == InputStream.self,
                [.atEnd, .closed].contains(stream.streamStatus)
            {
                let reason = "body: the stream has been read already; make another one"
                throw RequestError(.invalidRequest, reason: reason, request: urlRequest)
            }
            replacement = nil
            if let length { urlRequest.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
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
        ///   - length: Its length in bytes; `nil` if it is not known.
        ///   - open: Makes the stream, not opened yet. Called once each time that the request is sent.
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
        /// What the session's delegate may decide about the response; `nil` if there is no session's task.
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

extension URLRequest {
    /// The length that `Content-Length` names.
    var declaredLength: Int64? {
        value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }.flatMap { $0 < 0 ? nil : $0 }
    }
}
