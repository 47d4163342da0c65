import Foundation
import Testing

/// Runs commands in the system's POSIX shell.
enum Shell {
    /// The words that a command line hands to curl, and what it pipes in.
    struct Call: Equatable {
        var words: [String]
        var input = Data()
    }

    /// What curl would be called with.
    static func curlCall(_ line: String) throws -> Call {
        // The number of words, then each of them with a NUL, which no word can hold, then the input.
        var rest = try run(
            """
            curl() {
                printf '%s\\000' "$#"
                for word; do printf '%s\\000' "$word"; done
                cat
            }
            \(line)
            """)[...]
        var words: [String] = []
        while words.count < 1 + (words.first.flatMap { Int($0) } ?? 0), let end = rest.firstIndex(of: 0) {
            words.append(String(decoding: rest[..<end], as: UTF8.self))
            rest = rest[(end + 1)...]
        }
        return Call(words: Array(words.dropFirst()), input: Data(rest))
    }

    /// What a script prints.
    static func run(_ script: String) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        let (output, failure) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = failure
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        let message = try failure.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(String(decoding: message, as: UTF8.self) == "")
        #expect(process.terminationStatus == 0)
        return data
    }
}
