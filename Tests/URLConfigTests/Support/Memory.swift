#if os(Linux)
import Foundation

/// The memory of this process.
enum Memory {
    /// The peak memory until now, in bytes.
    static func peak() throws -> Int { try field("VmHWM:") }

    /// The current memory, in bytes.
    static func resident() throws -> Int { try field("VmRSS:") }

    private static func field(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}
#endif
