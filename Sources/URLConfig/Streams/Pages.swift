/// The pages of a list, which are requested one after the other.
///
/// ```swift
/// for try await page in session.pages(for: request) { … }                                      // DataResponse
/// for try await article in session.pages(for: request).values(of: [Article].self) { … }        // Article
/// ```
///
/// A page is requested when the loop needs it, not before. So nothing is sent after the loop has ended. Each loop
/// begins with the first page. A loop ends with the last page, with an error, or when the task is cancelled.
///
/// A request that was sent before ends the loop with an error, but a server can name new URLs without end. To limit
/// the number of pages, leave the loop.
public struct Pages: AsyncSequence, Sendable {
    let session: URLSession
    let request: URLRequest
    @Shared var config: URLSession.Config
    let fileID: String
    let line: UInt
    /// Makes the request for the page after this one; `nil` to follow links.
    let next: (@Sendable (DataResponse) throws -> URLRequest?)?

    /// Begins with the first page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self) }

    /// Requests the pages.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private enum State {
            case start
            case page(DataResponse)
            case end
        }

        private let pages: Pages
        private var state = State.start
        private var requested: Set<Fingerprint> = []
        /// Whether a page came from another origin than that of the first request: then its links are not trusted.
        private var isForeign = false

        fileprivate init(pages: Pages) {
            self.pages = pages
        }

        /// Requests the next page; `nil` after the last page and after an error.
        ///
        /// - Throws: The errors that ``Foundation/URLSession/pages(for:config:fileID:line:_:next:)`` lists.
        public mutating func next() async throws -> DataResponse? {
            // This runs on no actor, and so does the function of the caller.
            let last = state
            // Errors leave it at the end.
            state = .end
            guard let request = try request(after: last) else { return nil }
            isForeign = isForeign || pages.next == nil && Origin(request.url) != Origin(pages.request.url)
            let page = try await pages.page(request, isForeign: isForeign)
            state = .page(page)
            return page
        }

        /// Nothing is requested any more.
        mutating func end() {
            state = .end
        }

        private mutating func request(after last: State) throws -> URLRequest? {
            let next: URLRequest?
            let page: DataResponse?
            switch last {
            case .start: (next, page) = (pages.request, nil)
            case .page(let last):
                try Task.checkCancellation()
                isForeign = pages.next == nil && (isForeign || Origin(last.url) != Origin(pages.request.url))
                (next, page) = (try pages.request(after: last, isForeign: isForeign), last)
            case .end: return nil
            }
            guard let next else { return nil }
            guard let fingerprint = Fingerprint(next) else { return next }
            guard requested.insert(fingerprint).inserted else {
                let shown = next.summary(page?.shownRedaction ?? pages.config.redaction)
                throw RequestError(
                    .invalidResponse, reason: "the next page, \(shown), was requested before; the pages form a loop",
                    response: page)
            }
            return next
        }
    }
}

extension Pages {
    private func page(_ request: URLRequest, isForeign: Bool) async throws -> DataResponse {
        let isForeign = isForeign || Origin(request.url) != Origin(self.request.url)
        var config = config
        config.redaction = config.redaction.knowing(self.request)
        return try await Call(session: session, config: config, fileID: fileID, line: line, isForeign: isForeign)
            .response(for: request).validated()
    }

    private func request(after page: DataResponse, isForeign: Bool) throws -> URLRequest? {
        guard let next else { return try request(linkedBy: page, isForeign: isForeign) }
        return try next(page)
    }

    private func request(linkedBy page: DataResponse, isForeign: Bool) throws -> URLRequest? {
        guard let link = page.links["next"], let url = request.url else { return nil }
        var next = request
        do {
            next.url = try Optional(link.target.withLowercasedScheme).checked(asTargetFrom: url)
        } catch {
            throw RequestError(unfollowed: page, "its target \(error.reason)")
        }
        // A redirect such as 303 has led from a search to its result.
        if page.request.httpMethod == "GET", !["GET", "HEAD"].contains(request.httpMethod) { next.becomeGET() }
        // Another page is another operation.
        if next.value(forHTTPHeaderField: IdempotencyKey.field) != nil {
            next.setValue(UUID().uuidString, forHTTPHeaderField: IdempotencyKey.field)
        }
        next =
            isForeign
            ? next.withoutCredentials(config.redaction)
            : next.keepingCredentials(for: request, config.redaction)
        do {
            try config.transport.forThisTask.check(next)
        } catch {
            throw RequestError(unfollowed: page, error.reason)
        }
        return next
    }

    /// Identifies a request without keeping its body.
    ///
    /// Two hashes of the same state are as good as one with twice the bits: equal ones by chance are so unlikely that
    /// they need no thought, also where an `Int` has 32 bits. A server cannot provoke them, because the seed is random.
    private struct Fingerprint: Hashable {
        private let first: Int
        private let second: Int

        /// `nil` for a request whose body is not known before it is sent.
        init?(_ request: URLRequest) {
            guard request.httpBodyStream == nil else { return nil }
            var request = request
            request.setValue(nil, forHTTPHeaderField: IdempotencyKey.field)
            var hasher = Hasher()
            hasher.combine(request.httpMethod)
            hasher.combine(request.url.map { Substring($0.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") }) })
            // Some APIs take the cursor in a field.
            hasher.combine(request.allHTTPHeaderFields)
            // Data's own hash ignores all but its first 80 bytes.
            request.httpBody?.withUnsafeBytes { hasher.combine(bytes: $0) }
            var other = hasher
            other.combine(true)
            (first, second) = (hasher.finalize(), other.finalize())
        }
    }
}

extension Pages: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("request", request.summary(config.redaction.knowing(request)))] }
}

extension RequestError {
    fileprivate init(unfollowed page: DataResponse, _ reason: String) {
        self.init(.invalidResponse, reason: "the link to the next page is not followed: \(reason)", response: page)
    }
}
