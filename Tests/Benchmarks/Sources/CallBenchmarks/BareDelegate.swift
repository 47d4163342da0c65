import Synchronization
import URLConfig

/// A session's delegate written by hand, with no more than a call needs, and no URL cache.
struct BareDelegate: Way {
    static let name = "bare delegate"

    private let collector = Collector()
    private let session: URLSession
    private let decoder = JSONDecoder()

    init() {
        session = URLSession(configuration: .ephemeralWithoutCache, delegate: collector, delegateQueue: nil)
    }

    func data(for request: URLRequest) async throws -> Data {
        let task = session.dataTask(with: request)
        let (data, response) = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { collector.start(task, $0) }
        } onCancel: {
            task.cancel()
        }
        guard let response = response as? HTTPURLResponse, response.statusCode == 200 else {
            throw URLError(.badServerResponse)
        }
        return data
    }

    func article(for request: URLRequest) async throws -> Article {
        try await decoder.decode(Article.self, from: data(for: request))
    }
}

/// Puts together what arrives for each task.
private final class Collector: NSObject, URLSessionDataDelegate {
    typealias Continuation = CheckedContinuation<(Data, URLResponse?), any Error>

    private struct Call {
        var continuation: Continuation
        var data = Data()
    }

    private let calls = Mutex<[Int: Call]>([:])

    func start(_ task: URLSessionTask, _ continuation: Continuation) {
        calls.withLock { $0[task.taskIdentifier] = Call(continuation: continuation) }
        task.resume()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let length = response.expectedContentLength
        if length > 0 {
            calls.withLock { $0[dataTask.taskIdentifier]?.data.reserveCapacity(Int(clamping: length)) }
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        calls.withLock { $0[dataTask.taskIdentifier]?.data.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let call = calls.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error { return call.continuation.resume(throwing: error) }
        call.continuation.resume(returning: (call.data, task.response))
    }
}
