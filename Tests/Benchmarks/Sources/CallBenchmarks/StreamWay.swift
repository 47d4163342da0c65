import AsyncHTTPClient
import NIOCore
import Synchronization
import URLConfig

/// A way to read a body as it arrives, with a session of its own.
protocol StreamWay: Sendable {
    /// What the table calls it.
    var name: String { get }

    /// Reads the whole body.
    func read(_ request: URLRequest, isCompared: Bool) async throws -> Arrival
}

/// Ours: `stream(for:)` on a session of the usual ephemeral configuration.
struct OurStream: StreamWay {
    let name: String
    private let session = URLSession(configuration: .ephemeral)
    private let transport: Transport
    private let deadline: Duration?
    private let cache: HTTPCache?

    init(
        _ name: String = "ours, no deadline", transport: Transport = .urlSession, deadline: Duration? = nil,
        cache: HTTPCache? = nil
    ) {
        self.name = name
        self.transport = transport
        self.deadline = deadline
        self.cache = cache
    }

    func read(_ request: URLRequest, isCompared: Bool) async throws -> Arrival {
        var arrival = Arrival(isCompared: isCompared)
        for try await chunk in try await response(for: request).chunks { arrival.receive(chunk) }
        return arrival
    }

    func response(for request: URLRequest) async throws -> StreamResponse {
        try await session.stream(for: request) {
            $0.logger = nil
            $0.transport = transport
            $0.deadline = deadline
            $0.cache = cache
        }
        .validated()
    }
}

/// The whole body at once.
struct WholeBody: StreamWay {
    let name = "data(for:)"

    private let way = ByHand()

    func read(_ request: URLRequest, isCompared: Bool) async throws -> Arrival {
        var arrival = Arrival(isCompared: isCompared)
        arrival.receive(try await way.data(for: request))
        return arrival
    }
}

/// As AsyncHTTPClient's documentation does it.
struct BareAsyncHTTPClientStream: StreamWay {
    let name = "bare AsyncHTTPClient"

    func read(_ request: URLRequest, isCompared: Bool) async throws -> Arrival {
        var arrival = Arrival(isCompared: isCompared)
        for try await piece in try await BareAsyncHTTPClient().response(to: request).body {
            arrival.receive(Data(buffer: piece))
        }
        return arrival
    }
}

/// A session's delegate written by hand, which uses each piece when it is called and keeps nothing.
struct BareDelegateStream: StreamWay {
    let name = "bare delegate"

    private let counter = Counter()
    private let session: URLSession

    init() {
        session = URLSession(configuration: .ephemeralWithoutCache, delegate: counter, delegateQueue: nil)
    }

    func read(_ request: URLRequest, isCompared: Bool) async throws -> Arrival {
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { counter.start(task, Arrival(isCompared: isCompared), $0) }
        } onCancel: {
            task.cancel()
        }
    }
}

/// Counts what arrives for each task.
private final class Counter: NSObject, URLSessionDataDelegate {
    typealias Continuation = CheckedContinuation<Arrival, any Error>

    private let calls = Mutex<[Int: (continuation: Continuation, arrival: Arrival)]>([:])

    func start(_ task: URLSessionTask, _ arrival: Arrival, _ continuation: Continuation) {
        calls.withLock { $0[task.taskIdentifier] = (continuation, arrival) }
        task.resume()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        calls.withLock { $0[dataTask.taskIdentifier]?.arrival.receive(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let call = calls.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error { return call.continuation.resume(throwing: error) }
        guard let response = task.response as? HTTPURLResponse, response.statusCode == 200 else {
            return call.continuation.resume(throwing: URLError(.badServerResponse))
        }
        call.continuation.resume(returning: call.arrival)
    }
}
