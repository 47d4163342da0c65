import Foundation

/// How many times as long a work takes for eight times as much: 8 where the time is linear, 64 where it grows with the
/// square.
///
/// Time of the processor, the least of three, so that what else runs hardly counts. A test asks for less than 24, to be
/// far from both.
///
/// - Parameter count: The middle of the two sizes: half of it and four times it are tried.
func growth(from count: Int, _ work: (Int) throws -> Void) rethrows -> Double {
    func time(_ count: Int) throws -> Double {
        let times = try (0..<3).map { _ in
            let start = processorTime()
            try work(count)
            return processorTime() - start
        }
        return times.min() ?? 0
    }
    let once = try time(count / 2)
    return try time(4 * count) / once
}

/// Seconds that this thread has run.
private func processorTime() -> Double {
    // Two words, since the members of `timespec` cannot be imported in a release build on Linux.
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 2) { time in
        time.withMemoryRebound(to: timespec.self) { time in
            if let time = time.baseAddress { clock_gettime(CLOCK_THREAD_CPUTIME_ID, time) }
        }
        return Double(time[0]) + Double(time[1]) / 1e9
    }
}
