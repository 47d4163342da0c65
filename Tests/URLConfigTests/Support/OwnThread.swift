@testable import URLConfig

/// Runs long work on a thread that tasks do not use, because other tests need the few threads that run tasks.
enum OwnThread {
    static func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async throws -> Result {
        try await DispatchQueue(label: "OwnThread").run(work)
    }
}
