import Foundation

/// Runs long work on a new thread, because other tests need the few threads that run tasks.
enum OwnThread {
    static func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: work()) }.start()
        }
    }
}
