import Foundation
import Testing

/// A directory of one test, which is removed with this object.
final class TemporaryDirectory: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(component: "URLConfigTests-\(UUID().uuidString)")

    init() {
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        } catch {
            Issue.record(error)
        }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The names of all files.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false)).sorted() }
    }

    func file(_ name: String, _ content: Data = Data()) throws -> URL {
        let file = url.appending(component: name, directoryHint: .notDirectory)
        try content.write(to: file)
        return file
    }

    /// A file that consists of zeros, which take no room on the disk.
    func sparseFile(_ name: String, size: Int64) throws -> URL {
        let file = try file(name)
        try file.setSize(size)
        return file
    }

    func pipe(_ name: String) throws -> URL {
        let file = url.appending(component: name, directoryHint: .notDirectory)
        guard mkfifo(file.path(percentEncoded: false), 0o600) == 0 else { throw POSIXError(.EIO) }
        return file
    }
}

extension URL {
    /// Makes this file longer, with zeros, or shorter.
    func setSize(_ size: Int64) throws {
        let handle = try FileHandle(forUpdating: self)
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
    }
}
