import Foundation

/// Runs long work on a thread of its own: those that run tasks are few, and other tests wait for them.
enum OwnThread {
    static func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: work()) }.start()
        }
    }
}
