import Logging

extension Transport {
    /// The request that a transport receives.
    public struct Request: Sendable {
        /// The method, URL, header fields and `timeoutInterval`.
        ///
        /// It does not yet contain the fields that the session's configuration adds, such as cookies.
        public var urlRequest: URLRequest
        /// The session of the call, whose configuration a transport may use.
        public let session: URLSession
        /// Whether the credentials of the session's configuration may be sent: not after a redirect to another origin.
        let allowsSessionCredentials: Bool
        /// The settings of the call for transports.
        let conditions: Conditions
        /// Whether the call waits for the whole body.
        var buffersBody: Bool
        /// Whether a transport may wait for the body before it returns the head, which needs fewer changes of threads.
        ///
        /// The progress needs the bytes as they arrive.
        var isWhole: Bool { buffersBody && conditions.progress == nil }
        /// The request's time limit: of the whole attempt, or for silence if a body may be large.
        var timeLimits: TimeLimits {
            let limit = urlRequest.customTimeLimit
            return conditions.isTransfer ? TimeLimits(silence: limit) : TimeLimits(whole: limit)
        }
        /// The time limits with the session's own for silence, if the request has none, and what measures them.
        ///
        /// As with `URLSession`, the limits of a session are measured by the system's clock.
        func timeLimits(_ configuration: URLSessionConfiguration) -> (TimeLimits, any Clock<Duration>) {
            var limits = timeLimits
            guard limits.isEmpty else { return (limits, conditions.clock) }
            limits.silence = Duration(timeoutInterval: configuration.timeoutIntervalForRequest)
            return (limits, ContinuousClock())
        }
        /// Whether a connection that may have been kept broke off, so that other kept ones may do so, too.
        var needsNewConnection = false
        /// What the transport notes about the attempt; `nil` if nobody wants to know it.
        var arrival: Arrival?
        /// The body that a transport has set, if `urlRequest` cannot contain it.
        private(set) var replacement: Body?

        /// The body; `nil` for none.
        ///
        /// A transport may replace it and then send the request with another transport.
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
                replacement = newValue
                if case .data(let data) = newValue { (urlRequest.httpBody, replacement) = (data, nil) }
            }
        }

        /// Creates a request, to test an app's own transport.
        ///
        /// - Parameters:
        ///   - urlRequest: The request.
        ///   - session: The session of the call.
        ///   - fileID: The file that creates it, for a test's clock.
        ///   - line: The line that creates it.
        public init(
            _ urlRequest: URLRequest, session: URLSession = .shared, fileID: String = #fileID, line: UInt = #line
        ) {
            var config = URLSession.Config()
            CallScope.enter(&config, fileID, line)
            // The default one would learn the secrets of this request, for all calls.
            config.redaction = config.redaction.knowing(urlRequest)
            let deadline = Deadline(nil, config.clock) { _, _ in CancellationError() }
            self.init(urlRequest, session, Conditions(config, deadline))
        }

        init(
            _ urlRequest: URLRequest, _ session: URLSession, allowsSessionCredentials: Bool = true,
            _ conditions: Conditions, buffersBody: Bool = false
        ) {
            (self.urlRequest, self.session, self.conditions) = (urlRequest, session, conditions)
            (self.allowsSessionCredentials, self.buffersBody) = (allowsSessionCredentials, buffersBody)
        }

        /// The request with the fields and cookies of the session's configuration, for a transport that does not use
        /// the session.
        ///
        /// Its own fields have priority. Credentials are left out where ``allowsSessionCredentials`` is `false`.
        ///
        /// - Parameter usesSharedCookies: Whether the cookies of `HTTPCookieStorage.shared` belong to it: on a server,
        ///   they may belong to other users.
        func complete(_ configuration: URLSessionConfiguration, usesSharedCookies: Bool = false) -> URLRequest {
            var complete = urlRequest
            SessionFields(configuration, usesSharedCookies: usesSharedCookies)
                .add(to: &complete, without: allowsSessionCredentials ? nil : conditions.redaction)
            conditions.redaction.known.add(complete)
            return complete
        }

        /// Stores the cookies of a response as the session's configuration says, for a transport that does not use the
        /// session.
        ///
        /// In `HTTPCookieStorage.shared`, nothing is stored. Each `Set-Cookie` field is one cookie (RFC 6265 §3).
        package func storeCookies(of response: Response) {
            let values = response.headerFields[values: .setCookie]
            guard !values.isEmpty else { return }
            SessionFields(session.configuration, usesSharedCookies: false)
                .storeCookies(values, from: urlRequest.url, to: urlRequest)
        }

        /// Replaces a sequence by a stream of a temporary file.
        mutating func writeSequence() async throws {
            guard case .sequence(let pieces, let length) = replacement else { return }
            let file = try await pieces.written(length: length, of: self)
            replacement = .stream(length: try file.status().size) { try file.stream() }
        }

        /// Opens a replaced body as the stream of `urlRequest`; ``body`` can be opened again.
        mutating func openBody() throws {
            if let (stream, length) = try replacement?.opened() {
                urlRequest.httpBodyStream = stream
                if let length { urlRequest.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
            } else {
                try urlRequest.httpBodyStream?.checkIsUnread()
            }
        }
    }

    /// The settings of a call for the transports that send its requests.
    final class Conditions: Sendable {
        /// Measures the time limits.
        let clock: any Clock<Duration>
        /// The deadline of the call.
        let deadline: Deadline
        /// Hides secrets, and learns those that a transport adds.
        let redaction: Redaction
        /// The maximum number of bytes of a body.
        let responseLimit: Int?
        let taskDelegate: (any URLSessionTaskDelegate)?
        /// Receives warnings.
        let logger: Logger?
        /// Reports the progress, if the caller wants it.
        let progress: ProgressMeter?
        /// Whether the call has a cache, so that the session's cache is not used.
        let hasCache: Bool
        /// Whether the body of the request or of the response may be large.
        ///
        /// Then the request's time limit is one for silence: between two arrivals of bytes, not for the whole attempt.
        let isTransfer: Bool

        init(_ config: borrowing URLSession.Config, _ deadline: Deadline, isTransfer: Bool = false) {
            clock = config.clock
            self.deadline = deadline
            redaction = if let custom = config.customRedaction { custom } else { config.redaction }
            responseLimit = config.responseLimit
            taskDelegate = config.taskDelegate
            logger = config.logger
            progress = config.progress.map(ProgressMeter.init)
            hasCache = config.cache != nil
            self.isTransfer = isTransfer
        }
    }
}

