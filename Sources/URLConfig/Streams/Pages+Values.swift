extension Pages {
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
            let hasNoContent = page.data.isEmpty && [.noContent, .resetContent].contains(page.status)
            return hasNoContent ? [] : try elements(page.decode())
        }
    }

    /// The elements of all pages; a page is requested after the last element of the page before.
    public struct Values<Element: Sendable>: AsyncSequence, Sendable {
        let pages: Pages
        let elements: @Sendable (DataResponse) throws -> [Element]

        /// Begins with the first page.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(pages: pages.makeAsyncIterator(), elements: elements)
        }

        /// Requests and decodes the pages.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            fileprivate var pages: Pages.AsyncIterator
            fileprivate let elements: @Sendable (DataResponse) throws -> [Element]
            /// The rest of the page.
            private var rest = [Element]().makeIterator()

            fileprivate init(
                pages: Pages.AsyncIterator, elements: @escaping @Sendable (DataResponse) throws -> [Element]
            ) {
                self.pages = pages
                self.elements = elements
            }

            /// The next element; `nil` after the last one and after an error.
            ///
            /// - Throws: The errors of the pages, of `decode` and of the function that returns the elements.
            public mutating func next() async throws -> Element? {
                // This runs on no actor, and so do the decoder and the function.
                do {
                    while true {
                        if let element = rest.next() {
                            try Task.checkCancellation()
                            return element
                        }
                        guard let page = try await pages.next() else { return nil }
                        rest = try elements(page).makeIterator()
                    }
                } catch {
                    rest = [].makeIterator()
                    pages.end()
                    throw error
                }
            }
        }
    }
}
