import URLConfig

extension HTTPStubs {
    /// The response of a stub, or its failure.
    ///
    /// ```swift
    /// .json(user)                                                  // 200 application/json
    /// .json(#"{"error": "gone"}"#, status: .notFound)
    /// .text("Hello").delay(.seconds(3)).field(.eTag, #""1""#)
    /// .events([.init(data: "Hello")])
    /// .error(.notConnectedToInternet)
    /// ```
    public struct Response: Sendable {
        /// The content: a function, because a model is encoded when it is sent.
        private enum Content: Sendable {
            case data(@Sendable (JSONEncoder) throws -> Data)
            case pieces([Data])
            case error(any Error)
            case network
        }

        private enum End: Sendable {
            case complete
            case lost
            case stalls
        }

        /// The status.
        public var status: HTTPResponse.Status
        /// The header fields.
        public var headerFields: HTTPFields = [:]
        private var content: Content
        /// The time before the head.
        private var delay = Duration.zero
        /// The size of the pieces of the body; `nil` for one piece.
        private var chunk: Int?
        /// The time before each piece but the first.
        private var interval = Duration.zero
        /// The number of bytes after which the body ends.
        private var length: Int?
        private var end = End.complete

        private init(_ content: Content, _ status: HTTPResponse.Status = .ok, _ contentType: String? = nil) {
            (self.content, self.status) = (content, status)
            headerFields[.contentType] = contentType
        }
    }
}

extension HTTPStubs.Response {
    /// A status without a body.
    public static func status(_ status: HTTPResponse.Status) -> Self { Self(.pieces([]), status) }

    /// A model as JSON, encoded with ``HTTPStubs/Routes/encoder``.
    public static func json(_ model: some Encodable & Sendable, status: HTTPResponse.Status = .ok) -> Self {
        Self(.data { try $0.encode(model) }, status, "application/json")
    }

