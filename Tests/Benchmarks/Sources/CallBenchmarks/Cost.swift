import Foundation

/// What a piece of work has cost this process, in nanoseconds.
struct Cost {
    var processor: Double
    var wall: Double

    /// What a piece of work costs.
    ///
    /// The processor time includes all threads, in the system as well. It is read a moment late, so that what threads
    /// of a session still do after the last response counts.
    static func of(_ work: () async throws -> Void) async throws -> Self {
        let processor = processorTime()
        let start = ContinuousClock.now
        try await work()
        let wall = start.duration(to: .now)
        try await Task.sleep(for: .milliseconds(5))
        return Self(processor: processorTime() - processor, wall: wall / .nanoseconds(1))
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
