import Benchmark
import Foundation

/// Another way to do a piece of work, and how our own must compare.
struct Rival {
    let name: String
    /// The most that ours may cost, as a multiple of this way; `nil` if it is shown for information.
    var target: Double?
    let work: () -> Void

    /// `run` reads the name; the target is in thousandths.
    var metric: BenchmarkMetric {
        .custom("\(name), ns, target \(target.map { "\(Int($0 * 1000))" } ?? "none")", useScalingFactor: false)
    }
}

/// Measures our way and the others in turn, a batch each, so that what disturbs the machine disturbs all of them alike.
func contest(_ name: String, batch: Int, ours: @escaping () -> Void, rivals: [Rival]) {
    let own = BenchmarkMetric.custom("ours, ns", useScalingFactor: false)
    let metrics = [own] + rivals.map(\.metric)
    let units = Dictionary(uniqueKeysWithValues: metrics.map { ($0, BenchmarkUnits.count) })
    Benchmark(
        name,
        configuration: .init(
            metrics: metrics, units: units, warmupIterations: 10, maxDuration: .seconds(6), maxIterations: 100_000)
    ) { benchmark in
        benchmark.measurement(own, processorTime(of: batch, ours) / batch)
        for rival in rivals {
            benchmark.measurement(rival.metric, processorTime(of: batch, rival.work) / batch)
        }
    }
}

/// Processor time of this process, in nanoseconds: time in which something else runs does not count.
private func processorTime(of batch: Int, _ work: () -> Void) -> Int {
    let start = processorTime()
    for _ in 0..<batch { work() }
    return processorTime() - start
}

private func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
