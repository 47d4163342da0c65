import Foundation
import Testing

/// Expects that work takes time in proportion to its size.
///
/// - Parameter count: A size between the two that are measured: half of it and four times it.
func expectLinearTime(
    from count: Int, sourceLocation: SourceLocation = #_sourceLocation, _ work: (Int) throws -> Void
) rethrows {
    #expect(try growth(from: count, work) < 24, sourceLocation: sourceLocation)
}

/// The factor of the time for eight times as much work: 8 for linear time, 64 for quadratic time.
///
/// It measures processor time, so that other work has little effect. Tests require less than 24, which is far from
/// both. A larger factor is measured again: other work may have had an effect after all.
///
/// - Parameter count: A size between the two that are measured: half of it and four times it.
func growth(from count: Int, _ work: (Int) throws -> Void) rethrows -> Double {
    var least = Double.infinity
    for _ in 0..<3 where least >= 24 {
        // A time that is too long would make the factor too small, so it is the shortest of three.
        let times = try (0..<3).map { _ in try processorTime { try work(count / 2) }.time }
        least = try min(least, processorTime { try work(4 * count) }.time / (times.min() ?? 0))
    }
    return least
}

/// The result of work on this thread, and its processor time in seconds, on which other work has little effect.
func processorTime<Result>(_ work: () throws -> Result) rethrows -> (result: Result, time: Double) {
    let start = processorTime()
    let result = try work()
    return (result, processorTime() - start)
}

/// The processor time of this thread in seconds.
private func processorTime() -> Double {
    // Two words, because the members of `timespec` cannot be imported in a release build on Linux.
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 2) { time in
        time.withMemoryRebound(to: timespec.self) { time in
            if let time = time.baseAddress { clock_gettime(CLOCK_THREAD_CPUTIME_ID, time) }
        }
        return Double(time[0]) + Double(time[1]) / 1e9
    }
}
