extension StreamResponse {
    /// The body in pieces as they arrive.
    ///
    /// Reading throws `URLError` if the transfer fails, ``RequestError`` if the deadline passes, the body is longer
    /// than ``Foundation/URLSession/Config/responseLimit`` or was already read, and `CancellationError` if the task is
    /// cancelled.
    public var chunks: Elements<Data> { Elements(body) { { [body] in try await body.next() } } }

    /// The parts of a body, such as its lines, as they arrive.
    public struct Elements<Element: Sendable>: AsyncSequence, Sendable {
        private let body: BodyReader
        private let makeRead: @Sendable () -> () async throws -> Element?

        /// - Parameter makeRead: Makes a function that reads the next element.
        init(_ body: BodyReader, _ makeRead: @escaping @Sendable () -> () async throws -> Element?) {
            self.body = body
            self.makeRead = makeRead
        }

        /// Begins to read, for one loop only.
        public func makeAsyncIterator() -> AsyncIterator {
            do {
                try body.begin()
                return AsyncIterator(read: makeRead(), lease: Lease(body: body))
            } catch {
                return AsyncIterator(read: { throw error }, lease: nil)
            }
        }

        /// Reads the elements, until it is released.
        public struct AsyncIterator: AsyncIteratorProtocol {
            /// Reads the next element; `nil` after an error.
            fileprivate var read: (() async throws -> Element?)?
            fileprivate var lease: Lease?

            /// The next element; `nil` at the end of the body and after an error.
            public mutating func next() async throws -> Element? {
                do {
                    // Elements that have already arrived come without waiting.
                    try Task.checkCancellation()
                    return try await read?()
                } catch {
                    (read, lease) = (nil, nil)
                    throw error
                }
            }
        }
    }

    /// Ends the transfer when the loop that reads it is left.
    fileprivate final class Lease: Sendable {
        private let body: BodyReader

        init(body: BodyReader) {
            self.body = body
        }

        deinit { body.cancel() }
    }
}
