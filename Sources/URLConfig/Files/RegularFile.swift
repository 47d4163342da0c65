/// A regular file that is read while it is sent.
///
/// Nothing else is read: a device may never end. Opening a pipe does not block.
struct RegularFile: Sendable {
    /// The bytes that are read at once.
    private static let pieceSize = 1 << 18

    /// What tells whether the content is still the same.
    struct Version: Sendable {
        /// The number of bytes.
        let size: Int64
        /// When it was changed last, in nanoseconds since 1970.
        let modified: Int64
    }

    /// The content when the file was opened.
    let version: Version
    var size: Int64 { version.size }
    private let name: String
    private let file: File

    /// Opens a file.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if there is no regular file at this
    ///   URL that can be read, or if it is longer than its size, as in `/proc`. The reason has only the file's name.
    init(_ url: URL) throws {
        let name = url.lastPathComponent
        // Foundation's functions do not agree on where a path that contains NUL ends.
        guard url.isFileURL, !url.path(percentEncoded: false).utf8.contains(0),
            let path = url.withUnsafeFileSystemRepresentation({ $0.map { String(cString: $0) } })
        else {
            throw RequestError.refused("'\(name)' is not a file URL")
        }
        (file, version) = try Self.reading(name) {
            let file = try File(path, O_RDONLY, followsLinks: true)
            let status = try file.status()
            guard status.isRegular else {
                let reason = status.isDirectory ? "is a directory" : "is not a regular file"
                throw RequestError.refused("'\(name)' \(reason); only a regular file can be sent")
            }
            let more = try file.bytes(at: status.size, count: 1).count
            try Self.check(name, status.size + Int64(more), wasOnce: status.size)
            return (file, Version(size: status.size, modified: status.modified))
        }
        self.name = name
    }

    /// Passes the content to a function, in pieces.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the file cannot be read, or if it
    ///   is not as long as it was when it was opened; the errors of the function.
    func forEachPiece(_ use: (Data) throws -> Void) throws {
        var count: Int64 = 0
        while true {
            let piece = try Self.reading(name) { try file.bytes(at: count, count: Self.pieceSize) }
            count += Int64(piece.count)
            // A file that grows all the time would never end.
            guard !piece.isEmpty, count <= size else { break }
            try use(piece)
        }
        try Self.check(name, count, wasOnce: size)
    }

    /// Checks that the content is the one that the file had before.
    func check(isStill former: Version) throws(RequestError) {
        try Self.check(name, size, wasOnce: former.size)
        guard version.modified == former.modified else {
            throw .refused("the file '\(name)' was changed since the upload began; send a copy of it")
        }
    }

    /// Checks that a file is as long as it was.
    static func check(_ name: String, _ size: Int64, wasOnce former: Int64) throws(RequestError) {
        guard size != former else { return }
        let now = size > former ? "more" : "\(size)"
        throw .refused("the file '\(name)' had \(former) bytes, but now it has \(now); send a copy of it")
    }

    private static func reading<Result>(_ name: String, _ work: () throws -> Result) throws -> Result {
        try File.attempt(nil, "the file '\(name)' cannot be read", work)
    }
}
