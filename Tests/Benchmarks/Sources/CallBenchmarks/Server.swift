import Foundation

/// The server, in a process of its own: it ends with this one.
struct Server {
    private let commands = Pipe()
    private let answers = Pipe()
    private let port: String

    init() throws {
        let process = Process()
        process.executableURL = try executable().deletingLastPathComponent().appendingPathComponent("BenchmarkServer")
        process.standardInput = commands
        process.standardOutput = answers
        try process.run()
        port = Self.line(answers)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The requests so far and the processor time, in nanoseconds, that the server has used.
    func load() -> (requests: Int, processorTime: Int) {
        commands.fileHandleForWriting.write(Data("load\n".utf8))
        let numbers = Self.line(answers).split(separator: " ").compactMap { Int($0) }
        return (numbers[0], numbers[1])
    }

    private static func line(_ pipe: Pipe) -> String {
        String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

extension URL {
    /// Another URL of the same server.
    func sibling(_ path: String) -> URL { URL(string: path, relativeTo: self)?.absoluteURL ?? self }
}

/// This program's file.
func executable() throws -> URL {
    guard let url = Bundle.main.executableURL else { throw CocoaError(.fileNoSuchFile) }
    return url
}