extension Transport.Request: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("request", urlRequest.summary(conditions.redaction))] }
}

extension Transport {
    /// The body of a request.
    public enum Body: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// The content of the regular file at this URL.
        case file(URL)
        /// A stream.
        ///
        /// A subclass of `InputStream` must override everything that Foundation asks of it, such as `open()`,
        /// `streamStatus` and `property(forKey:)`. Otherwise the process crashes on Apple platforms.
        ///
        /// - Parameters:
        ///   - length: The number of bytes; `nil` if unknown. Then the body is sent in chunks.
        ///   - open: Creates the stream without opening it. It is called each time that the request is
        ///     sent, and may be called once more afterwards.
        case stream(length: Int64?, open: @Sendable () throws -> InputStream)
        /// Pieces that arrive while they are sent.
        ///
        /// They can be sent once. ``Transport/urlSession`` writes them to a temporary file first.
        ///
        /// - Parameter length: The number of bytes; `nil` if unknown. Then the body is sent in chunks.
        case sequence(ResponseBody, length: Int64?)

        /// A stream of the body that is not open yet, and its length in bytes.
        ///
        /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if there is no regular file that
        ///   can be read, or if the stream has already been read; the errors of `open`.
        func opened() throws -> (InputStream, length: Int64?) {
            switch self {
            case .data(let data): return (InputStream(data: data), Int64(data.count))
            case .file(let url):
                let size = try RequestError.within("body") { try RegularFile(url).size }
                guard let stream = InputStream(url: url) else {
                    throw RequestError.refused("body: the file '\(url.lastPathComponent)' cannot be read")
                }
                return (stream, size)
            case .stream(let length, let open):
                let stream = try open()
                try stream.checkIsUnread()
                return (stream, length.flatMap { $0 < 0 ? nil : $0 })
            case .sequence:
                throw RequestError.refused("body: a sequence is no stream")
            }
        }
    }
}

extension URLRequest {
    /// The time limit of one attempt, if it was set.
    ///
    /// Foundation's default of 60 seconds is a limit for silence, which Foundation measures itself.
    var customTimeLimit: Duration? {
        timeoutInterval == 60 ? nil : Duration(timeoutInterval: timeoutInterval)
    }

    /// The length of the body in bytes; -1 for a stream of unknown length, `nil` for no body.
    var bodyLength: Int64? {
        if let body = httpBody { return body.isEmpty ? nil : Int64(body.count) }
        guard httpBodyStream != nil else { return nil }
        return declaredLength ?? NSURLSessionTransferSizeUnknown
    }

    /// The value of `Content-Length`; `nil` if it is missing or invalid.
    var declaredLength: Int64? {
        value(forHTTPHeaderField: "Content-Length").flatMap { Int64(digits: $0) }
    }
}

extension InputStream {
    /// The class of Foundation's own streams: on Apple platforms, a hidden subclass.
    private static let foundations: InputStream.Type = type(of: InputStream(data: Data()))

    /// Whether it is one of Foundation's own: the properties of a caller's subclass may do anything.
    var isFoundations: Bool { type(of: self) == Self.foundations }

    /// The rest of a stream that has been read is empty, and would be sent as the whole body.
    func checkIsUnread() throws {
        guard isFoundations, [.atEnd, .closed].contains(streamStatus) else { return }
        throw RequestError.refused("body: the stream has already been read; make a new one")
    }
}
