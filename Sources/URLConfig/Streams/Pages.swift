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
/// The body of the request is sent to its origin only: if there is a body, a link to another origin is an error. With
/// requests of your own, you decide.
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
    public func makeAsyncIterator() -> Values<DataResponse>.AsyncIterator {
        Values(pages: self) { [$0] }.makeAsyncIterator()
    }

    /// Requests the pages.
    fileprivate struct Requests: Sendable {
        private let pages: Pages
        /// The page before; `nil` at the beginning.
        private var last: DataResponse?
        /// The digests of the requests; their key is random, so that a server cannot provoke equal ones.
        private var requested: Set<Digest> = []
        private let key = Digest.Key()
        private let sent = Locked(URLRequest?.none)
        /// Whether a page came from another origin than the first request's: then its links are not trusted.
        private var isForeign = false

        init(pages: Pages) { self.pages = pages }

        /// Requests the next page; `nil` after the last page, after which, and after an error, it is not called again.
        mutating func next() async throws -> DataResponse? {
            // This runs on no actor, and so does the function of the caller.
            guard let request = try request() else { return nil }
            notes(Origin(request.url))
            last = try await pages.page(request, sent, isForeign: isForeign)
            return last
        }

        /// A page comes from this origin.
        private mutating func notes(_ origin: Origin) {
            isForeign = isForeign || pages.next == nil && origin != Origin(pages.request.url)
        }

        private mutating func request() throws -> URLRequest? {
            var next: URLRequest? = pages.request
            if let last {
                try Task.checkCancellation()
                notes(Origin(last.url))
                next = try pages.request(after: last, isForeign: isForeign)
            }
            guard let next, let identity = next.identity else { return next }
            guard requested.insert(Digest(identity, key: key)).inserted else {
                let shown = next.summary(last?.shownRedaction ?? pages.config.redaction)
                throw RequestError(
                    .invalidResponse, reason: "the next page, \(shown), was requested before; the pages form a loop",
                    response: last)
            }
            return next
        }
    }

    private func page(
        _ request: URLRequest, _ sent: Locked<URLRequest?>, isForeign: Bool
    ) async throws -> DataResponse {
        let isForeign = isForeign || Origin(request.url) != Origin(self.request.url)
        var config = config
        config.redaction = config.redaction.knowing(self.request)
        let call = Call(
            session: session, config: config, fileID: fileID, line: line, isForeign: isForeign, sentByLoop: sent)
        return try await call.response(for: request).validated()
    }

    private func request(after page: DataResponse, isForeign: Bool) throws -> URLRequest? {
        if let next { return try next(page) }
        guard let link = page.links["next"], let url = request.url else { return nil }
        var next = request
        do {
            next.url = try Optional(link.target.withLowercasedScheme).checked(asTargetFrom: url)
        } catch {
            throw RequestError(unfollowed: page, "its target \(error.reason)")
        }
        // A redirect such as 303 has led from a search to its result.
        if page.request.httpMethod == "GET", !["GET", "HEAD"].contains(request.httpMethod) { next.becomeGET() }
        // The body may contain credentials.
        guard !next.hasBody || Origin(next.url) == Origin(url) else {
            throw RequestError(
                unfollowed: page, "it leads to another origin, which must not receive the body; use next: to send one")
        }
        // Another page is another operation.
        if next.value(forHTTPHeaderField: IdempotencyKey.field) != nil {
            next.setValue(UUID().uuidString, forHTTPHeaderField: IdempotencyKey.field)
        }
        next =
            isForeign
            ? next.withoutCredentials(config.redaction)
            : next.keepingCredentials(for: request, config.redaction)
        do {
            try config.transport.check(next)
        } catch {
            throw RequestError(unfollowed: page, error.reason)
        }
        return next
    }

    /// The elements of all pages, for an API whose pages are arrays.
    ///
    /// ```swift
    /// for try await article in session.pages(for: request).values(of: [Article].self) { … }
    /// ```
    ///
    /// - Parameter type: The type of a page, which ``DataResponse/decode(_:_:)`` decodes. A page with status 204 or 205
    ///   and no content has no elements.
    /// - Returns: The elements. Their loop throws the errors of the pages and of `decode`.
    public func values<Value: Decodable & Sendable>(of type: [Value].Type) -> Values<Value> {
        values(of: type) { $0 }
    }

    /// The elements of all pages, for an API whose pages contain an array and more.
    ///
    /// ```swift
    /// for try await article in session.pages(for: request).values(of: Envelope.self, \.items) { … }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of a page, which ``DataResponse/decode(_:_:)`` decodes. A page with status 204 or 205 and no
    ///     content has no elements.
    ///   - elements: The elements of a page. It does not run on the caller's actor.
    /// - Returns: The elements. Their loop throws the errors of the pages, of `decode` and of `elements`.
    public func values<Page: Decodable & Sendable, Value: Sendable>(
        of type: Page.Type, _ elements: @escaping @Sendable (Page) throws -> [Value]
    ) -> Values<Value> {
        Values(pages: self) { page in
            page.isWithoutContent ? [] : try elements(page.decode())
        }
    }

    /// The elements of all pages; a page is requested after the last element of the page before.
    public struct Values<Element: Sendable>: AsyncSequence, Sendable {
        fileprivate let pages: Pages
        fileprivate let elements: @Sendable (DataResponse) throws -> [Element]

        /// Begins with the first page.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(pages: Requests(pages: pages), elements: elements)
        }

        /// Requests and decodes the pages.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            /// Put back with each element, so that it is `nil` after the last page and after an error.
            fileprivate var pages: Requests?
            fileprivate let elements: @Sendable (DataResponse) throws -> [Element]
            /// The rest of the page.
            fileprivate var rest = [Element]().makeIterator()

            /// The next element; `nil` after the last one and after an error.
            ///
            /// - Throws: The errors of ``Foundation/URLSession/pages(for:config:fileID:line:_:next:)``, of `decode`
            ///   and of the function that returns the elements.
            public mutating func next() async throws -> Element? {
                // This runs on no actor, and so do the decoder and the function.
                guard var pages = pages.take() else { return nil }
                while true {
                    if let element = rest.next() {
                        try Task.checkCancellation()
                        self.pages = pages
                        return element
                    }
                    guard let page = try await pages.next() else { return nil }
                    rest = try elements(page).makeIterator()
                }
            }
        }
    }
}

extension Pages: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("request", request.summary(config.redaction.knowing(request)))] }
}

extension Pages.Values.AsyncIterator: RedactedReflectable {
    var shownChildren: [(String, Any?)] { [("isOver", pages == nil)] }
}

extension URLRequest {
    fileprivate var hasBody: Bool { httpBodyStream != nil || httpBody?.isEmpty == false }

    /// Distinguishes it from other requests; `nil` if its body is not known before it is sent.
    ///
    /// Some APIs take the cursor in a field, others in the body.
    fileprivate var identity: String? {
        guard httpBodyStream == nil else { return nil }
        var request = self
        request.setValue(nil, forHTTPHeaderField: IdempotencyKey.field)
        let url = String((url?.absoluteString ?? "").prefix { $0 != "#" })
        let fields = (request.allHTTPHeaderFields ?? [:]).map { "\($0.key): \($0.value)" }.sorted()
        let body = httpBody?.base64EncodedString() ?? ""
        return ([httpMethod ?? "", url] + fields + [body]).joined(separator: "\n")
    }
}

extension RequestError {
    fileprivate init(unfollowed page: DataResponse, _ reason: String) {
        self.init(.invalidResponse, reason: "the link to the next page is not followed: \(reason)", response: page)
    }
}
