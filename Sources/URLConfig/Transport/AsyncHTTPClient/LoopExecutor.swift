#if AsyncHTTPClient

import AsyncHTTPClient
import NIOCore

/// Runs a task on the thread of an event loop.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class LoopExecutor: TaskExecutor {
    /// AsyncHTTPClient prefers a connection of the event loop on which it is called.
    static let ofLibrary = LoopExecutor(HTTPClient.defaultEventLoopGroup.next())

    private let loop: any EventLoop

    private init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Where requests of the library's clients are sent.
///
/// Request and response go back and forth between a task and the event loop of the connection, and each time one thread
/// wakes another. If there is only one request, it runs on one thread instead, which saves a quarter of the processor
/// time of a small call. If there are many, their threads are awake anyway, and one thread would have too much to do.
enum RequestsUnderWay {
    private static let count = Locked(0)

    /// Sends a request, on the thread of an event loop if no other request is under way.
    ///
    /// - Parameter operation: Never blocks, and calls no code of the caller.
    static func adding<Value: Sendable>(_ operation: () async throws -> Value) async throws -> Value {
        let isOnlyOne = count.withLock { count in
            count += 1
            return count == 1
        }
        defer { count.withLock { $0 -= 1 } }
        guard isOnlyOne, #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
            return try await operation()
        }
        return try await withTaskExecutorPreference(LoopExecutor.ofLibrary, operation: operation)
    }
}

#endif
