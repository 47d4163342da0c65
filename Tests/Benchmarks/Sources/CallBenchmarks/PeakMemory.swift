import Foundation

/// The most bytes of this process that were resident at once so far.
func peakMemory() -> Int {
    #if os(Linux)
    // Not ru_maxrss: on Linux a process inherits that of the one that started it.
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return (line.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first ?? 0) * 1024
    #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss
    #endif
}
