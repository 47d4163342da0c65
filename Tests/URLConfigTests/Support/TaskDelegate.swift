import URLConfig

/// A caller's delegate with decisions that a test sets.
final class TaskDelegate: NSObject, URLSessionTaskDelegate {
    typealias Redirected = @Sendable (HTTPURLResponse, URLRequest, (URLRequest?) -> Void) -> Void

    private let redirected: Redirected
    private let stream: @Sendable () -> InputStream?

    init(
        redirected: @escaping Redirected = { _, next, answer in answer(next) },
        stream: @escaping @Sendable () -> InputStream? = { nil }
    ) {
        self.redirected = redirected
        self.stream = stream
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        redirected(response, request, completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(stream())
    }
}
