import Benchmark

/// Every row of the table; the harness calls this.
let benchmarks: @Sendable () -> Void = {
    buildGet()
    buildPost()
    decode()
}
