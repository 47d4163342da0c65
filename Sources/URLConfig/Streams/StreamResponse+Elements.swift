extension StreamResponse {
    /// The body in pieces as they arrive.
    ///
    /// Reading throws `URLError` if the transfer fails, ``RequestError`` if the deadline passes, the body is longer
    /// than ``Foundation/URLSession/Config/responseLimit`` or was already read, and `CancellationError` if the task is
    /// cancelled.
    public var chunks: Elements<Data> { Elements(body) { $0 } }

    /// The parts of a body, such as its lines, as they arrive.
    public struct Elements<Element: Sendable>: AsyncSequence, Sendable {
        /// Returns the next element; `nil` after the last one.
        ///
        /// The transfer ends when it is released.
        typealias Next = () async throws -> Element?

        private let body: StreamBody
        private let makeNext: @Sendable (@escaping StreamBody.Next) -> Next

        /// - Parameter makeNext: Makes the function that returns the elements from the one that returns the pieces.
        init(_ body: StreamBody, _ makeNext: @escaping @Sendable (@escaping StreamBody.Next) -> Next) {
            self.body = body
            self.makeNext = makeNext
        }

        /// Begins to read, for one loop only.
        public func makeAsyncIterator() -> AsyncIterator {
            do {
                return AsyncIterator(nextElement: makeNext(try body.read()))
            } catch {
                return AsyncIterator { throw error }
            }
        }

        /// Reads the elements, until it is released.
        public struct AsyncIterator: AsyncIteratorProtocol {
            /// `nil` after an error.
            fileprivate var nextElement: Next?

            /// The next element; `nil` at the end of the body and after an error.
            public mutating func next() async throws -> Element? {
                do {
                    // Elements that have already arrived come without waiting.
                    try Task.checkCancellation()
                    return try await nextElement?()
                } catch {
                    nextElement = nil
                    throw error
                }
            }
        }
    }
}
