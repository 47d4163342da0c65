import Foundation

/// How far the memory of a process grows at most for a piece of work, which has a process of its own.
enum PeakMemory {
    /// Starts the process, in which ``CallBenchmarks`` finds the work by its name.
    ///
    /// - Returns: The bytes of growth.
    static func growth(work: String, url: String) throws -> Double {
        let process = Process()
        let output = Pipe()
        process.executableURL = try executable()
        process.arguments = ["peak", work, url]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard let growth = Double(text.trimmingCharacters(in: .newlines)) else { throw CocoaError(.coderReadCorrupt) }
        return growth
    }

    /// Does the work in this process, and prints the bytes of growth.
    static func printGrowth(_ work: () async throws -> Void) async throws {
        let before = peakMemory()
        try await work()
        print(peakMemory() - before)
    }
}

/// The most bytes of this process that were resident at once so far.
private func peakMemory() -> Int {
    #if os(Linux)
    // Not ru_maxrss: on Linux a process inherits it from the one that started it.
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return (line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0) * 1024
    #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss
    #endif
}
