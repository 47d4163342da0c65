import Foundation
import Testing

/// Runs commands in the system's POSIX shell.
enum Shell {
    /// The arguments and the standard input that a command line passes to curl.
    struct Call: Equatable {
        var words: [String]
        var input = Data()
    }

    /// The arguments and the input of curl for a command line.
    static func curlCall(_ line: String) throws -> Call {
        // The number of words, then each word with a NUL, which no word can contain, then the input.
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

    /// The output of a script; other platforms run no commands.
    static func run(_ script: String) throws -> Data {
        #if os(Linux) || os(macOS)
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
        #else
        throw CocoaError(.featureUnsupported)
        #endif
    }
}
