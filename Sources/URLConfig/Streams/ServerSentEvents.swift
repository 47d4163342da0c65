/// The events of a server, over as many connections as it takes, to read in a loop.
///
/// See ``Foundation/URLSession/events(for:config:lastEventID:fileID:line:_:)``.
public struct ServerSentEvents: AsyncSequence, Sendable {
    private static let lastEventID = "Last-Event-ID"
    /// Servers refuse long fields, and then no connection would be made again.
    private static let longestID = 4096

    private let session: URLSession
    @Shared private var config: URLSession.Config
    private let request: URLRequest
    private let firstID: String
    private let fileID: String
    private let line: UInt

    init(
        session: URLSession, config: URLSession.Config, request: URLRequest, lastEventID: String?, fileID: String,
        line: UInt
    ) {
        var config = config
        // A connection is one attempt, and the next one is its retry.
        config.retry.attempts = 1
        (config.fallback, config.responseLimit, config.cache) = (nil, nil, nil)
        var request = request
        for (name, value) in [("Accept", "text/event-stream"), ("Cache-Control", "no-store")]
        where request.value(forHTTPHeaderField: name) == nil {
            request.setValue(value, forHTTPHeaderField: name)
        }
        if request.cachePolicy == .useProtocolCachePolicy { request.cachePolicy = .reloadIgnoringLocalCacheData }
        firstID = lastEventID ?? request.value(forHTTPHeaderField: Self.lastEventID) ?? ""
        (self.session, self.config, self.request) = (session, config, request)
        (self.fileID, self.line) = (fileID, line)
    }

    /// Begins with a connection of its own, at the first event that is read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: self, lastEventID: firstID) }

    /// - Parameters:
    ///   - lastEventID: The last ID of the connection before; empty for none.
    ///   - origin: The origin of this ID, the only one that receives it.
    ///   - sent: The last request of the connections, as it was authorized.
    private func connection(
        after lastEventID: String, from origin: Origin, _ sent: Locked<URLRequest?>
    ) -> EventConnection {
        let id = Self.fieldValue(lastEventID)
        var (request, config) = (request, config)
        request.setValue(origin == Origin(request.url) ? id : nil, forHTTPHeaderField: Self.lastEventID)
        config.redirects = config.redirects.adding(id, for: Self.lastEventID, at: origin)
        let call = Call(
            session: session, config: config, fileID: fileID, line: line, isStream: true, reconnects: true,
            sentByLoop: sent)
        return EventConnection(request, lastEventID: lastEventID, of: call)
    }

    /// The ID for the field; `nil` if there is none or it cannot be sent.
    ///
    /// Another ID in its place could name another event.
    private static func fieldValue(_ id: String) -> String? {
        // Spaces around the value of a field do not belong to it (RFC 9110 §5.5).
        let hasEnds = id.first?.isWhitespace == false && id.last?.isWhitespace == false
        return hasEnds && !id.hasControlCharacter && id.utf8.count <= longestID ? id : nil
    }

    /// Reads the events.
    ///
    /// The transfer ends when it is released.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        fileprivate let source: ServerSentEvents
        private var lastEventID: String
        /// The origin that has sent the last ID.
        private var origin: Origin
        private let sent = Locked(URLRequest?.none)
        private var connection: EventConnection?
        private var reconnection = Reconnection()
        /// Whether the last connection has failed: of many in a row, only the first failure is logged as an error.
        private var isFailing = false
        private var isOver = false

        fileprivate init(source: ServerSentEvents, lastEventID: String) {
            self.source = source
            self.lastEventID = lastEventID
            origin = Origin(source.request.url)
        }

        /// The next event; `nil` after the server has ended the events with the status 204.
        ///
        /// After the end or an error, it always returns `nil`.
        public mutating func next() async throws -> ServerSentEvent? {
            do {
                while !isOver {
                    try Task.checkCancellation()
                    if connection == nil { connection = source.connection(after: lastEventID, from: origin, sent) }
                    if let event = try await connection?.next() { return event }
                    try await wait()
                }
                return nil
            } catch {
                end()
                throw Task.isCancelled ? CancellationError() : error
            }
        }

        private mutating func end() { (connection, isOver) = (nil, true) }

        /// Waits before the next connection, if there is one.
        private mutating func wait() async throws {
            guard let old = connection, var loss = old.loss else { return end() }
            connection = nil
            // As bytes: an ID that only looks the same is another one, and comparing characters may take quadratic
            // time.
            let newID = old.parser.lastEventID
            if !newID.hasBytes(of: lastEventID) { (lastEventID, origin) = (newID, old.origin) }
            let longest = source.config.retry.longestRetryAfter
            if let retry = old.parser.retry { reconnection.time = Swift.min(retry, longest) }
            loss.retryAfter = loss.retryAfter.map { Swift.min($0, longest) }
            if let failure = loss.failure, !isFailing { old.log(failure) }
            isFailing = loss.failure != nil
            let delay = reconnection.delay(after: loss, jitter: .random(in: 0...1))
            old.willReconnect(after: delay)
            try await old.clock.sleep(for: delay)
        }
    }
}

extension ServerSentEvents: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("request", request.summary(config.redaction.knowing(request)))] }
}

extension ServerSentEvents.AsyncIterator: RedactedReflectable {
    var shownChildren: [(String, Any?)] { source.shownChildren }
}
