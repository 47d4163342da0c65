/// A regular file that is open for reading.
///
/// Nothing else is opened: a pipe would block, and a device may never end.
struct RegularFile: ~Copyable {
    /// The bytes that are read at once.
    private static let pieceSize = 1 << 18

    private struct Descriptor: ~Copyable {
        let number: Int32

        deinit { close(number) }
    }

    /// The number of bytes when the file was opened.
    let size: Int64
    private let name: String
    private let descriptor: Descriptor

    /// Opens a file.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if there is no regular file at this
    ///   URL that can be read, or if it is longer than its size, as in `/proc`. The reason has only the file's name.
    init(_ url: URL) throws(RequestError) {
        let name = url.lastPathComponent
        let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } }
        // Foundation's functions do not agree on where a path that contains NUL ends.
        guard url.isFileURL, let path, !url.path(percentEncoded: false).utf8.contains(0) else {
            throw .refused(.invalidRequest, "the URL of '\(name)' is not that of a file")
        }
        let found = try Self.reading(name) { () throws(POSIXError) in try FileStatus(path, followsLinks: true) }
        try Self.checkIsRegular(name, found)
        // A pipe that has just taken the place of the file would block without O_NONBLOCK.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let number = try Self.reading(name) { () throws(POSIXError) in try POSIXError.call { open(path, flags) } }
        let descriptor = Descriptor(number: number)
        var status = stat()
        _ = try Self.reading(name) { () throws(POSIXError) in try POSIXError.call { fstat(number, &status) } }
        try Self.checkIsRegular(name, FileStatus(status))
        let size = FileStatus(status).size
        var next: UInt8 = 0
        let more = try Self.reading(name) { () throws(POSIXError) in
            try POSIXError.call { pread(number, &next, 1, status.st_size) }
        }
        try Self.check(name, size + Int64(more), wasOnce: size)
        self.size = size
        self.name = name
        self.descriptor = descriptor
    }

    /// Passes the content to a function, in pieces.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the file cannot be read, or if it
    ///   is not as long as it was when it was opened; the errors of the function.
    func forEachPiece(_ use: (Data) throws -> Void) throws {
        var piece = Data(count: Self.pieceSize)
        var count: Int64 = 0
        let number = descriptor.number
        while true {
            let length = try Self.reading(name) { () throws(POSIXError) in
                try POSIXError.call { piece.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) } }
            }
            count += Int64(length)
            // A file that grows all the time would never end.
            guard length > 0, count <= size else { break }
            try use(piece.prefix(length))
        }
        try Self.check(name, count, wasOnce: size)
    }

    /// Checks that a file is as long as it was.
    static func check(_ name: String, _ size: Int64, wasOnce former: Int64) throws(RequestError) {
        guard size != former else { return }
        let now = size > former ? "more" : "\(size)"
        throw .refused(
            .invalidRequest, "the file '\(name)' had \(former) bytes, but now it has \(now); send a copy of it")
    }

    private static func checkIsRegular(_ name: String, _ status: FileStatus) throws(RequestError) {
        guard !status.isRegular else { return }
        let reason = status.isDirectory ? "is a directory" : "is not a regular file"
        throw .refused(.invalidRequest, "'\(name)' \(reason); only a regular file can be sent")
    }

    private static func reading<Result>(
        _ name: String, _ work: () throws(POSIXError) -> Result
    ) throws(RequestError) -> Result {
        do {
            return try work()
        } catch {
            let reason = String(cString: strerror(error.code.rawValue))
            throw .refused(.invalidRequest, "the file '\(name)' cannot be read: \(reason)", error)
        }
    }
}