    /// JSON, written as text; it need not be valid.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Self {
        Self(.pieces([Data(text.utf8)]), status, "application/json")
    }

    /// Text in UTF-8.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Self {
        Self(.pieces([Data(text.utf8)]), status, "text/plain; charset=utf-8")
    }

    /// Bytes.
    public static func data(
        _ data: Data, contentType: MediaType = "application/octet-stream", status: HTTPResponse.Status = .ok
    ) -> Self {
        Self(.pieces([data]), status, contentType.description)
    }

    /// The content of a file, such as a resource of the test's bundle.
    ///
    /// - Parameters:
    ///   - name: The name with its extension, such as `users.json`.
    ///   - bundle: The bundle: `.module` in a package.
    public static func file(_ name: String, in bundle: Bundle, contentType: MediaType = "application/json") -> Self {
        let url = bundle.url(forResource: name, withExtension: nil)
        return Self(
            .data { _ in
                guard let url else { throw StubMistake("there is no file '\(name)' in \(bundle.bundlePath)") }
                return try Data(contentsOf: url)
            }, .ok, contentType.description)
    }

    /// Server-sent events (`text/event-stream`), each in a piece of its own; then the connection ends.
    ///
    /// Each line of the data is a field, so every line break in it arrives as a line feed. No stream can send a line
    /// break in the type or the ID of an event: with one, the test fails at the line of the route.
    public static func events(_ events: [ServerSentEvent]) -> Self {
        let breaks: [Character] = ["\n", "\r", "\r\n"]
        if let wrong = events.firstIndex(where: { ($0.event + $0.id).contains(where: breaks.contains) }) {
            return Self(.error(StubMistake("event \(wrong + 1) has a line break in its type or ID")))
        }
        let pieces = events.map { event in
            var lines = event.event == "message" ? [] : ["event: \(event.event)"]
            if !event.id.isEmpty { lines.append("id: \(event.id)") }
            let data = event.data.split(omittingEmptySubsequences: false, whereSeparator: breaks.contains)
            lines += data.map { "data: \($0)" }
            return Data((lines.joined(separator: "\n") + "\n\n").utf8)
        }
        return Self(.pieces(pieces), .ok, "text/event-stream")
    }

    /// A redirect (RFC 9110 §15.4).
    public static func redirect(to location: String, status: HTTPResponse.Status = .found) -> Self {
        Self(.pieces([]), status).field(.location, location)
    }

    /// The status 401 with a challenge (RFC 9110 §11.6.1), such as `Bearer error="invalid_token"`.
    public static func challenge(_ challenge: String) -> Self {
        Self(.pieces([]), .unauthorized).field(.wwwAuthenticate, challenge)
    }

    /// A failure of the transport.
    public static func error(_ code: URLError.Code) -> Self { Self(.error(URLError(code))) }

    /// An error that the transport throws.
    public static func error(_ error: any Error) -> Self { Self(.error(error)) }

    /// A reused connection that was closed before a response (RFC 9112 §9.3.1).
    public static var lostConnection: Self { Self(.error(Transport.lostConnection)) }

    /// Nothing: a time limit of the request, the call or the session ends the attempt.
    public static var stall: Self { Self(.error(URLError(.timedOut))).with { $0.end = .stalls } }

    /// The response of the real server, which takes real time.
    ///
    /// All calls of the scope take real time then, unless it has a clock (``HTTPStubs/Routes/clock``). If a closure
    /// returns this response, the scope cannot know it before: no time limit passes while the server is silent.
    public static var network: Self { Self(.network) }
    var isOfServer: Bool { if case .network = content { true } else { false } }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var response = self
        change(&response)
        return response
    }

    /// With a header field; an earlier value is replaced.
    public func field(_ name: HTTPField.Name, _ value: String) -> Self { with { $0.headerFields[name] = value } }

    /// With a header field, such as `.field("Link", "</users?page=2>; rel=next")`; an earlier value is replaced.
    ///
    /// - Parameter name: The name. If it is not a token, the test fails at the line of the route.
    public func field(_ name: String, _ value: String) -> Self {
        guard let known = HTTPField.Name(name) else {
            return with { $0.content = .error(StubMistake("'\(name)' is not the name of a header field")) }
        }
        return field(known, value)
    }

    /// With another cookie: the value of a `Set-Cookie` field, such as `sid=31d4; Path=/`.
    public func cookie(_ cookie: String) -> Self {
        with { $0.headerFields.append(HTTPField(name: .setCookie, value: cookie)) }
    }

    /// With a time before the head, on the clock of the call, whose time limits may pass before.
    public func delay(_ delay: Duration) -> Self { with { $0.delay = delay } }

    /// The body arrives in pieces.
    ///
    /// - Parameters:
    ///   - size: The number of bytes of a piece.
    ///   - interval: The time before each piece but the first, on the clock of the call.
    public func chunks(_ size: Int, every interval: Duration = .zero) -> Self {
        with { ($0.chunk, $0.interval) = (max(1, size), interval) }
    }

    /// The connection is lost after a number of bytes of the body.
    public func truncated(after length: Int) -> Self { with { ($0.length, $0.end) = (max(0, length), .lost) } }

    /// Nothing more arrives after a number of bytes of the body: a time limit ends the attempt.
    public func stalled(after length: Int) -> Self { with { ($0.length, $0.end) = (max(0, length), .stalls) } }

    /// A response with the pieces of a recording; the connection is lost after them if there were more.
    init(recorded pieces: [Data], isCut: Bool, status: HTTPResponse.Status, headerFields: HTTPFields) {
        self.init(.pieces(pieces), status)
        self.headerFields = headerFields
        end = isCut ? .lost : .complete
    }

    func sent(
        to request: Transport.Request, _ original: Transport, _ encoder: JSONEncoder
    ) async throws -> Transport.Response {
        if delay > .zero { try await Self.wait(for: delay, request) }
        let pieces: [Data]
        switch content {
        case .network: return try await HTTPStubs.network { try await original.send(request) }
        case .error(let error):
            if end == .stalls { try await Self.wait(for: nil, request) }
            throw error
        case .pieces(let all): pieces = all
        case .data(let make):
            do {
                pieces = [try make(encoder)]
            } catch {
                throw error as? StubMistake ?? StubMistake("\(error)")
            }
        }
        return Transport.Response(
            status: status, headerFields: headerFields,
            body: request.urlRequest.httpMethod == "HEAD" ? .init() : body(pieces, of: request))
    }

    private func body(_ all: [Data], of request: Transport.Request) -> ResponseBody {
        guard all.count > 1 || chunk != nil || end != .complete else { return ResponseBody(all.first ?? Data()) }
        var pieces = all
        if let length { pieces = [Data(all.joined().prefix(length))] }
        if let chunk {
            let whole = Data(pieces.joined())
            pieces = stride(from: 0, to: whole.count, by: chunk).map { whole[$0..<min($0 + chunk, whole.count)] }
        }
        let rest = Locked(pieces.enumerated().makeIterator())
        return ResponseBody(
            AsyncThrowingStream { [interval, end] in
                if let (index, piece) = rest.withLock({ $0.next() }) {
                    if index > 0, interval > .zero { try await Self.wait(for: interval, request) }
                    return piece
                }
                if end == .complete { return nil }
                if end == .stalls { try await Self.wait(for: nil, request) }
                throw URLError(.networkConnectionLost)
            })
    }

    /// Waits without a byte, at most as long as a real transport does.
    ///
    /// - Parameter time: The time; `nil` for ever.
    private static func wait(for time: Duration?, _ request: Transport.Request) async throws {
        let limit = request.silenceLimit ?? .seconds(1_000_000)
        guard let time, time < limit else {
            try await request.clock.sleep(for: limit)
            throw URLError(.timedOut)
        }
        try await request.clock.sleep(for: time)
    }
}

/// Responds to a request that a route has claimed; it also receives the transport of the call.
///
/// It throws ``StubMistake`` if the test has made one, and the errors of the response.
typealias StubResponder = @Sendable (Transport.Request, Transport, JSONEncoder) async throws -> Transport.Response
